use domain::{Attachment, Failure, HistoryTurn, Message, StrictObject, ToolChoice, ToolSpec};
use serde_json::Value;

use super::messages::ParsedConversation;
use super::{messages, tools};
use crate::attachments::check_size;

/// Maximum of `max_tokens`: more than any model writes.
pub(super) const MAX_TOKENS: u32 = 100_000_000;

const MAX_STOP_CHARS: usize = 1000;

pub(super) const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The body of `POST /v1/chat/completions`, checked as far as the request alone allows.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "fields of the body that have nothing to do with each other")]
pub struct ChatRequest {
    /// The name of a model, or `agent:` and an id.
    pub model: String,
    /// The text of the `system` and `developer` messages; `None` without any.
    pub system: Option<String>,
    /// The turns before the last user message, oldest first.
    pub history: Vec<HistoryTurn>,
    /// The last user message; not blank unless it has files.
    pub text: String,
    /// The files of that message, by their addresses.
    pub attachments: Vec<Attachment>,
    /// The messages after it: calls of client tools, each with its result.
    pub trailing_messages: Vec<Message>,
    /// The client tools.
    pub tools: Vec<ToolSpec>,
    /// Whether the request has OpenAI's own web search, as a tool or by its options.
    pub web_search: bool,
    /// Whether and which tool must be called.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may make several calls in one reply.
    pub parallel_tool_calls: bool,
    /// Sampling parameters and the token limit.
    pub sampling: Sampling,
    /// The IANA name of the user's time zone; absent for the deployment's. An addition to OpenAI's fields.
    pub time_zone: Option<String>,
    /// Whether the text ends with link definitions of the cited pages; absent for the agent's choice. An addition too.
    pub citation_links: Option<bool>,
    /// Whether the answer comes in chunks.
    pub stream: bool,
    /// Whether the last chunk reports the usage.
    pub include_usage: bool,
}

/// Sampling parameters and the token limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// From 0 to 2.
    pub temperature: Option<f64>,
    /// From 0 to 1.
    pub top_p: Option<f64>,
    /// `max_completion_tokens`, else `max_tokens`.
    pub max_tokens: Option<u32>,
    /// At most four.
    pub stop: Vec<String>,
    /// Any whole number.
    pub seed: Option<i64>,
    /// From -2 to 2.
    pub presence_penalty: Option<f64>,
    /// From -2 to 2.
    pub frequency_penalty: Option<f64>,
    /// `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    pub effort: Option<String>,
    /// `response_format` if it requests JSON.
    pub format: Option<Value>,
}

impl ChatRequest {
    /// Parses the body; unknown fields are ignored.
    ///
    /// # Errors
    /// `invalid_request` with the path of the invalid or unsupported field.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        reject_unsupported(&mut fields)?;
        let model = fields.take_string("model")?.ok_or_else(|| fields.field_error("model", "given: a string"))?;
        let ParsedConversation { system, history, text, attachments, trailing_messages: since } =
            messages::parse_messages(&mut fields)?;
        check_size(body, history.iter().flat_map(|turn| &turn.messages), &attachments)?;
        let (tools, has_web_search) = tools::parse_tools(&mut fields)?;
        let web_search = fields.take_object("web_search_options")?.is_some() || has_web_search;
        let stream = fields.take_bool("stream")?.unwrap_or(false);
        Ok(Self {
            model,
            system,
            history,
            text,
            attachments,
            trailing_messages: since,
            tools,
            web_search,
            tool_choice: tools::parse_tool_choice(&mut fields)?,
            parallel_tool_calls: fields.take_bool("parallel_tool_calls")?.unwrap_or(true),
            sampling: parse_sampling(&mut fields)?,
            time_zone: fields.take_string("timeZone")?,
            citation_links: fields.take_bool("citationLinks")?,
            stream,
            include_usage: parse_include_usage(&mut fields)?,
        })
    }
}

impl ChatRequest {
    /// Sets the conversation.
    ///
    /// # Errors
    /// `invalid_request` without a last message of the user that has a text, or if the last message is an answer.
    pub fn with_conversation(self, messages: Vec<Message>) -> Result<Self, Failure> {
        let invalid = |accepted| StrictObject::default().field_error("input", accepted);
        if matches!(messages.last(), Some(Message::Assistant { .. })) {
            return Err(invalid("ended by the user or by results of tools"));
        }
        let ParsedConversation { history, text, attachments, trailing_messages, .. } =
            messages::split_conversation(messages).map_err(invalid)?;
        Ok(Self { history, text, attachments, trailing_messages, ..self })
    }
}

