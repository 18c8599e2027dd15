use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolExample, ToolSpec};
use serde_json::{Map, Value};

use crate::{Tool, ToolContext, ToolError, ToolMetadata, ToolOutput};

/// A tool with fixed arguments, as one agent uses it; the model neither sees nor chooses them.
pub(crate) struct WithFixedArgs {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) fixed: Map<String, Value>,
}

#[async_trait]
impl Tool for WithFixedArgs {
    fn spec(&self, language: Language) -> ToolSpec {
        let mut spec = self.tool.spec(language);
        if let Some(properties) = spec.parameters.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| !self.fixed.contains_key(name));
        }
        if let Some(required) = spec.parameters.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name.as_str().is_none_or(|name| !self.fixed.contains_key(name)));
        }
        spec.examples = spec.examples.into_iter().map(|example| self.strip_fixed(example)).collect();
        spec
    }

    fn metadata(&self) -> ToolMetadata {
        self.tool.metadata()
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let context = ToolContext { redactor: context.redactor.with_fixed(self.fixed.keys()), ..context.clone() };
        self.tool.call(self.merge_fixed(arguments), &context).await
    }

    fn dedup_key(&self, arguments: &Value) -> Value {
        self.tool.dedup_key(&self.merge_fixed(arguments.clone()))
    }

    fn estimated_credits(&self, arguments: &Value) -> u64 {
        self.tool.estimated_credits(&self.merge_fixed(arguments.clone()))
    }

    fn timeout(&self) -> Duration {
        self.tool.timeout()
    }

    fn wrap_result(&self, content: String) -> String {
        self.tool.wrap_result(content)
    }

    fn failure_text(&self, reason: &str, language: Language) -> String {
        self.tool.failure_text(reason, language)
    }
}

impl WithFixedArgs {
    fn merge_fixed(&self, mut arguments: Value) -> Value {
        if let Some(chosen) = arguments.as_object_mut() {
            chosen.extend(self.fixed.clone());
        }
        arguments
    }

    fn strip_fixed(&self, mut example: ToolExample) -> ToolExample {
        if let Some(arguments) = example.arguments.as_object_mut() {
            arguments.retain(|name, _| !self.fixed.contains_key(name));
        }
        example
    }
}
