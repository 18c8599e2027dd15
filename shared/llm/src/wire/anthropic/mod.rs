//! Anthropic Messages: `POST {base}/v1/messages`; the response is a stream of typed server-sent events.

mod param_fields;
mod request;

use std::borrow::Cow;

use domain::ReasoningItem;
use http::HeaderName;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::errors::AttemptError;
use crate::lax::{ContentParts, Lax};
use crate::wire::tool_calls::CallFragment;
use crate::wire::{Decode, DeltaQueue, Protocol, counts, parse, stream_error};
use crate::{Finish, TokenUsage};

pub(super) use param_fields::param_fields;
pub(super) use request::{own_thinking, reply_context};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (HeaderName::from_static("x-api-key"), ""),
    default_base: Some("https://api.anthropic.com"),
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: u64,
    message: Option<Message<'a>>,
    content_block: Block<'a>,
    delta: Block<'a>,
    usage: Lax<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
    stop_reason: ContentParts<'a>,
    usage: Lax<Value>,
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
    signature: ContentParts<'a>,
    data: ContentParts<'a>,
    stop_reason: ContentParts<'a>,
}

#[derive(Default)]
pub(crate) struct Decoder {
    /// The index of the latest block, if it is a call of a tool that the provider runs itself.
    provider_call: Option<u64>,
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let event: Event<'_> = parse(data)?;
        match &*event.kind {
            "message_start" => update_usage(event.message.unwrap_or_default().usage, out),
            "content_block_start" => self.block(event.index, &event.content_block, out)?,
            "content_block_delta" => self.block(event.index, &event.delta, out)?,
            "content_block_stop" => out.end_thinking(),
            "message_delta" => {
                update_usage(event.usage, out);
                let reason = &event.delta.stop_reason.text;
                out.finish = if reason.is_empty() { out.finish } else { Some(finish(reason)) };
            }
            "error" => return Err(stream_error(data)),
            "message_stop" => out.is_done = true,
            _ => {}
        }
        Ok(())
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let message: Message<'_> = parse(text)?;
        if message.content.is_empty() && message.stop_reason.text.is_empty() {
            return Err(stream_error(text));
        }
        for (index, block) in (0..).zip(&message.content) {
            self.block(index, block, out)?;
            out.end_thinking();
        }
        update_usage(message.usage, out);
        out.finish = Some(finish(&message.stop_reason.text));
        Ok(())
    }
}

impl Decoder {
    fn block(&mut self, index: u64, block: &Block<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if matches!(&*block.kind.text, "server_tool_use" | "mcp_tool_use") {
            self.provider_call = Some(index);
        }
        if self.provider_call == Some(index) {
            return Ok(());
        }
        out.push_signed_thinking(&block.thinking.text, &block.signature.text)?;
        if block.kind.text == "redacted_thinking" {
            out.push_reasoning(ReasoningItem::RedactedThinking { data: block.data.text.to_string() });
        }
        out.count_bytes(block.data.text.len())?;
        out.push_text(&block.text.text)?;
        // In a stream a call starts with an empty input, and deltas add to it; a complete message contains the whole input.
        let input = block.input.map(RawValue::get).filter(|input| *input != "{}").unwrap_or_default();
        let arguments = if input.is_empty() { &*block.partial_json.text } else { input };
        let (id, name) = (&*block.id.text, &*block.name.text);
        if name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        out.add_call(&CallFragment { index: Some(index), id, name, arguments, signature: "" })
    }
}

/// Updates the token usage with later counts, but never with zero.
fn update_usage(usage: Lax<Value>, out: &mut DeltaQueue) {
    let names = ["/input_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens", "/output_tokens"];
    let new = TokenUsage::without_cache(counts(&usage.or_default(), names));
    let usage = out.usage.get_or_insert_default();
    usage.input = usage.input.max(new.input);
    usage.cached = usage.cached.max(new.cached);
    usage.cache_writes = usage.cache_writes.max(new.cache_writes);
    usage.output = usage.output.max(new.output);
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
