use std::borrow::Cow;

use domain::{Attachment, Message, ReasoningItem, ToolChoice};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Thinking;
use crate::errors::AttemptError;
use crate::params::ResolvedParams;
use crate::wire::chat_completions::{effort, switch_fields};
use crate::wire::functions::{ToolFields, mode_name, result_content};
use crate::wire::pictures::{DataUrl, pictures};
use crate::wire::{Fields, HttpRequestParts, WireRequest};

/// Requests the reasoning in a form that only the provider can read.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<InputItem<'a>>,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(flatten)]
    fields: Fields,
}

/// An item of the input. None has an id: the endpoint would look for it among stored items.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputItem<'a> {
    Message {
        role: &'static str,
        content: Content<'a>,
    },
    Reasoning {
        /// Required, but not used in addition to the encrypted content.
        summary: [(); 0],
        encrypted_content: &'a str,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        /// JSON in a string.
        arguments: String,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Cow<'a, str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

// Code of litellm 1.108.7, openai/responses/count_tokens/transformation.py, 2026-11-27.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    InputImage { image_url: DataUrl<'a>, detail: &'static str },
    InputText { text: &'a str },
}

impl<'a> Content<'a> {
    fn of_user(text: &'a str, attachments: &'a [Attachment]) -> Self {
        let picture = |picture| Part::InputImage { image_url: DataUrl(picture), detail: "auto" };
        let mut parts: Vec<_> = pictures(attachments).map(picture).collect();
        if parts.is_empty() {
            return Self::Text(text);
        }
        parts.extend((!text.trim().is_empty()).then_some(Part::InputText { text }));
        Self::Parts(parts)
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    function: ToolFields<'a>,
    /// The wire's default is true, which accepts few schemas.
    strict: bool,
}

pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, quirks, .. } = request;
    let parameters = quirks.parameters;
    let format = prompt.params.format.as_ref().map(|format| json!({ "format": flat_format(format) }));
    let fields = switch_fields(Fields::default(), &parameters)
        .with("include", quirks.encrypted_reasoning.then(|| json!([ENCRYPTED_REASONING])))
        .with("tool_choice", request.tool_choice().map(choice))
        .with("temperature", parameters.temperature)
        .with("top_p", parameters.top_p)
        .with("max_output_tokens", parameters.max_tokens)
        .with("reasoning", reasoning(&parameters, quirks.reasoning_summary))
        .with("text", format);
    let tool = |spec| Tool { kind: "function", function: ToolFields(spec, "parameters"), strict: false };
    let body = Body {
        model,
        instructions: &prompt.system,
        input: prompt.messages.iter().flat_map(|message| items(message, request)).collect(),
        stream: quirks.stream,
        store: false,
        tools: prompt.tools.iter().map(tool).collect(),
        fields,
    };
    HttpRequestParts::new("/responses", &body)
}

fn items<'a>(message: &'a Message, request: WireRequest<'a>) -> Vec<InputItem<'a>> {
    match message {
        Message::User { text, attachments } => {
            vec![InputItem::Message { role: "user", content: Content::of_user(text, attachments) }]
        }
        Message::Assistant { text, calls, provider_data, .. } => {
            let data = request.own_data(provider_data.as_deref()).filter(|_| request.quirks.echo_encrypted);
            let reasoning = data.map(|data| &*data.reasoning).unwrap_or_default();
            let mut text =
                (!text.is_empty()).then_some(InputItem::Message { role: "assistant", content: Content::Text(text) });
            let mut items = Vec::new();
            // The first reasoning precedes the text. Reasoning without a call after it is rejected.
            for (at, call) in calls.iter().enumerate() {
                items.extend(encrypted(reasoning, at).chain(text.take()));
                let arguments = call.arguments.to_string();
                items.push(InputItem::FunctionCall { call_id: &call.id, name: &call.name, arguments });
            }
            items.extend(text);
            items
        }
        Message::Tool(result) => {
            vec![InputItem::FunctionCallOutput { call_id: &result.call_id, output: result_content(result) }]
        }
    }
}