fn parse_sampling(fields: &mut StrictObject) -> Result<Sampling, Failure> {
    let max_tokens = fields.take_u32("max_tokens", 1..=MAX_TOKENS)?;
    Ok(Sampling {
        temperature: fields.take_f64("temperature", 0.0..=2.0)?,
        top_p: fields.take_f64("top_p", 0.0..=1.0)?,
        max_tokens: fields.take_u32("max_completion_tokens", 1..=MAX_TOKENS)?.or(max_tokens),
        stop: parse_stop(fields)?,
        seed: parse_seed(fields)?,
        presence_penalty: fields.take_f64("presence_penalty", -2.0..=2.0)?,
        frequency_penalty: fields.take_f64("frequency_penalty", -2.0..=2.0)?,
        effort: parse_effort(fields)?,
        format: parse_format(fields, "response_format", |format| format)?,
    })
}

fn parse_stop(fields: &mut StrictObject) -> Result<Vec<String>, Failure> {
    let accepted = "a string or an array of at most 4 strings, none of them empty";
    let texts = match fields.take_value("stop") {
        None => Vec::new(),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => {
            let texts: Option<Vec<_>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            texts.ok_or_else(|| fields.field_error("stop", accepted))?
        }
        Some(_) => return Err(fields.field_error("stop", accepted)),
    };
    let fits = |text: &String| !text.is_empty() && text.chars().nth(MAX_STOP_CHARS).is_none();
    if texts.len() <= 4 && texts.iter().all(fits) { Ok(texts) } else { Err(fields.field_error("stop", accepted)) }
}

fn parse_seed(fields: &mut StrictObject) -> Result<Option<i64>, Failure> {
    let Some(value) = fields.take_value("seed") else { return Ok(None) };
    value.as_i64().map(Some).ok_or_else(|| fields.field_error("seed", "a whole number"))
}

fn parse_effort(fields: &mut StrictObject) -> Result<Option<String>, Failure> {
    let effort = fields.take_string("reasoning_effort")?;
    match effort {
        Some(effort) if !EFFORTS.contains(&effort.as_str()) => {
            Err(fields.field_error("reasoning_effort", &format!("one of {}", EFFORTS.join(", "))))
        }
        effort => Ok(effort),
    }
}

/// Parses the field `name`, in the form of `response_format` once it is converted.
pub(super) fn parse_format(
    fields: &mut StrictObject,
    name: &str,
    convert: impl FnOnce(Value) -> Value,
) -> Result<Option<Value>, Failure> {
    let Some(format) = fields.take_object(name)? else { return Ok(None) };
    let format = convert(format.into());
    match format["type"].as_str() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(format)),
        Some("json_schema") if format["json_schema"]["schema"].is_object() => Ok(Some(format)),
        Some("json_schema") => Err(fields.field_error(name, "given with a `json_schema` that has a `schema`")),
        _ => Err(fields.field_error(name, "of type text, json_object or json_schema")),
    }
}

fn parse_include_usage(fields: &mut StrictObject) -> Result<bool, Failure> {
    match fields.take_nested("stream_options")? {
        Some(mut options) => Ok(options.take_bool("include_usage")?.unwrap_or(false)),
        None => Ok(false),
    }
}

/// A predicate: whether a value has no effect.
type NeutralCheck<'a> = &'a dyn Fn(&Value) -> bool;

