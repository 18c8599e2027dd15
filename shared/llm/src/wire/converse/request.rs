use std::collections::VecDeque;

use domain::{Message, ReasoningItem, ToolChoice, ToolMessage};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::param_fields::param_fields;
use crate::errors::AttemptError;
use crate::wire::anthropic::own_thinking;
use crate::wire::call_numbers::CallNumbers;
use crate::wire::functions::{object_or_empty, result_content};
use crate::wire::pictures::{Picture, pictures};
use crate::wire::sides::{Side, Turn, to_turns};
use crate::wire::{HttpRequestParts, WireRequest};

const MAX_NAME_CHARS: usize = 64;

/// What a path contains unchanged. Ids of models have colons and slashes, which must be encoded.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Replaces blank text where the wire requires some.
const NO_TEXT: &str = "…";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<Block<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(flatten)]
    params: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_metadata: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Tool<'a> {
    ToolSpec {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        input_schema: Schema<'a>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Schema<'a> {
    Json(&'a Value),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Block<'a> {
    Text(&'a str),
    Image { format: &'a str, source: ImageSource<'a> },
    ReasoningContent(Reasoning<'a>),
    ToolUse { tool_use_id: String, name: String, input: &'a Value },
    ToolResult { tool_use_id: String, content: [Value; 1] },
    CachePoint { r#type: &'static str },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Reasoning<'a> {
    ReasoningText { text: &'a str, signature: &'a str },
    RedactedContent(&'a str),
}

// Service model of botocore 1.44.8, 2026-11-26: formats are png, jpeg, gif and webp, at most 3.75 MB each.
#[derive(Serialize)]
struct ImageSource<'a> {
    bytes: &'a str,
}

const CACHE_POINT: Block<'static> = Block::CachePoint { r#type: "default" };

pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    let WireRequest { model, prompt, quirks, .. } = request;
    let (params, thinks) = param_fields(request);
    let system = Some(Block::Text(&prompt.system)).filter(|_| !prompt.system.trim().is_empty());
    let system: Vec<_> = system.into_iter().collect();
    let point = Some(CACHE_POINT).filter(|_| quirks.cache_control && !system.is_empty());
    let body = Body {
        system: system.into_iter().chain(point).collect(),
        messages: turns(request, thinks),
        tool_config: tool_config(request),
        params,
        request_metadata: prompt.owner.as_ref().map(|owner| json!({ "owner": hash(owner.as_str()) })),
    };
    let operation = if quirks.stream { "converse-stream" } else { "converse" };
    HttpRequestParts::new(format!("/model/{}/{operation}", utf8_percent_encode(model, UNRESERVED)), &body)
}

/// Hashes the owner, for the allocation of costs in the invocation log of Bedrock.
fn hash(owner: &str) -> String {
    hex::encode(Sha256::digest(owner.as_bytes()))
}

/// Returns the tools, which are cached with the system prompt. The wire has no choice `none`: the caller of this crate
/// handles calls that it did not want.
fn tool_config(request: WireRequest<'_>) -> Option<ToolConfig<'_>> {
    let specs = &request.prompt.tools;
    let tool_choice = match request.tool_choice() {
        Some(ToolChoice::Required) => Some(json!({ "any": {} })),
        Some(ToolChoice::Tool(name)) => Some(json!({ "tool": { "name": name } })),
        Some(ToolChoice::Auto | ToolChoice::None) | None => None,
    };
    let tools = specs.iter().map(|spec| Tool::ToolSpec {
        name: &spec.name,
        description: &spec.description,
        input_schema: Schema::Json(&spec.parameters),
    });
    (!specs.is_empty()).then(|| ToolConfig { tools: tools.collect(), tool_choice })
}

/// Returns the messages in turns of alternating sides, the first one of the user; the end is marked for the cache.
fn turns(request: WireRequest<'_>, thinks: bool) -> Vec<Turn<Block<'_>>> {
    let mut blocks = MessageBlocks::new(request);
    for message in &request.prompt.messages {
        blocks.add(message, thinks);
    }
    blocks.add_missing_results();
    let MessageBlocks { mut blocks, .. } = blocks;
    if blocks.first().is_none_or(|(side, _)| *side == Side::Model) {
        blocks.insert(0, (Side::User, Block::Text(NO_TEXT)));
    }
    if request.quirks.cache_control
        && let Some((side, _)) = blocks.last()
    {
        blocks.push((*side, CACHE_POINT));
    }
    to_turns(blocks)
}

/// The blocks of the messages so far. Each call is followed by its result, in the turn after it.
struct MessageBlocks<'a> {
    request: WireRequest<'a>,
    ids: CallNumbers<'a>,
    blocks: Vec<(Side, Block<'a>)>,
    /// The calls without a result yet: the original id and the one that is sent.
    pending: VecDeque<(&'a str, String)>,
}

impl<'a> MessageBlocks<'a> {
    fn new(request: WireRequest<'a>) -> Self {
        let ids = CallNumbers::new(request.quirks.short_ids);
        Self { request, ids, blocks: Vec::new(), pending: VecDeque::new() }
    }

    fn add(&mut self, message: &'a Message, thinks: bool) {
        match message {
            Message::User { text, attachments } => {
                self.add_missing_results();
                self.blocks.extend(pictures(attachments).map(|picture| (Side::User, image_block(picture))));
                self.add_text(Side::User, text);
            }
            Message::Assistant { text, calls, .. } => {
                self.add_missing_results();
                let thinking = own_thinking(self.request, message).filter(|_| thinks);
                let reasoning = thinking.into_iter().flat_map(|data| &data.reasoning).filter_map(reasoning_block);
                self.blocks.extend(reasoning.map(|block| (Side::Model, block)));
                self.add_text(Side::Model, text);
                // The wire refuses calls in requests without tools.
                for call in calls.iter().filter(|_| !self.request.prompt.tools.is_empty()) {
                    let (tool_use_id, name) = (self.ids.assign(&call.id), tool_name(&call.name));
                    self.pending.push_back((&call.id, tool_use_id.clone()));
                    let input = object_or_empty(&call.arguments);
                    self.blocks.push((Side::Model, Block::ToolUse { tool_use_id, name, input }));
                }
            }
            Message::Tool(result) => self.add_result(result),
        }
    }

    fn add_text(&mut self, side: Side, text: &'a str) {
        if !text.trim().is_empty() {
            self.blocks.push((side, Block::Text(text)));
        }
    }

    /// Adds a result to its call; one without a call is text.
    fn add_result(&mut self, result: &'a ToolMessage) {
        let call = self.pending.iter().position(|(id, _)| *id == result.call_id);
        match call.and_then(|at| self.pending.remove(at)) {
            Some((_, id)) => self.push_result(id, &result_content(result)),
            None => self.add_text(Side::User, &result.content),
        }
    }

    /// Adds results to the calls that have none: a turn may have been interrupted.
    fn add_missing_results(&mut self) {
        while let Some((_, id)) = self.pending.pop_front() {
            self.push_result(id, "");
        }
    }

    fn push_result(&mut self, tool_use_id: String, content: &str) {
        let text = if content.trim().is_empty() { NO_TEXT } else { content };
        self.blocks.push((Side::User, Block::ToolResult { tool_use_id, content: [json!({ "text": text })] }));
    }
}

fn image_block(Picture { media_type, base64 }: Picture<'_>) -> Block<'_> {
    let format = media_type.strip_prefix("image/").unwrap_or(media_type);
    Block::Image { format, source: ImageSource { bytes: base64 } }
}

fn reasoning_block(item: &ReasoningItem) -> Option<Block<'_>> {
    let reasoning = match item {
        ReasoningItem::Thinking { text, signature } => Reasoning::ReasoningText { text, signature },
        ReasoningItem::RedactedThinking { data } => Reasoning::RedactedContent(data),
        _ => return None,
    };
    Some(Block::ReasoningContent(reasoning))
}

/// Returns the name of a past call as the wire accepts it: the model may have made it up.
fn tool_name(name: &str) -> String {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let name: String =
        name.chars().take(MAX_NAME_CHARS).map(|letter| if is_allowed(letter) { letter } else { '_' }).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}
