//! Reads the reply to a request: one JSON document, or events that include the response.

use std::ops::ControlFlow;

use egress::{Part, Response};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::failure::{McpFailure, RpcError};
use crate::Progress;
use crate::event_stream::EventStream;
use crate::http::failure::HttpFailure;
use crate::http::mask::Mask;

/// Longest text of one progress step, in bytes.
const STEP: usize = 1000;

/// Longest error body that the model reads, in bytes.
const REFUSAL: usize = 2000;

/// Maximum number of server requests that are answered during one reply.
const MOST_QUESTIONS: usize = 20;

/// Reads the reply to one request.
pub(super) struct Listening<'a> {
    id: u64,
    mask: &'a Mask,
    progress: &'a Progress,
    /// The channel for the replies to the server's own requests.
    replies: UnboundedSender<Value>,
    questions: usize,
    events: EventStream,
    response: Option<Value>,
}

impl<'a> Listening<'a> {
    pub(super) fn new(id: u64, mask: &'a Mask, progress: &'a Progress, replies: UnboundedSender<Value>) -> Self {
        Self { id, mask, progress, replies, questions: 0, events: EventStream::default(), response: None }
    }

    /// Reads the next chunk of the body; breaks after the response.
    pub(super) fn part(&mut self, part: Part<'_>) -> ControlFlow<()> {
        if is_events(part.headers) {
            self.events.push(part.bytes).iter().for_each(|data| self.message(data));
        }
        if self.response.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns the result at the end of the body.
    pub(super) fn finish(mut self, response: &Response) -> Result<Value, McpFailure> {
        let status = response.status.as_u16();
        if is_events(&response.headers) {
            if let Some(last) = std::mem::take(&mut self.events).finish() {
                self.message(&last);
            }
        } else if let Ok(value) = serde_json::from_slice::<Value>(&response.body) {
            self.response = self.found(value, !response.status.is_success());
        }
        let answer = self.response.take().map(|answer| self.mask.value(answer));
        match answer {
            Some(answer) => match RpcError::of(status, &answer) {
                Some(error) => Err(McpFailure::Rpc(error)),
                None => answer.get("result").cloned().ok_or(McpFailure::Unreadable),
            },
            None if response.status.is_success() => Err(McpFailure::Unreadable),
            None => {
                let text = self.mask.text(&response.text());
                let shown = text.get(..text.floor_char_boundary(REFUSAL)).unwrap_or_default();
                Err(HttpFailure::Status(status, shown.to_owned()).into())
            }
        }
    }

    /// Returns the response in a document, which may be a list; that of a failed request may have no id.
    fn found(&self, value: Value, refused: bool) -> Option<Value> {
        let messages = if let Value::Array(messages) = value { messages } else { vec![value] };
        let none = |message: &Value| message.get("id").is_none_or(Value::is_null) && message.get("error").is_some();
        messages.into_iter().find(|message| self.is_response(message) || (refused && none(message)))
    }

    fn is_response(&self, message: &Value) -> bool {
        message.get("method").is_none() && message.get("id").is_some_and(|id| *id == self.id)
    }

    fn message(&mut self, data: &str) {
        let Ok(message) = serde_json::from_str::<Value>(data) else { return };
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (None, _) if self.response.is_none() && self.is_response(&message) => self.response = Some(message),
            (Some("notifications/progress"), None) => self.step(message.get("params")),
            (Some(method), Some(id)) if self.questions < MOST_QUESTIONS => {
                self.questions += 1;
                // The receiver exists while the reply is read.
                let _gone = self.replies.send(reply(method, id));
            }
            _ => {}
        }
    }

    fn step(&self, params: Option<&Value>) {
        let own = |params: &&Value| params.get("progressToken").is_some_and(|token| *token == self.id);
        let Some(params) = params.filter(own) else { return };
        let number = |name: &str| params.get(name).filter(|value| value.is_number()).map(ToString::to_string);
        let counted = || match (number("progress"), number("total")) {
            (Some(progress), Some(total)) => Some(format!("{progress}/{total}")),
            (progress, _) => progress,
        };
        let said = params.get("message").and_then(Value::as_str).map(str::to_owned);
        let text = self.mask.text(&said.or_else(counted).unwrap_or_default());
        let shown = text.get(..text.floor_char_boundary(STEP)).unwrap_or_default();
        self.progress.tell(&format!("{shown}\n"));
    }
}

/// Returns the reply to a server's own request: only `ping` is supported.
fn reply(method: &str, id: &Value) -> Value {
    match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}),
    }
}

fn is_events(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}
