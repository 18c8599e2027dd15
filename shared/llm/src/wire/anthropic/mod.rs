//! Anthropic Messages: `POST {base}/v1/messages`; the response is a stream of typed server-sent events.

mod param_fields;
mod request;

use std::borrow::Cow;

use domain::ReasoningItem;
use http::HeaderName;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::errors::AttemptError;
use crate::lax::{ContentParts, Lax, nullable};
use crate::wire::tool_calls::{CallAssembler, CallFragment};
use crate::wire::{Decode, DeltaQueue, Phase, Protocol, parse};
use crate::{Finish, ModelError, TokenUsage};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (HeaderName::from_static("x-api-key"), ""),
    default_base: Some("https://api.anthropic.com"),
};

/// Any event; the type determines which fields are present.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: u64,
    message: Option<Message<'a>>,
    content_block: Block<'a>,
    delta: Block<'a>,
    usage: Lax<Usage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
    stop_reason: ContentParts<'a>,
    usage: Lax<Usage>,
}

/// The start of a block, a delta of a block, or the end of the message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: ContentParts<'a>,
    id: ContentParts<'a>,
    name: ContentParts<'a>,
    input: Option<&'a RawValue>,
    partial_json: ContentParts<'a>,
    text: ContentParts<'a>,
    thinking: ContentParts<'a>,
    /// The signature of the thinking.
    signature: ContentParts<'a>,
    /// The encrypted thinking of a block `redacted_thinking`.
    data: ContentParts<'a>,
    stop_reason: ContentParts<'a>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
struct Usage {
    #[serde(deserialize_with = "nullable")]
    input_tokens: u64,
    #[serde(deserialize_with = "nullable")]
    cache_creation_input_tokens: u64,
    #[serde(deserialize_with = "nullable")]
    cache_read_input_tokens: u64,
    #[serde(deserialize_with = "nullable")]
    output_tokens: u64,
}

impl Block<'_> {
    /// Whether the provider runs the tool itself and sends its result.
    fn is_provider_call(&self) -> bool {
        matches!(&*self.kind.text, "server_tool_use" | "mcp_tool_use")
    }
}

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    calls: CallAssembler,
    usage: TokenUsage,
    finish: Option<Finish>,
    /// The index of the latest block, if it is a call of a tool that the provider runs itself.
    provider_call: Option<u64>,
    /// The text and the signature of the current thinking block.
    thinking: (String, String),
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        let event: Event<'_> = parse(data)?;
        match &*event.kind {
            "message_start" => self.update_usage(event.message.unwrap_or_default().usage),
            "content_block_start" => self.block(event.index, &event.content_block, out)?,
            "content_block_delta" => self.block(event.index, &event.delta, out)?,
            "content_block_stop" => self.end_block(out),
            "message_delta" => {
                self.update_usage(event.usage);
                let reason = &event.delta.stop_reason.text;
                self.finish = if reason.is_empty() { self.finish } else { Some(finish(reason)) };
            }
            "error" => return Err(self.error(data)),
            "message_stop" => return Ok(Phase::Done),
            _ => {}
        }
        Ok(Phase::of(self.finish))
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let message: Message<'_> = parse(text)?;
        if message.content.is_empty() && message.stop_reason.text.is_empty() {
            return Err(self.error(text));
        }
        for (index, block) in (0..).zip(&message.content) {
            self.block(index, block, out)?;
            self.end_block(out);
        }
        self.update_usage(message.usage);
        self.finish = Some(finish(&message.stop_reason.text));
        Ok(())
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let finish = self.finish.ok_or_else(|| AttemptError::transient(ModelError::Disconnected))?;
        self.calls.emit(Some(self.usage), finish, out);
        Ok(())
    }
}

impl Decoder {
    fn block(&mut self, index: u64, block: &Block<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if block.is_provider_call() {
            self.provider_call = Some(index);
        }
        if self.provider_call == Some(index) {
            return Ok(());
        }
        self.thinking(block, out)?;
        out.push_text(&block.text.text)?;
        // In a stream a call starts with an empty input, and deltas add to it; a complete message contains the whole input.
        let input = block.input.map(RawValue::get).filter(|input| *input != "{}").unwrap_or_default();
        let arguments = if input.is_empty() { &*block.partial_json.text } else { input };
        let (id, name) = (&*block.id.text, &*block.name.text);
        if name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        self.calls.add(&CallFragment { index: Some(index), id, name, arguments, signature: "" }, out)
    }

    fn thinking(&mut self, block: &Block<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.push_thinking(&block.thinking.text)?;
        self.thinking.0.push_str(&block.thinking.text);
        self.thinking.1.push_str(&block.signature.text);
        if block.kind.text == "redacted_thinking" {
            out.push_reasoning(ReasoningItem::RedactedThinking { data: block.data.text.to_string() });
        }
        out.count_bytes(block.signature.text.len() + block.data.text.len())
    }

    /// Emits the thinking block that has ended, if it has a signature.
    fn end_block(&mut self, out: &mut DeltaQueue) {
        let (text, signature) = std::mem::take(&mut self.thinking);
        if !signature.is_empty() {
            out.push_reasoning(ReasoningItem::Thinking { text, signature });
        }
    }

    /// Updates the token usage with later counts, but never with zero. The wire's `input_tokens` excludes tokens that were
    /// read from the cache or written to it.
    fn update_usage(&mut self, usage: Lax<Usage>) {
        let usage = usage.or_default();
        let input = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
        self.usage.input = self.usage.input.max(input);
        self.usage.cached = self.usage.cached.max(usage.cache_read_input_tokens);
        self.usage.cache_writes = self.usage.cache_writes.max(usage.cache_creation_input_tokens);
        self.usage.output = self.usage.output.max(usage.output_tokens);
    }
}

// Seen in `fixtures/anthropic`: `refusal.sse`, `cut_in_a_call.sse` and others, 2026-11-22.
fn finish(reason: &str) -> Finish {
    match reason {
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::ContentFilter,
        _ => Finish::Stop,
    }
}
