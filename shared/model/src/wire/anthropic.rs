//! Anthropic Messages: `POST {base}/v1/messages`; the response is a stream of typed server-sent events.

mod chosen;
mod request;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::sse::Frame;
use crate::wire::lax::{Words, fitting, nullable};
use crate::wire::tool_calls::{Calls, Piece};
use crate::wire::{Decode, Deltas, Phase};
use crate::{Finish, ModelError, TokenUsage};

pub(crate) use request::encode;

/// Any event, or a complete message; the type determines which fields are present.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    content_block: Block<'a>,
    #[serde(borrow, default)]
    delta: Block<'a>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(borrow, default)]
    stop_reason: Words<'a>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

/// The start of a block, a delta of a block, or the end of the message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    name: Words<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_json: Words<'a>,
    #[serde(borrow)]
    text: Words<'a>,
    #[serde(borrow)]
    thinking: Words<'a>,
    #[serde(borrow)]
    stop_reason: Words<'a>,
}

#[derive(Default, Deserialize)]
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

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    calls: Calls,
    usage: TokenUsage,
    finish: Option<Finish>,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Deltas) -> Result<Phase, Fault> {
        match frame {
            Frame::Event { kind: "error", data } => return Err(Refusal::parse(data).in_stream()),
            Frame::Event { data, .. } if data.trim().is_empty() => {}
            Frame::Event { data, .. } => return self.event(data, out),
            Frame::Bare(line) if line.contains("\"error\"") => return Err(Refusal::parse(line).in_stream()),
            Frame::Bare(_) => {}
        }
        Ok(Phase::Open)
    }

    fn document(&mut self, text: &str, out: &mut Deltas) -> Result<(), Fault> {
        let message: Message<'_> = parse(text)?;
        if message.content.is_empty() && message.stop_reason.text.is_empty() {
            return Err(Refusal::parse(text).in_stream());
        }
        for (index, block) in (0..).zip(&message.content) {
            self.block(index, block, out)?;
        }
        self.count(message.usage);
        self.finish = Some(finish(&message.stop_reason.text));
        Ok(())
    }

    fn end(&mut self, out: &mut Deltas) -> Result<(), Fault> {
        let finish = self.finish.ok_or_else(|| Fault::passing(ModelError::Disconnected))?;
        self.calls.give_out(Some(self.usage), finish, out);
        Ok(())
    }
}

impl Decoder {
    fn event(&mut self, data: &str, out: &mut Deltas) -> Result<Phase, Fault> {
        let event: Event<'_> = parse(data)?;
        match &*event.kind {
            "message_start" => self.count(event.message.and_then(|message| message.usage)),
            "content_block_start" => self.block(event.index, &event.content_block, out)?,
            "content_block_delta" => self.block(event.index, &event.delta, out)?,
            "message_delta" => {
                self.count(event.usage);
                let reason = &event.delta.stop_reason.text;
                self.finish = if reason.is_empty() { self.finish } else { Some(finish(reason)) };
            }
            "error" => return Err(Refusal::parse(data).in_stream()),
            "message_stop" => return Ok(Phase::Done),
            _ => {}
        }
        Ok(if self.finish.is_some() { Phase::Finished } else { Phase::Open })
    }

    fn block(&mut self, index: u64, block: &Block<'_>, out: &mut Deltas) -> Result<(), Fault> {
        out.thinking(&block.thinking.text)?;
        out.text(&block.text.text)?;
        // In a stream a call starts with an empty input, and deltas add to it; a complete message contains the whole input.
        let input = block.input.map(RawValue::get).filter(|input| *input != "{}").unwrap_or_default();
        let arguments = if input.is_empty() { &*block.partial_json.text } else { input };
        let (id, name) = (&*block.id.text, &*block.name.text);
        if name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        self.calls.add(&Piece { index: Some(index), id, name, arguments }, out)
    }

    /// Updates the token usage with later counts, but never with zero. The wire's `input_tokens` excludes tokens that were
    /// read from the cache or written to it.
    fn count(&mut self, usage: Option<&RawValue>) {
        let Some(usage) = fitting::<Usage>(usage) else { return };
        let input = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
        self.usage.input = self.usage.input.max(input);
        self.usage.cached = self.usage.cached.max(usage.cache_read_input_tokens);
        self.usage.output = self.usage.output.max(usage.output_tokens);
    }
}

fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, Fault> {
    serde_json::from_str(data).map_err(|_| Fault::last(ModelError::BadResponse))
}

fn finish(reason: &str) -> Finish {
    match reason {
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::ContentFilter,
        _ => Finish::Stop,
    }
}
