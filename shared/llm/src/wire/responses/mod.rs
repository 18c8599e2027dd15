//! `OpenAI`'s Responses API: `POST {base}/responses`; the response is a stream of typed server-sent events.
//!
//! The requests are stateless: nothing is stored at the endpoint, and encrypted reasoning travels with the conversation.
//! Items are identified by their position in the output, because some gateways change the ids from event to event.

mod item;
mod request;

use std::borrow::Cow;

use domain::ReasoningItem;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::Value;

use crate::Finish;
use crate::errors::AttemptError;
use crate::lax::{ContentParts, Lax, nullable};
use crate::wire::tool_calls::CallFragment;
use crate::wire::{Decode, DeltaQueue, Protocol, parse, stream_error};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (AUTHORIZATION, "Bearer "),
    default_base: Some("https://api.openai.com/v1"),
};

/// The type of an item that is a call.
const CALL: &str = "function_call";

/// The separator of messages, and of parts of a reasoning summary.
const PARAGRAPH: &str = "\n\n";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(deserialize_with = "nullable")]
    output_index: u64,
    #[serde(deserialize_with = "nullable")]
    summary_index: u64,
    delta: ContentParts<'a>,
    item: Lax<Value>,
    /// The whole response, or its state so far.
    response: Lax<Value>,
}

#[derive(Default)]
pub(crate) struct Decoder {
    call_positions: Vec<u64>,
    /// The encrypted reasoning, with its positions.
    reasoning: Vec<(u64, String)>,
    /// The positions of items whose content has arrived in deltas.
    streamed: Vec<u64>,
    text_position: u64,
    /// The position of the latest thinking, and its part; `None` before the first.
    thinking_position: Option<(u64, u64)>,
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if data.trim_ascii() == "[DONE]" {
            out.is_done = true;
            return Ok(());
        }
        self.event(data, out)
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let response: Value = parse(text)?;
        let status = item::text(&response, "status");
        if status.is_empty() {
            return Err(stream_error(text));
        }
        for (position, item) in (0..).zip(item::array(&response, "output")) {
            self.item(position, item, out)?;
        }
        end_response(status, &response, out)
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let reasoning = if out.finish.is_some() { std::mem::take(&mut self.reasoning) } else { Vec::new() };
        for (position, data) in reasoning {
            let calls = self.call_positions.iter().filter(|call| **call < position).count();
            out.push_reasoning(ReasoningItem::EncryptedReasoning { data, calls });
        }
        out.push_end()
    }
}

impl Decoder {
    fn event(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let event: Event<'_> = parse(data)?;
        let (position, delta) = (event.output_index, &*event.delta.text);
        match &*event.kind {
            "response.output_text.delta" | "response.refusal.delta" => self.text(position, delta, out),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thinking((position, event.summary_index), delta, out)
            }
            "response.function_call_arguments.delta" => {
                self.mark_streamed(position);
                let fragment = CallFragment { index: Some(position), arguments: delta, ..CallFragment::default() };
                out.add_call(&fragment)
            }
            "response.output_item.added" => {
                let item = event.item.or_default();
                if item::text(&item, "type") == CALL { self.call(position, &item, "", out) } else { Ok(()) }
            }
            "response.output_item.done" => self.item(position, &event.item.or_default(), out),
            "response.completed" => end_response("completed", &event.response.or_default(), out),
            "response.incomplete" => end_response("incomplete", &event.response.or_default(), out),
            "response.failed" | "response.cancelled" => end_response("failed", &event.response.or_default(), out),
            "error" => Err(stream_error(data)),
            _ => Ok(()),
        }
    }

    fn mark_streamed(&mut self, position: u64) {
        if !self.streamed.contains(&position) {
            self.streamed.push(position);
        }
    }

    fn text(&mut self, position: u64, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if text.is_empty() {
            return Ok(());
        }
        self.mark_streamed(position);
        if std::mem::replace(&mut self.text_position, position) != position && out.has_text {
            out.push_text(PARAGRAPH)?;
        }
        out.push_text(text)
    }

    /// Adds thinking; each part of a summary starts a new paragraph.
    fn thinking(&mut self, position: (u64, u64), text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if text.is_empty() {
            return Ok(());
        }
        self.mark_streamed(position.0);
        if self.thinking_position.replace(position).is_some_and(|before| before != position) {
            out.push_thinking(PARAGRAPH)?;
        }
        out.push_thinking(text)
    }

    /// Adds a complete item, as far as its content has not arrived in deltas.
    fn item(&mut self, position: u64, item: &Value, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let is_new = !self.streamed.contains(&position);
        match item::text(item, "type") {
            CALL if is_new => self.call(position, item, &item::arguments(item), out),
            CALL => self.call(position, item, "", out),
            "message" if is_new => self.text(position, &item::answer(item), out),
            "reasoning" => {
                for (part, thinking) in (0..).zip(item::thinking(item)).take_while(|_| is_new) {
                    self.thinking((position, part), item::text(thinking, "text"), out)?;
                }
                let encrypted = item::text(item, "encrypted_content");
                if !encrypted.is_empty() {
                    let at = self.reasoning.partition_point(|(other, _)| *other <= position);
                    self.reasoning.insert(at, (position, encrypted.to_owned()));
                }
                out.count_bytes(encrypted.len())
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, position: u64, item: &Value, arguments: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if !self.call_positions.contains(&position) {
            self.call_positions.push(position);
        }
        let ids = [item::text(item, "call_id"), item::text(item, "id")];
        let (id, name) = (ids.into_iter().find(|id| !id.is_empty()).unwrap_or_default(), item::text(item, "name"));
        out.add_call(&CallFragment { index: Some(position), id, name, arguments, signature: "" })
    }
}

fn end_response(status: &str, response: &Value, out: &mut DeltaQueue) -> Result<(), AttemptError> {
    out.usage = response.get("usage").map(item::usage);
    let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
    out.finish = match status {
        "failed" | "cancelled" => {
            let error = response.get("error").map(Value::to_string).unwrap_or_default();
            return Err(stream_error(&error));
        }
        "incomplete" if reason == Some("content_filter") => Some(Finish::ContentFilter),
        "incomplete" => Some(Finish::Length),
        // A background response has not ended.
        "queued" | "in_progress" => None,
        _ => Some(Finish::Stop),
    };
    out.is_done = out.finish.is_some();
    Ok(())
}
