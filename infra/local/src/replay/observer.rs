use std::sync::{Arc, Mutex, PoisonError};

use agent::{Agent, Turn, TurnRecorder, TurnRecorderFactory};
use domain::{Event, ToolCall};
use llm::{ModelClient, ResponseRecorder, ToolMode};
use serde_json::Value;
use tools::ToolRun;

use super::sequencer::Sequencer;
use crate::recording::Payloads;

/// Observes a turn: passes on its events, and reports taken inputs to the sequencer.
#[derive(Clone)]
pub(super) struct Observer(Arc<ObserverState>);

struct ObserverState {
    sequencer: Arc<Sequencer>,
    on_event: Box<dyn Fn(&Value) + Send + Sync>,
    seen: Mutex<(Payloads, Vec<Value>)>,
}

impl Observer {
    pub(super) fn new(sequencer: Arc<Sequencer>, on_event: impl Fn(&Value) + Send + Sync + 'static) -> Self {
        Self(Arc::new(ObserverState { sequencer, on_event: Box::new(on_event), seen: Mutex::default() }))
    }

    /// The events that clients would have received so far.
    pub(super) fn events(&self) -> Vec<Value> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl TurnRecorderFactory for Observer {
    fn begin(&self, _: &Agent, _: &Turn<'_>) -> Option<Arc<dyn TurnRecorder>> {
        Some(Arc::new(self.clone()))
    }
}

impl TurnRecorder for Observer {
    fn on_event(&self, event: &Event) {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(payload) = seen.0.of(event) {
            (self.0.on_event)(&payload);
            seen.1.push(payload);
            self.0.sequencer.record_event();
        }
    }

    fn on_model_call(&self, _: &ModelClient, _: ToolMode) -> Arc<dyn ResponseRecorder> {
        Arc::<Sequencer>::clone(&self.0.sequencer)
    }

    fn on_tool_result(&self, call: &ToolCall, _: Option<&ToolRun>) {
        self.0.sequencer.record_call_end(call);
    }
}
