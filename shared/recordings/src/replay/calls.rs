use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::{Agent, Turn, TurnRecorder, TurnRecorderFactory};
use async_trait::async_trait;
use client_protocols::NativeSse;
use domain::{Event, Language, ToolCall, ToolSpec};
use llm::{ModelClient, ResponseRecorder, ToolMode};
use serde_json::Value;
use tools::{Tool, ToolCallError, ToolContext, ToolError, ToolOutput, ToolRegistry, ToolRun};
use work::lock;

use super::script::ScriptedCall;
use super::sequencer::{Sequencer, StopReason};
use crate::recording;
use crate::recording::payload_of;

/// The recorded calls that were not replayed yet.
pub(super) struct RecordedCalls {
    left: Mutex<Vec<ScriptedCall>>,
    unrecorded: Mutex<Vec<String>>,
    sequencer: Arc<Sequencer>,
}

struct RecordedTool {
    spec: ToolSpec,
    calls: Arc<RecordedCalls>,
}

impl RecordedCalls {
    pub(super) fn new(calls: Vec<ScriptedCall>, sequencer: Arc<Sequencer>) -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(calls), unrecorded: Mutex::default(), sequencer })
    }

    pub(super) fn registry(self: &Arc<Self>, tools: &[recording::Tool]) -> ToolRegistry {
        let bindings: Vec<_> = tools.iter().map(recording::Tool::binding).collect();
        let tool = |tool: &recording::Tool| {
            let (spec, calls) = (tool.spec(), Arc::clone(self));
            Arc::new(RecordedTool { spec, calls }) as Arc<dyn Tool>
        };
        ToolRegistry::new(tools.iter().map(tool).collect()).restricted_to(&bindings)
    }

    pub(super) fn unrecorded(&self) -> Vec<String> {
        lock(&self.unrecorded).clone()
    }

    /// Takes the first remaining call of this tool with these arguments.
    fn take(&self, spec: &ToolSpec, arguments: &Value) -> Option<ScriptedCall> {
        let fits = |call: &ScriptedCall| {
            let recorded = tool_calls::coerce_arguments(&spec.parameters, call.tool_call.arguments.clone());
            call.tool_call.name == spec.name && recorded.is_ok_and(|recorded| recorded == *arguments)
        };
        let mut left = lock(&self.left);
        let at = left.iter().position(fits)?;
        Some(left.remove(at))
    }

    /// Fails a call that was not recorded. If the recording was cut off, stops the replay instead and never returns.
    async fn reject_unrecorded(&self, name: &str, arguments: &Value) -> ToolError {
        if self.sequencer.cut_off {
            return self.sequencer.stop(StopReason::RecordingEnded).await;
        }
        lock(&self.unrecorded).push(format!("{name} {arguments}"));
        let message = "This call was not recorded.";
        ToolCallError::new("failed", message, message.to_owned()).into()
    }
}

#[async_trait]
impl Tool for RecordedTool {
    fn spec(&self, _language: Language) -> ToolSpec {
        self.spec.clone()
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Some(call) = self.calls.take(&self.spec, &arguments) else {
            return Err(self.calls.reject_unrecorded(&self.spec.name, &arguments).await);
        };
        self.calls.sequencer.wait_for_call(&call).await;
        match call.result {
            Some(result) => result.into_tool_result(),
            None => Err(ToolError::Fatal(std::io::Error::other("the call ended the turn when it was recorded").into())),
        }
    }

    /// Longer than any recorded call.
    fn timeout(&self) -> Duration {
        Duration::from_hours(1)
    }
}

/// Observes a turn: passes on its events, and reports taken inputs to the sequencer.
#[derive(Clone)]
pub(super) struct Observer(Arc<ObserverState>);

struct ObserverState {
    sequencer: Arc<Sequencer>,
    on_event: Box<dyn Fn(&Value) + Send + Sync>,
    seen: Mutex<(NativeSse, Vec<Value>)>,
}

impl Observer {
    pub(super) fn new(sequencer: Arc<Sequencer>, on_event: impl Fn(&Value) + Send + Sync + 'static) -> Self {
        let seen = Mutex::new((NativeSse::new("", ""), Vec::new()));
        Self(Arc::new(ObserverState { sequencer, on_event: Box::new(on_event), seen }))
    }

    /// The events that clients would have received so far.
    pub(super) fn events(&self) -> Vec<Value> {
        lock(&self.0.seen).1.clone()
    }
}

impl TurnRecorderFactory for Observer {
    fn begin(&self, _: &Agent, _: &Turn<'_>) -> Option<Arc<dyn TurnRecorder>> {
        Some(Arc::new(self.clone()))
    }
}

impl TurnRecorder for Observer {
    fn on_event(&self, event: &Event) {
        let mut seen = lock(&self.0.seen);
        if let Some(payload) = payload_of(event, &mut seen.0) {
            (self.0.on_event)(&payload);
            seen.1.push(payload);
            self.0.sequencer.record_event();
        }
    }

    fn on_model_call(&self, _: &ModelClient, _: ToolMode) -> Option<Arc<dyn ResponseRecorder>> {
        Some(Arc::<Sequencer>::clone(&self.0.sequencer))
    }

    fn on_tool_result(&self, call: &ToolCall, _: Option<&ToolRun>) {
        self.0.sequencer.record_call_end(call);
    }
}
