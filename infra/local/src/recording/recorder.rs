use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::TurnRecorder;
use client_protocols::{NativeSse, Protocol};
use domain::{Event, ToolCall, ToolEvent};
use llm::{AttemptEnd, ModelClient, ResponseRecorder, ToolMode};
use serde_json::Value;
use tools::ToolRun;

use super::line::{AttemptId, Entry};
use super::writer::RecordingWriter;

/// Encodes the events of one turn as payloads of the product's own protocol.
pub(crate) struct Payloads(NativeSse);

impl Default for Payloads {
    fn default() -> Self {
        Self(NativeSse::new("", ""))
    }
}

impl Payloads {
    /// Returns the payload of the next event, if it has one. Tool progress is skipped: no later event depends on it, and
    /// a replayed call does not repeat it.
    pub(crate) fn of(&mut self, event: &Event) -> Option<Value> {
        if matches!(event, Event::Tool(ToolEvent::Progress(_))) {
            return None;
        }
        let mut frames = String::new();
        self.0.write_frames(event, &mut frames);
        frames.lines().find_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
    }
}

pub(super) struct TurnRecording {
    writer: Arc<RecordingWriter>,
    model_calls: AtomicUsize,
    payloads: Mutex<Payloads>,
}

impl TurnRecording {
    pub(super) fn new(writer: RecordingWriter) -> Self {
        Self { writer: Arc::new(writer), model_calls: AtomicUsize::default(), payloads: Mutex::default() }
    }
}

impl TurnRecorder for TurnRecording {
    fn on_event(&self, event: &Event) {
        let payload = self.payloads.lock().unwrap_or_else(PoisonError::into_inner).of(event);
        if let Some(event) = payload {
            self.writer.write(Entry::Event { event });
        }
    }

    fn on_model_call(&self, model: &ModelClient, path: ToolMode) -> Arc<dyn ResponseRecorder> {
        let model_call = self.model_calls.fetch_add(1, Ordering::Relaxed) + 1;
        self.writer.write(Entry::ModelCall { model_call, model: model.config().name.clone(), path });
        let current = CurrentAttempt { id: AttemptId { model_call, attempt: 1 }, pending: Vec::new() };
        Arc::new(CallRecorder { writer: Arc::clone(&self.writer), current: Mutex::new(current) })
    }

    fn on_tool_result(&self, call: &ToolCall, ran: Option<&ToolRun>) {
        self.writer.write(Entry::Tool { call: call.clone(), result: ran.map(|ran| Box::new(ran.into())) });
    }
}

/// Records the responses of one model call.
struct CallRecorder {
    writer: Arc<RecordingWriter>,
    current: Mutex<CurrentAttempt>,
}

struct CurrentAttempt {
    id: AttemptId,
    /// Held back end of the body, which may be the start of a key.
    pending: Vec<u8>,
}

impl CallRecorder {
    fn record(&self, act: impl FnOnce(&mut CurrentAttempt)) {
        act(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn write_body(&self, id: AttemptId, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.writer.write(Entry::Body { id, bytes: bytes.into() });
        }
    }
}

impl ResponseRecorder for CallRecorder {
    fn record_head(&self, status: u16, content_type: &str, retry_after: Option<Duration>) {
        let retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let content_type = content_type.to_owned();
        self.record(|current| {
            self.writer.write(Entry::Response { id: current.id, status, content_type, retry_after_ms });
        });
    }

    fn record_chunk(&self, bytes: &[u8]) {
        let keys = self.writer.keys();
        self.record(|current| {
            current.pending.extend_from_slice(bytes);
            let mut hidden = keys.hide(std::mem::take(&mut current.pending));
            current.pending = hidden.split_off(hidden.len() - keys.partial_key_len(&hidden));
            self.write_body(current.id, hidden);
        });
    }

    fn record_end(&self, how: AttemptEnd) {
        self.record(|current| {
            self.write_body(current.id, std::mem::take(&mut current.pending));
            self.writer.write(Entry::End { id: current.id, how });
            current.id.attempt += 1;
        });
    }
}