/// Returns the encrypted reasoning that follows after so many calls.
fn encrypted(reasoning: &[ReasoningItem], after: usize) -> impl Iterator<Item = InputItem<'_>> {
    reasoning.iter().filter_map(move |item| match item {
        ReasoningItem::EncryptedReasoning { data, calls } if *calls == after => {
            Some(InputItem::Reasoning { summary: [], encrypted_content: data })
        }
        _ => None,
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Tool(name) => json!({ "type": "function", "name": name }),
        other => mode_name(other).into(),
    }
}

fn reasoning(parameters: &ResolvedParams, has_summary: bool) -> Option<Fields> {
    let summary = Some("auto").filter(|_| has_summary && parameters.thinking != Some(Thinking::Off));
    let fields = Fields::default().with("effort", effort(parameters)).with("summary", summary);
    Some(fields).filter(|fields| !fields.is_empty())
}

/// Converts a `response_format`: a schema is in the format itself here.
fn flat_format(format: &Value) -> Value {
    let Some(Value::Object(schema)) = format.get("json_schema") else { return format.clone() };
    let mut flat = Map::clone(schema);
    flat.insert("type".to_owned(), "json_schema".into());
    flat.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Quirks;
    use crate::wire::tests::{body, conversation, quirks, quirks_with};
    use crate::{Options, Wire};

    #[test]
    fn conversation_is_encoded_for_the_wire() {
        let expected = json!({
            "model": "m",
            "instructions": "Be brief.",
            "input": [
                {"type": "message", "role": "user", "content": "hi"},
                {"type": "message", "role": "assistant", "content": "hello"},
                {"type": "message", "role": "user", "content": "time?"},
                {"type": "function_call", "call_id": "a", "name": "now", "arguments": "{\"zone\":\"CET\"}"},
                {"type": "function_call", "call_id": "b", "name": "now", "arguments": "\"broken\""},
                {"type": "function_call_output", "call_id": "a", "output": "noon"},
                {"type": "function_call_output", "call_id": "b", "output": "{\"error\":\"no such zone\"}"},
            ],
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "tools": [{
                "type": "function", "name": "now", "description": "Tells the time.", "parameters": {"type": "object"},
                "strict": false,
            }],
            "tool_choice": "required",
        });
        assert_eq!(body(encode, &conversation(ToolChoice::Required), quirks()), ("/responses".to_owned(), expected));
    }

    #[test]
    fn each_tool_choice_is_encoded() {
        let sent = |choice, quirks| body(encode, &conversation(choice), quirks).1.get("tool_choice").cloned();
        let named = || ToolChoice::Tool("now".to_owned());
        assert_eq!(sent(ToolChoice::Auto, quirks()), None);
        assert_eq!(sent(ToolChoice::None, quirks()), Some(json!("none")));
        assert_eq!(sent(named(), quirks()), Some(json!({"type": "function", "name": "now"})));
        assert_eq!(sent(named(), Quirks { forced_choice: false, ..quirks() }), None);
    }

    #[test]
    fn fixes_leave_out_what_was_rejected() {
        let all = quirks_with("gpt-5-codex", Wire::Responses, "https://api.openai.com/v1", Options::default());
        let quirks = Quirks { stream: false, encrypted_reasoning: false, reasoning_summary: false, ..all };
        let (_, body) = body(encode, &conversation(ToolChoice::Auto), quirks);
        assert_eq!(json!([body["stream"], body["include"], body["reasoning"]]), json!([false, null, null]));
    }

    #[test]
    fn schema_of_the_answer_is_flat() {
        let mut prompt = conversation(ToolChoice::Auto);
        let schema = json!({"type": "object"});
        let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": true}});
        prompt.params.format = Some(format);
        let sent = body(encode, &prompt, quirks()).1;
        let flat = json!({"type": "json_schema", "name": "n", "schema": schema, "strict": true});
        assert_eq!(sent["text"], json!({ "format": flat }));
        prompt.params.format = Some(json!({"type": "json_object"}));
        assert_eq!(body(encode, &prompt, quirks()).1["text"], json!({"format": {"type": "json_object"}}));
    }
}
