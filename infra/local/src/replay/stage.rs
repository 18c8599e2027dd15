use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::{Agent, Recorder, Recording, Turn};
use conversation::{Event, ToolCall};
use model::{AttemptEnd, ModelClient, Tape, ToolPath};
use serde_json::Value;
use tools::Ran;

use super::order::Order;
use crate::recording::Payloads;

/// Callback for each event.
pub(super) type Show = Box<dyn Fn(&Value) + Send + Sync>;

/// Observes a turn: passes on its events, and reports taken inputs to the sequencer.
#[derive(Clone)]
pub(super) struct Stage(Arc<Shared>);

struct Shared {
    order: Arc<Order>,
    show: Show,
    seen: Mutex<(Payloads, Vec<Value>)>,
}

struct StageTape(Arc<Order>);

impl Stage {
    pub(super) fn new(order: Arc<Order>, show: Show) -> Self {
        Self(Arc::new(Shared { order, show, seen: Mutex::default() }))
    }

    /// The events that clients would have received so far.
    pub(super) fn seen(&self) -> Vec<Value> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl Recorder for Stage {
    fn begin(&self, _: &Agent, _: &Turn<'_>) -> Option<Arc<dyn Recording>> {
        Some(Arc::new(self.clone()))
    }
}

impl Recording for Stage {
    fn event(&self, event: &Event) {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(payload) = seen.0.of(event) {
            (self.0.show)(&payload);
            seen.1.push(payload);
            self.0.order.seen();
        }
    }

    fn asked(&self, _: &ModelClient, _: ToolPath) -> Arc<dyn Tape> {
        Arc::new(StageTape(Arc::clone(&self.0.order)))
    }

    fn ran(&self, call: &ToolCall, _: Option<&Ran>) {
        self.0.order.ran(call);
    }
}

impl Tape for StageTape {
    fn response(&self, _: u16, _: &str, _: Option<Duration>) {}

    fn body(&self, bytes: &[u8]) {
        self.0.read(bytes.len());
    }

    fn end(&self, _: AttemptEnd) {
        self.0.leave();
    }
}
