use domain::{Failure, StrictObject, ToolChoice};
use serde_json::{Value, json};

use super::input::parse_input;
use super::resource::request_details;
use super::{InputItem, ResponseId};
use crate::attachments::check_size;
use crate::openai::request::{ChatRequest, EFFORTS, MAX_TOKENS, Sampling, parse_format};
use crate::openai::tools;

/// Fields without an effect here.
const IGNORED: [&str; 9] = [
    "client_metadata",
    "context_management",
    "include",
    "prompt_cache_options",
    "prompt_cache_retention",
    "service_tier",
    "stream_options",
    "top_logprobs",
    "moderation",
];

/// The body of `POST /v1/responses`, checked as far as the request alone allows.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponsesRequest {
    /// Everything but the conversation, which `input` has.
    pub chat: ChatRequest,
    /// The items of the input.
    pub input: Vec<InputItem>,
    /// The response that this one follows.
    pub previous: Option<ResponseId>,
    /// Whether the response is stored in a conversation.
    pub is_stored: bool,
    /// Whether the turn runs without a client that waits.
    pub in_background: bool,
    /// The fields of the request as the response repeats them.
    pub details: Value,
}

impl ResponsesRequest {
    /// Parses the body.
    ///
    /// # Errors
    /// `invalid_request` with the path of the invalid, unsupported or unknown field; `previous_response_not_found`.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let mut fields = StrictObject::parse(body)?;
        let (input, system) = parse_input(&mut fields)?;
        check_size(body, input.iter().filter_map(InputItem::message), &[])?;
        let given = fields.remaining();
        let model = fields.take_string("model")?.ok_or_else(|| fields.field_error("model", "given: a string"))?;
        let (tools, web_search) = tools::parse_response_tools(&mut fields)?;
        let tool_choice = parse_tool_choice(&mut fields)?;
        let previous = parse_previous(&mut fields)?;
        let is_stored = fields.take_bool("store")?.unwrap_or(true);
        let in_background = fields.take_bool("background")?.unwrap_or(false);
        if in_background && !is_stored {
            return Err(fields.field_error("store", "true with `background`"));
        }
        let system: Vec<String> = fields.take_string("instructions")?.into_iter().chain(system).collect();
        let chat = ChatRequest {
            model,
            system: Some(system.join("\n\n")).filter(|text| !text.trim().is_empty()),
            history: Vec::new(),
            text: String::new(),
            attachments: Vec::new(),
            trailing_messages: Vec::new(),
            tools,
            web_search,
            tool_choice,
            parallel_tool_calls: fields.take_bool("parallel_tool_calls")?.unwrap_or(true),
            sampling: parse_sampling(&mut fields)?,
            time_zone: fields.take_string("timeZone")?,
            citation_links: fields.take_bool("citationLinks")?,
            stream: fields.take_bool("stream")?.unwrap_or(false),
            include_usage: true,
        };
        check_repeated(&mut fields)?;
        reject_others(fields)?;
        Ok(Self { chat, input, previous, is_stored, in_background, details: request_details(&given) })
    }
}

fn parse_previous(fields: &mut StrictObject) -> Result<Option<ResponseId>, Failure> {
    let Some(id) = fields.take_string("previous_response_id")? else { return Ok(None) };
    ResponseId::parse(&id).map(Some).ok_or_else(|| domain::ErrorCode::PreviousResponseNotFound.into())
}

fn parse_sampling(fields: &mut StrictObject) -> Result<Sampling, Failure> {
    let mut text = fields.take_nested("text")?;
    let effort = match fields.take_nested("reasoning")? {
        Some(mut reasoning) => {
            let effort = reasoning.take_string("effort")?;
            if effort.as_ref().is_some_and(|effort| !EFFORTS.contains(&effort.as_str())) {
                return Err(reasoning.field_error("effort", &format!("one of {}", EFFORTS.join(", "))));
            }
            effort
        }
        None => None,
    };
    Ok(Sampling {
        temperature: fields.take_f64("temperature", 0.0..=2.0)?,
        top_p: fields.take_f64("top_p", 0.0..=1.0)?,
        max_tokens: fields.take_u32("max_output_tokens", 1..=MAX_TOKENS)?,
        effort,
        format: text.as_mut().map(|text| parse_format(text, "format", nested_schema)).transpose()?.flatten(),
        ..Sampling::default()
    })
}

/// The format of a response as `response_format` has it: the schema in an object of its own.
fn nested_schema(format: Value) -> Value {
    if format["type"] != "json_schema" {
        return format;
    }
    let mut named = format;
    if let Some(fields) = named.as_object_mut() {
        fields.remove("type");
    }
    json!({ "type": "json_schema", "json_schema": named })
}

/// A mode, a function by its name, OpenAI's web search, or a mode for several allowed tools.
fn parse_tool_choice(fields: &mut StrictObject) -> Result<Option<ToolChoice>, Failure> {
    let Some(choice) = fields.take_value("tool_choice") else { return Ok(None) };
    let accepted = "auto, none, required or {\"type\": \"function\", \"name\": \"…\"}";
    let chosen = match choice["type"].as_str() {
        Some("allowed_tools") => tools::tool_choice_mode(&choice["mode"]),
        Some("function") => choice["name"].as_str().map(|name| ToolChoice::Tool(name.to_owned())),
        Some(kind) => tools::web_search_choice(kind),
        None => tools::tool_choice_mode(&choice),
    };
    chosen.map(Some).ok_or_else(|| fields.field_error("tool_choice", accepted))
}

/// Checks the fields without an effect that the response repeats.
fn check_repeated(fields: &mut StrictObject) -> Result<(), Failure> {
    for name in ["prompt_cache_key", "safety_identifier", "user"] {
        fields.take_string(name)?;
    }
    fields.take_nested("metadata")?;
    fields.take_u32("max_tool_calls", 0..=u32::MAX)?;
    match fields.take_string("truncation")?.as_deref() {
        None | Some("auto" | "disabled") => Ok(()),
        Some(_) => Err(fields.field_error("truncation", "auto or disabled")),
    }
}

fn reject_others(mut fields: StrictObject) -> Result<(), Failure> {
    for name in ["conversation", "prompt"] {
        if fields.take_value(name).is_some() {
            return Err(fields.field_error(name, "left out: use `previous_response_id` or `instructions`"));
        }
    }
    for name in IGNORED {
        fields.take_value(name);
    }
    fields.reject_unknown("the fields of OpenAI's Responses, `timeZone`, `citationLinks`")
}