/// Rejects unsupported fields. Ignoring them would return an answer other than the one requested.
pub(super) fn reject_unsupported(fields: &mut StrictObject) -> Result<(), Failure> {
    let is_absent = |value: &Value| match value {
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    };
    let unsupported: [(&str, &str, NeutralCheck<'_>); 8] = [
        ("n", "1: there is one answer to a request", &|value| value.as_u64() == Some(1)),
        ("logprobs", "false: probabilities are not known here", &is_absent),
        ("top_logprobs", "0: probabilities are not known here", &is_absent),
        ("logit_bias", "empty: tokens differ from model to model", &is_absent),
        ("functions", "left out: use `tools`", &|_| false),
        ("function_call", "left out: use `tool_choice`", &|_| false),
        ("modalities", "[\"text\"]: answers are text only", &|value| *value == Value::from(vec!["text"])),
        ("audio", "left out: answers are text only", &|_| false),
    ];
    for (name, accepted, is_neutral) in unsupported {
        if fields.take_value(name).is_some_and(|value| !is_neutral(&value)) {
            return Err(fields.field_error(name, accepted));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::ErrorCode;
    use serde_json::json;

    use super::*;

    fn parse(more: &Value) -> Result<ChatRequest, Failure> {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ChatRequest::parse(body.to_string().as_bytes())
    }

    #[test]
    fn only_model_and_message_are_required() {
        let expected = ChatRequest {
            model: "m".into(),
            system: None,
            history: Vec::new(),
            text: "hi".into(),
            attachments: Vec::new(),
            trailing_messages: Vec::new(),
            tools: Vec::new(),
            web_search: false,
            tool_choice: None,
            parallel_tool_calls: true,
            sampling: Sampling::default(),
            time_zone: None,
            citation_links: None,
            stream: false,
            include_usage: false,
        };
        let ignored = json!({"user": "u", "store": true, "metadata": {}, "n": 1, "logprobs": false, "x": [1]});
        assert_eq!(parse(&ignored), Ok(expected));
    }

    #[test]
    fn only_files_may_exceed_the_size_of_bodies() {
        let image =
            |bytes| json!({"type": "image_url", "image_url": format!("data:image/png;base64,{}", "A".repeat(bytes))});
        let text = |bytes| json!({"type": "text", "text": "a".repeat(bytes)});
        let with = |parts| parse(&json!({"messages": [{"role": "user", "content": parts}]}));
        let max = crate::MAX_BODY_BYTES;
        assert!(with(json!([image(2 * max), text(max / 2)])).is_ok());
        for parts in [json!([text(max)]), json!([image(2 * max), text(max)])] {
            assert_eq!(with(parts).unwrap_err().code, ErrorCode::TooLarge);
        }
    }

    #[test]
    fn max_completion_tokens_overrides_max_tokens() {
        let body = json!({
            "temperature": 0, "top_p": 0.5, "max_tokens": 9, "max_completion_tokens": 8, "stop": "\n", "seed": -1,
            "presence_penalty": 1, "frequency_penalty": -1, "reasoning_effort": "none", "stream": true,
            "stream_options": {"include_usage": true}, "response_format": {"type": "json_object"},
            "parallel_tool_calls": false,
        });
        let request = parse(&body).unwrap();
        let expected = Sampling {
            temperature: Some(0.0),
            top_p: Some(0.5),
            max_tokens: Some(8),
            stop: vec!["\n".into()],
            seed: Some(-1),
            presence_penalty: Some(1.0),
            frequency_penalty: Some(-1.0),
            effort: Some("none".into()),
            format: Some(json!({"type": "json_object"})),
        };
        assert_eq!(request.sampling, expected);
        assert_eq!((request.stream, request.include_usage, request.parallel_tool_calls), (true, true, false));
    }

    #[test]
    fn invalid_or_unsupported_field_is_named_by_path() {
        for (body, param) in [
            (json!({"model": null}), "model"),
            (json!({"n": 2}), "n"),
            (json!({"logprobs": true}), "logprobs"),
            (json!({"top_logprobs": 3}), "top_logprobs"),
            (json!({"logit_bias": {"50256": -100}}), "logit_bias"),
            (json!({"functions": []}), "functions"),
            (json!({"modalities": ["text", "audio"]}), "modalities"),
            (json!({"audio": {}}), "audio"),
            (json!({"temperature": 2.1}), "temperature"),
            (json!({"max_tokens": 0}), "max_tokens"),
            (json!({"stop": ["a", "b", "c", "d", "e"]}), "stop"),
            (json!({"seed": 0.5}), "seed"),
            (json!({"reasoning_effort": "extreme"}), "reasoning_effort"),
            (json!({"response_format": {"type": "xml"}}), "response_format"),
            (json!({"citationLinks": "yes"}), "citationLinks"),
            (json!({"web_search_options": true}), "web_search_options"),
            (json!({"stream_options": {"include_usage": 1}}), "stream_options.include_usage"),
        ] {
            let failure = parse(&body).unwrap_err();
            assert_eq!((failure.code, failure.param.as_deref()), (ErrorCode::InvalidRequest, Some(param)), "{body}");
        }
    }
}
