use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent::TurnRecorder;
use domain::{Event, ToolCall};
use llm::{ModelClient, ResponseRecorder, ToolMode};
use tools::ToolRun;

use super::line::Entry;
use super::payloads::Payloads;
use super::response_recorder::CallResponseRecorder;
use super::writer::RecordingWriter;

/// Recorder of one turn.
pub(super) struct TurnRecording {
    writer: Arc<RecordingWriter>,
    model_calls: AtomicUsize,
    payloads: Mutex<Payloads>,
}

impl TurnRecording {
    pub(super) fn new(writer: RecordingWriter) -> Self {
        let writer = Arc::new(writer);
        Self { writer, model_calls: AtomicUsize::default(), payloads: Mutex::default() }
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
        self.writer.write(Entry::ModelCall { model_call, model: model.config().name.clone(), path: path.into() });
        Arc::new(CallResponseRecorder::new(Arc::clone(&self.writer), model_call))
    }

    fn on_tool_result(&self, call: &ToolCall, ran: Option<&ToolRun>) {
        self.writer.write(Entry::Tool { call: call.clone(), result: ran.map(|ran| Box::new(ran.into())) });
    }
}
