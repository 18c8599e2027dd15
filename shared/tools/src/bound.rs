use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use conversation::{ToolExample, ToolSpec};
use serde_json::{Map, Value};

use crate::{Tool, ToolContext, ToolError, ToolOutput};

/// A tool with fixed arguments, as one agent uses it; the model neither sees nor chooses them.
pub(crate) struct Bound {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) fixed: Map<String, Value>,
}

#[async_trait]
impl Tool for Bound {
    fn spec(&self) -> ToolSpec {
        let mut spec = self.tool.spec();
        if let Some(properties) = spec.parameters.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| !self.fixed.contains_key(name));
        }
        if let Some(required) = spec.parameters.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name.as_str().is_none_or(|name| !self.fixed.contains_key(name)));
        }
        spec.examples = spec.examples.into_iter().map(|example| self.without_fixed(example)).collect();
        spec
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let context = ToolContext { outgoing: context.outgoing.with_fixed(self.fixed.keys()), ..context.clone() };
        self.tool.call(self.with_fixed(arguments), &context).await
    }

    fn meaning(&self, arguments: &Value) -> Value {
        self.tool.meaning(&self.with_fixed(arguments.clone()))
    }

    fn price(&self, arguments: &Value) -> u64 {
        self.tool.price(&self.with_fixed(arguments.clone()))
    }

    fn timeout(&self) -> Duration {
        self.tool.timeout()
    }

    fn framed(&self, content: String) -> String {
        self.tool.framed(content)
    }

    fn failure_text(&self, reason: &str) -> String {
        self.tool.failure_text(reason)
    }
}

impl Bound {
    fn with_fixed(&self, mut arguments: Value) -> Value {
        if let Some(chosen) = arguments.as_object_mut() {
            chosen.extend(self.fixed.clone());
        }
        arguments
    }

    fn without_fixed(&self, mut example: ToolExample) -> ToolExample {
        if let Some(arguments) = example.arguments.as_object_mut() {
            arguments.retain(|name, _| !self.fixed.contains_key(name));
        }
        example
    }
}
