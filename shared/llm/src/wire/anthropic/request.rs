use domain::{Message, ProviderData, ReasoningItem, ToolChoice, ToolSpec};
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};

use super::param_fields::{ReplyContext, param_fields};
use crate::Cloud;
use crate::errors::AttemptError;
use crate::wire::call_numbers::CallNumbers;
use crate::wire::functions::{CacheControl, ToolFields, mode_name, object_or_empty};
use crate::wire::pictures::{Picture, pictures};
use crate::wire::sides::{Side, Turn, to_turns};
use crate::wire::{Fields, HttpRequestParts, WireRequest};

// https://platform.claude.com/docs/en/api/versioning, 2026-11-26.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));

// https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude, 2026-11-26.
const VERTEX_VERSION: &str = "vertex-2023-10-16";

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anthropic_version: Option<&'static str>,
    #[serde(flatten)]
    params: Fields,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<System<'a>>,
    messages: Vec<Turn<Marked<Block<'a>>>>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Marked<ToolFields<'a>>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum System<'a> {
    Text(&'a str),
    Cached([Marked<Block<'a>>; 1]),
}

/// A part of the prompt that may end a cached beginning.
#[derive(Serialize)]
struct Marked<T> {
    #[serde(flatten)]
    part: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

impl<T> Marked<T> {
    fn new(part: T, cached: bool) -> Self {
        Self { part, cache_control: cached.then_some(CacheControl::Ephemeral) }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    Text {
        text: &'a str,
    },
    Image {
        source: ImageSource<'a>,
    },
    ToolUse {
        id: String,
        name: &'a str,
        input: &'a Value,
    },
    ToolResult {
        tool_use_id: String,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

// Code of litellm 1.108.7, prompt_templates/factory.py, 2026-11-27.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ImageSource<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}

pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, quirks, .. } = request;
    let mut ids = CallNumbers::default();
    let (params, thinks) = param_fields(&quirks.parameters, reply_context(request));
    let data = |message| own_thinking(request, message).filter(|_| thinks);
    let blocks: Vec<_> = prompt.messages.iter().flat_map(|message| blocks(message, data(message), &mut ids)).collect();
    // Vertex AI has the model in the path and the version in the body.
    let is_vertex = quirks.cloud == Some(Cloud::Vertex);
    let body = Body {
        model: (!is_vertex).then_some(model),
        anthropic_version: is_vertex.then_some(VERTEX_VERSION),
        params: params
            .with("tool_choice", request.tool_choice().map(choice))
            .with("stop_sequences", request.stop_sequences()),
        system: system(&prompt.system, quirks.cache_control),
        messages: turns(blocks, quirks.cache_control),
        stream: true,
        tools: tools(&prompt.tools, quirks.cache_control),
    };
    if is_vertex {
        return HttpRequestParts::new(format!("/models/{model}:streamRawPredict"), &body);
    }
    let mut encoded = HttpRequestParts::new("/v1/messages", &body)?;
    encoded.headers.push(VERSION);
    Ok(encoded)
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
        ToolChoice::Required => json!({ "type": "any" }),
        other => json!({ "type": mode_name(other) }),
    }
}

pub(in crate::wire) fn reply_context(request: WireRequest<'_>) -> ReplyContext {
    let messages = &request.prompt.messages;
    match (request.tool_choice(), messages.last()) {
        (Some(ToolChoice::Required | ToolChoice::Tool(_)), _) => ReplyContext::ForcedCall,
        (_, Some(Message::Tool(_))) => {
            let called = messages.iter().rev().find(|message| matches!(message, Message::Assistant { .. }));
            let has_thinking = called.is_some_and(|called| own_thinking(request, called).is_some());
            if has_thinking { ReplyContext::SignedToolResult } else { ReplyContext::ToolResult }
        }
        _ => ReplyContext::UserMessage,
    }
}

/// Returns the data of a message if it has thinking blocks of this model.
pub(in crate::wire) fn own_thinking<'a>(request: WireRequest<'a>, message: &'a Message) -> Option<&'a ProviderData> {
    let Message::Assistant { provider_data, .. } = message else { return None };
    let data = request.own_data(provider_data.as_deref())?;
    data.reasoning.iter().any(|item| thinking_block(item).is_some()).then_some(data)
}

fn thinking_block(item: &ReasoningItem) -> Option<Block<'_>> {
    match item {
        ReasoningItem::Thinking { text, signature } => Some(Block::Thinking { thinking: text, signature }),
        ReasoningItem::RedactedThinking { data } => Some(Block::RedactedThinking { data }),
        _ => None,
    }
}

fn system(text: &str, cached: bool) -> Option<System<'_>> {
    match text {
        "" => None,
        text if cached => Some(System::Cached([Marked::new(Block::Text { text }, true)])),
        text => Some(System::Text(text)),
    }
}

/// Groups the blocks of each side. The end is marked for the cache, because the next prompt of the turn begins with all of
/// them.
fn turns(blocks: Vec<(Side, Block<'_>)>, cached: bool) -> Vec<Turn<Marked<Block<'_>>>> {
    let last = blocks.len();
    let mark = |(position, (side, block)): (usize, _)| (side, Marked::new(block, cached && position == last));
    to_turns((1..).zip(blocks).map(mark))
}

fn tools(specs: &[ToolSpec], cached: bool) -> Vec<Marked<ToolFields<'_>>> {
    let last = specs.len();
    (1..)
        .zip(specs)
        .map(|(position, spec)| Marked::new(ToolFields(spec, "input_schema"), cached && position == last))
        .collect()
}

fn blocks<'a>(
    message: &'a Message,
    thinking: Option<&'a ProviderData>,
    ids: &mut CallNumbers<'a>,
) -> Vec<(Side, Block<'a>)> {
    let text_block = |text: &'a String| Some(Block::Text { text }).filter(|_| !text.trim().is_empty());
    match message {
        Message::User { text, attachments } => {
            let image = |Picture { media_type, base64: data }| Block::Image {
                source: ImageSource::Base64 { media_type, data },
            };
            pictures(attachments).map(image).chain(text_block(text)).map(|block| (Side::User, block)).collect()
        }
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| Block::ToolUse {
                id: ids.assign(&call.id),
                name: &call.name,
                input: object_or_empty(&call.arguments),
            });
            let thinking = thinking.into_iter().flat_map(|data| &data.reasoning).filter_map(thinking_block);
            thinking.chain(text_block(text)).chain(calls).map(|block| (Side::Model, block)).collect()
        }
        Message::Tool(result) => {
            let block = Block::ToolResult {
                tool_use_id: ids.of_result(&result.call_id),
                content: &result.content,
                is_error: !result.ok,
            };
            vec![(Side::User, block)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Quirks;
    use crate::wire::tests::{body, conversation, quirks, quirks_with};
    use crate::{Options, Thinking, Wire};

    #[test]
    fn conversation_is_encoded_for_the_wire() {
        let expected = json!({
            "model": "m",
            "max_tokens": 8192,
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "hello"}]},
                {"role": "user", "content": [{"type": "text", "text": "time?"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "call_1", "name": "now", "input": {"zone": "CET"}},
                    {"type": "tool_use", "id": "call_2", "name": "now", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "noon"},
                    {"type": "tool_result", "tool_use_id": "call_2", "content": "no such zone", "is_error": true},
                ]},
            ],
            "stream": true,
            "tools": [{"name": "now", "description": "Tells the time.", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "any"},
        });
        assert_eq!(body(encode, &conversation(ToolChoice::Required), quirks()), ("/v1/messages".to_owned(), expected));
    }

    #[test]
    fn vertex_has_model_in_path() {
        let vertex = Quirks { cloud: Some(Cloud::Vertex), ..quirks() };
        let (path, body) = body(encode, &conversation(ToolChoice::Auto), vertex);
        assert_eq!(path, "/models/m:streamRawPredict");
        assert_eq!((body.get("model"), &body["anthropic_version"]), (None, &json!("vertex-2023-10-16")));
    }

    #[test]
    fn repeated_call_ids_are_renumbered() {
        let mut prompt = conversation(ToolChoice::Auto);
        let again = prompt.messages[4..].to_vec();
        prompt.messages.extend(again);
        let (_, body) = body(encode, &prompt, quirks());
        let later = [&body["messages"][5]["content"][0]["id"], &body["messages"][6]["content"][0]["tool_use_id"]];
        assert_eq!(later, ["call_3", "call_3"]);
    }

    #[test]
    fn stable_parts_are_marked_for_the_cache() {
        let quirks = quirks_with("claude-sonnet-4-5", Wire::Anthropic, "http://localhost", Options::default());
        let (_, body) = body(encode, &conversation(ToolChoice::Auto), quirks);
        let mark = json!({"type": "ephemeral"});
        assert_eq!(body["system"], json!([{"type": "text", "text": "Be brief.", "cache_control": mark}]));
        assert_eq!(body["tools"][0]["cache_control"], mark);
        let results = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
        assert_eq!((results[0].get("cache_control"), &results[1]["cache_control"]), (None, &mark));
        assert_eq!(body.to_string().matches("cache_control").count(), 3);
    }

    #[test]
    fn each_tool_choice_is_encoded() {
        let sent = |choice, quirks| body(encode, &conversation(choice), quirks).1.get("tool_choice").cloned();
        let named = || ToolChoice::Tool("now".to_owned());
        assert_eq!(sent(ToolChoice::Auto, quirks()), None);
        assert_eq!(sent(ToolChoice::None, quirks()), Some(json!({"type": "none"})));
        assert_eq!(sent(named(), quirks()), Some(json!({"type": "tool", "name": "now"})));
        assert_eq!(sent(named(), Quirks { forced_choice: false, ..quirks() }), None);
    }

    #[test]
    fn thinking_is_omitted_where_the_wire_forbids_it() {
        let sent = |model, messages: usize, choice| {
            let options = Options { thinking: Some(Thinking::On), ..Options::default() };
            let mut prompt = conversation(choice);
            prompt.messages.truncate(messages);
            let quirks = quirks_with(model, Wire::Anthropic, "http://localhost", options);
            let (_, body) = body(encode, &prompt, quirks);
            (body["thinking"]["type"].as_str().map(str::to_owned), body["max_tokens"].clone())
        };
        let (older, newer) = ("claude-sonnet-4-5", "claude-opus-4-6");
        let (enabled, adaptive) = (Some("enabled".to_owned()), Some("adaptive".to_owned()));
        assert_eq!(sent(older, 4, ToolChoice::Auto), (enabled, json!(12_288)));
        assert_eq!(sent(older, 7, ToolChoice::Auto), (None, json!(8192)));
        assert_eq!(sent(older, 4, ToolChoice::Required), (None, json!(8192)));
        assert_eq!(sent(newer, 7, ToolChoice::Auto), (adaptive, json!(24_576)));
        assert_eq!(sent(newer, 4, ToolChoice::Required), (None, json!(8192)));
    }
}
