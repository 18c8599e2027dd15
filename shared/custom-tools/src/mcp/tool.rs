use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use serde_json::{Value, json};
use tools::{OutboundRedactor, Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, strip_invisible};

use super::connection::Connection;
use super::content;
use super::exchange::{Observer, RpcRequest};
use super::listing::ListedTool;
use crate::call_error::CallError;

/// A tool of a server.
pub(super) struct McpTool {
    pub(super) connection: Arc<Connection>,
    pub(super) listed: ListedTool,
}

impl McpTool {
    /// Calls the tool; the model reads the text.
    pub(super) async fn invoke(
        &self,
        arguments: &Value,
        redactor: &OutboundRedactor,
        observer: &Observer,
        language: Language,
    ) -> Result<String, ToolError> {
        let fields = arguments.as_object().cloned().unwrap_or_default();
        // As for an HTTP tool, other turns run between two calls.
        tokio::task::yield_now().await;
        let arguments = Value::Object(self.connection.definition.outbound_arguments(&fields, redactor));
        let to_tool_error = |failure: CallError| failure.into_tool_error(!self.is_idempotent(), language);
        let headers = self.listed.mirrored.iter().filter_map(|one| one.header(&arguments)).collect();
        let params = json!({"name": self.listed.own_name, "arguments": arguments});
        let idempotent = self.is_idempotent();
        let rpc = RpcRequest { method: "tools/call", params, headers, idempotent };
        let result = self.connection.call(&rpc, observer).await.map_err(to_tool_error)?;
        let (text, ok) = content::render_result(&result).map_err(to_tool_error)?;
        if ok { Ok(text) } else { Err(to_tool_error(CallError::Reported(text))) }
    }

    fn is_idempotent(&self) -> bool {
        self.connection.definition.idempotent || self.listed.idempotent
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self, _language: Language) -> ToolSpec {
        let ListedTool { name, description, parameters, .. } = self.listed.clone();
        ToolSpec { name, description, parameters, examples: Vec::new() }
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::custom()
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let admitted = self.connection.definition.check_rate_limit(&self.connection.limiter).await;
        admitted.map_err(|failure| failure.into_tool_error(!self.is_idempotent(), context.language))?;
        let observer = Observer { progress: context.progress.clone(), test_call: None };
        let text = self.invoke(&arguments, &context.redactor, &observer, context.language).await?;
        let summary = format!("{} bytes", text.len());
        Ok(ToolOutput { content: text, summary, ..ToolOutput::default() })
    }

    /// Slightly more than the request's timeout, so that the request ends with its own reason.
    fn timeout(&self) -> Duration {
        self.connection.timeout() + Duration::from_secs(5)
    }

    /// Escapes a server's text: tool calls and frames in it stay text, and no character in it is invisible.
    fn wrap_result(&self, content: String) -> String {
        tool_calls::escape(&strip_invisible(&content))
    }
}
