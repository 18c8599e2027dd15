use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use serde_json::Value;
use tools::{Tool, ToolCallError, ToolContext, ToolError, ToolOutput, ToolRegistry};

use super::script::ScriptedCall;
use super::sequencer::{Sequencer, StopReason};
use crate::recording;

/// The recorded calls that were not replayed yet.
pub(super) struct RecordedCalls {
    left: Mutex<Vec<ScriptedCall>>,
    /// Calls that were not recorded.
    unrecorded: Mutex<Vec<String>>,
    sequencer: Arc<Sequencer>,
}

/// A tool that returns its recorded results.
struct RecordedTool {
    spec: ToolSpec,
    calls: Arc<RecordedCalls>,
}

impl RecordedCalls {
    pub(super) fn new(calls: Vec<ScriptedCall>, sequencer: Arc<Sequencer>) -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(calls), unrecorded: Mutex::default(), sequencer })
    }

    /// Registry of the turn's tools.
    pub(super) fn registry(self: &Arc<Self>, tools: &[recording::Tool]) -> ToolRegistry {
        let bindings: Vec<_> = tools.iter().map(recording::Tool::binding).collect();
        let tool = |tool: &recording::Tool| {
            let (spec, calls) = (tool.spec(), Arc::clone(self));
            Arc::new(RecordedTool { spec, calls }) as Arc<dyn Tool>
        };
        ToolRegistry::new(tools.iter().map(tool).collect()).restricted_to(&bindings)
    }

    /// The calls that were not recorded.
    pub(super) fn unrecorded(&self) -> Vec<String> {
        self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the first remaining call of this tool with these arguments.
    fn take(&self, spec: &ToolSpec, arguments: &Value) -> Option<ScriptedCall> {
        let fits = |call: &ScriptedCall| {
            let recorded = tool_calls::coerce_arguments(&spec.parameters, call.tool_call.arguments.clone());
            call.tool_call.name == spec.name && recorded.is_ok_and(|recorded| recorded == *arguments)
        };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let at = left.iter().position(fits)?;
        Some(left.remove(at))
    }

    /// Fails a call that was not recorded. If the recording was cut off, stops the replay instead and never returns.
    async fn reject_unrecorded(&self, name: &str, arguments: &Value) -> ToolError {
        if self.sequencer.cut_off {
            return self.sequencer.stop(StopReason::RecordingEnded).await;
        }
        self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name} {arguments}"));
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
