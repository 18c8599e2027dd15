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

use crate::errors::AttemptError;
use crate::lax::{ContentParts, Lax, nullable};
use crate::wire::tool_calls::{CallAssembler, CallFragment};
use crate::wire::{Decode, DeltaQueue, Phase, Protocol, parse};
use crate::{Finish, ModelError, TokenUsage};

use item::Item;

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (AUTHORIZATION, "Bearer "),
    default_base: Some("https://api.openai.com/v1"),
};

/// The separator of messages, and of parts of a reasoning summary.
const PARAGRAPH: &str = "\n\n";

/// Any event; the type determines which fields are present.
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

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    calls: CallAssembler,
    call_positions: Vec<u64>,
    /// The encrypted reasoning, with its positions.
    reasoning: Vec<(u64, String)>,
    /// The positions of items whose content has arrived in deltas.
    streamed: Vec<u64>,
    /// The position of the latest text.
    text_position: u64,
    /// The position of the latest thinking, and its part; `None` before the first.
    thinking_position: Option<(u64, u64)>,
    usage: Option<TokenUsage>,
    finish: Option<Finish>,
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        if data.trim_ascii() == "[DONE]" {
            return Ok(Phase::Done);
        }
        self.event(data, out)?;
        Ok(if self.finish.is_some() { Phase::Done } else { Phase::Open })
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let response: Value = parse(text)?;
        let status = item::text(&response, "status");
        if status.is_empty() {
            return Err(self.error(text));
        }
        for (position, item) in (0..).zip(item::array(&response, "output")) {
            self.item(position, &Item(item), out)?;
        }
        self.end_response(status, &response)
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let finish = self.finish.ok_or_else(|| AttemptError::transient(ModelError::Disconnected))?;
        self.reasoning.sort();
        for (position, data) in std::mem::take(&mut self.reasoning) {
            let calls = self.call_positions.iter().filter(|call| **call < position).count();
            out.push_reasoning(ReasoningItem::EncryptedReasoning { data, calls });
        }
        self.calls.emit(self.usage, finish, out);
        Ok(())
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
                self.calls.add(&fragment, out)
            }
            "response.output_item.added" => {
                let item = event.item.or_default();
                if Item(&item).is_call() { self.call(position, &Item(&item), "", out) } else { Ok(()) }
            }
            "response.output_item.done" => self.item(position, &Item(&event.item.or_default()), out),
            "response.completed" => self.end_response("completed", &event.response.or_default()),
            "response.incomplete" => self.end_response("incomplete", &event.response.or_default()),
            "response.failed" | "response.cancelled" => self.end_response("failed", &event.response.or_default()),
            "error" => Err(self.error(data)),
            _ => Ok(()),
        }
    }

    fn mark_streamed(&mut self, position: u64) {
        if !self.streamed.contains(&position) {
            self.streamed.push(position);
        }
    }

    /// Adds text; each message starts a new paragraph.
    fn text(&mut self, position: u64, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if text.is_empty() {
            return Ok(());
        }
        self.mark_streamed(position);
        if std::mem::replace(&mut self.text_position, position) != position && out.has_text() {
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
    fn item(&mut self, position: u64, item: &Item<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let is_new = !self.streamed.contains(&position);
        if item.is_call() {
            let arguments = if is_new { item.arguments() } else { Cow::Borrowed("") };
            return self.call(position, item, &arguments, out);
        }
        if is_new {
            self.text(position, &item.answer(), out)?;
            for (part, thinking) in (0..).zip(item.thinking()) {
                self.thinking((position, part), item::text(thinking, "text"), out)?;
            }
        }
        let encrypted = item.encrypted_reasoning();
        if !encrypted.is_empty() {
            self.reasoning.push((position, encrypted.to_owned()));
        }
        out.count_bytes(encrypted.len())
    }

    fn call(
        &mut self,
        position: u64,
        item: &Item<'_>,
        arguments: &str,
        out: &mut DeltaQueue,
    ) -> Result<(), AttemptError> {
        if !self.call_positions.contains(&position) {
            self.call_positions.push(position);
        }
        let (id, name) = (item.call_id(), item.name());
        self.calls.add(&CallFragment { index: Some(position), id, name, arguments, signature: "" }, out)
    }

    fn end_response(&mut self, status: &str, response: &Value) -> Result<(), AttemptError> {
        self.usage = item::usage(response);
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        self.finish = match status {
            "failed" | "cancelled" => {
                let error = response.get("error").map(Value::to_string).unwrap_or_default();
                return Err(self.error(&error));
            }
            "incomplete" if reason == Some("content_filter") => Some(Finish::ContentFilter),
            "incomplete" => Some(Finish::Length),
            // A background response has not ended.
            "queued" | "in_progress" => None,
            _ => Some(Finish::Stop),
        };
        Ok(())
    }
}
