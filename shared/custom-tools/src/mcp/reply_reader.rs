//! Reads the reply to a request: one JSON document, or events that include the response.

use std::ops::ControlFlow;

use egress::{BodyChunk, Response};
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tools::Progress;

use crate::call_error::{CallError, RpcError};
use crate::event_stream::{EventStream, media_type};
use crate::http::secret_mask::SecretMask;

/// Longest text of one progress step, in bytes.
const MAX_STEP_BYTES: usize = 1000;

/// Longest error body that the model reads, in bytes.
const MAX_ERROR_BYTES: usize = 2000;

/// Maximum number of server requests that are answered during one reply.
const MAX_SERVER_REQUESTS: usize = 20;

pub(super) struct ReplyReader<'a> {
    id: u64,
    mask: &'a SecretMask,
    progress: &'a Progress,
    /// The channel for the replies to the server's own requests.
    replies: UnboundedSender<Value>,
    server_requests: usize,
    events: EventStream,
    response: Option<Value>,
}

impl<'a> ReplyReader<'a> {
    pub(super) fn new(id: u64, mask: &'a SecretMask, progress: &'a Progress, replies: UnboundedSender<Value>) -> Self {
        Self { id, mask, progress, replies, server_requests: 0, events: EventStream::default(), response: None }
    }

    /// Reads the next chunk of the body; breaks after the response.
    pub(super) fn push(&mut self, part: BodyChunk<'_>) -> ControlFlow<()> {
        if is_event_stream(part.headers) {
            self.events.push(part.bytes).iter().for_each(|data| self.handle_message(data));
        }
        if self.response.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(super) fn finish(mut self, response: &Response) -> Result<Value, CallError> {
        let status = response.status.as_u16();
        if is_event_stream(&response.headers) {
            if let Some(last) = std::mem::take(&mut self.events).finish() {
                self.handle_message(&last);
            }
        } else if let Ok(value) = serde_json::from_slice::<Value>(&response.body) {
            self.response = self.response_in(value, !response.status.is_success());
        }
        let answer = self.response.take().map(|answer| self.mask.mask_value(answer));
        match answer {
            Some(answer) => match RpcError::from_message(status, &answer) {
                Some(error) => Err(CallError::Rpc(error)),
                None => answer.get("result").cloned().ok_or(CallError::Unreadable),
            },
            None if response.status.is_success() => Err(CallError::Unreadable),
            None => {
                let text = self.mask.mask_text(&response.text());
                let shown = text.get(..text.floor_char_boundary(MAX_ERROR_BYTES)).unwrap_or_default();
                Err(CallError::Status(status, shown.to_owned()))
            }
        }
    }

    /// Returns the response in a document, which may be a list; that of a failed request may have no id.
    fn response_in(&self, value: Value, is_error: bool) -> Option<Value> {
        let messages = if let Value::Array(messages) = value { messages } else { vec![value] };
        let none = |message: &Value| message.get("id").is_none_or(Value::is_null) && message.get("error").is_some();
        messages.into_iter().find(|message| self.is_response(message) || (is_error && none(message)))
    }

    fn is_response(&self, message: &Value) -> bool {
        message.get("method").is_none() && message.get("id").is_some_and(|id| *id == self.id)
    }

    fn handle_message(&mut self, data: &str) {
        let Ok(message) = serde_json::from_str::<Value>(data) else { return };
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (None, _) if self.response.is_none() && self.is_response(&message) => self.response = Some(message),
            (Some("notifications/progress"), None) => self.report_step(message.get("params")),
            (Some(method), Some(id)) if self.server_requests < MAX_SERVER_REQUESTS => {
                self.server_requests += 1;
                // The receiver exists while the reply is read.
                let _gone = self.replies.send(reply_to(method, id));
            }
            _ => {}
        }
    }

    fn report_step(&self, params: Option<&Value>) {
        let own = |params: &&Value| params.get("progressToken").is_some_and(|token| *token == self.id);
        let Some(params) = params.filter(own) else { return };
        let number = |name: &str| params.get(name).filter(|value| value.is_number()).map(ToString::to_string);
        let counted = || match (number("progress"), number("total")) {
            (Some(progress), Some(total)) => Some(format!("{progress}/{total}")),
            (progress, _) => progress,
        };
        let message = params.get("message").and_then(Value::as_str).map(str::to_owned);
        let text = self.mask.mask_text(&message.or_else(counted).unwrap_or_default());
        let shown = text.get(..text.floor_char_boundary(MAX_STEP_BYTES)).unwrap_or_default();
        self.progress.send(&format!("{shown}\n"));
    }
}

/// Returns the reply to a server's own request: only `ping` is supported.
fn reply_to(method: &str, id: &Value) -> Value {
    match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}),
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    media_type(headers) == "text/event-stream"
}
