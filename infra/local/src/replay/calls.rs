use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use conversation::{ToolFailure, ToolSpec};
use serde_json::Value;
use tokio::sync::watch;
use tools::{Tool, ToolContext, ToolError, ToolOutput, ToolRegistry};

use super::order::Order;
use super::score::Call;
use super::server::Stop;
use crate::recording;

/// The recorded calls that were not replayed yet.
pub(super) struct Calls {
    left: Mutex<Vec<Call>>,
    /// Calls that were not recorded.
    strange: Mutex<Vec<String>>,
    order: Arc<Order>,
    cut_off: bool,
    stop: watch::Sender<Option<Stop>>,
}

/// A tool that returns its recorded results.
struct RecordedTool {
    spec: ToolSpec,
    calls: Arc<Calls>,
}

impl Calls {
    pub(super) fn new(
        calls: Vec<Call>,
        order: Arc<Order>,
        cut_off: bool,
        stop: watch::Sender<Option<Stop>>,
    ) -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(calls), strange: Mutex::default(), order, cut_off, stop })
    }

    /// Registry of the turn's tools.
    pub(super) fn registry(self: &Arc<Self>, tools: &[recording::Tool]) -> ToolRegistry {
        let bindings: Vec<_> = tools.iter().map(recording::Tool::binding).collect();
        let tool = |tool: &recording::Tool| {
            let (spec, calls) = (tool.clone().into(), Arc::clone(self));
            Arc::new(RecordedTool { spec, calls }) as Arc<dyn Tool>
        };
        ToolRegistry::new(tools.iter().map(tool).collect()).bound(&bindings)
    }

    /// The calls that were not recorded.
    pub(super) fn strange(&self) -> Vec<String> {
        self.strange.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the first remaining call of this tool with these arguments.
    fn take(&self, spec: &ToolSpec, arguments: &Value) -> Option<Call> {
        let fits = |call: &Call| {
            let recorded = calls::fit(&spec.parameters, call.made.arguments.clone());
            call.made.name == spec.name && recorded.is_ok_and(|recorded| recorded == *arguments)
        };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let at = left.iter().position(fits)?;
        Some(left.remove(at))
    }

    /// Fails a call that was not recorded. If the recording was cut off, stops the replay instead and never returns.
    async fn not_recorded(&self, name: &str, arguments: &Value) -> ToolError {
        if self.cut_off {
            self.stop.send_replace(Some(Stop::Ended));
            return std::future::pending().await;
        }
        self.strange.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name} {arguments}"));
        let message = "This call was not recorded.".to_owned();
        let failure = ToolFailure { code: "failed".to_owned(), message: message.clone() };
        ToolError::Model { failure, content: message }
    }
}

#[async_trait]
impl Tool for RecordedTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Some(call) = self.calls.take(&self.spec, &arguments) else {
            return Err(self.calls.not_recorded(&self.spec.name, &arguments).await);
        };
        self.calls.order.call_due(&call).await;
        match call.result {
            Some(result) => result.given(),
            None => Err(ToolError::Fatal(std::io::Error::other("the call ended the turn when it was recorded").into())),
        }
    }

    /// Longer than any recorded call.
    fn timeout(&self) -> Duration {
        Duration::from_hours(1)
    }
}
