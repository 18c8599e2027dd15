use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use serde_json::{Value, json};
use tools::{OutboundRedactor, Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, strip_invisible};

use super::exchange::{Connection, Observer, RpcRequest};
use super::listing::ListedTool;
use crate::call_error::CallError;

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
        let (text, ok) = render_result(&result).map_err(to_tool_error)?;
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

/// Returns the text of a result, and whether the tool succeeded.
fn render_result(result: &Value) -> Result<(String, bool), CallError> {
    match result.get("resultType").map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => return Err(CallError::WantsInput),
        Some(_) => return Err(CallError::Unreadable),
    }
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = blocks.iter().filter_map(render_block).collect::<Vec<_>>().join("\n");
    // Servers repeat it in the text for clients that do not support it; otherwise it is the result.
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    if let Some(structured) = structured.filter(|_| text.trim().is_empty()) {
        text = structured.to_string();
    }
    if text.is_empty() && blocks.is_empty() && result.get("content").is_none() && structured.is_none() {
        return Err(CallError::Unreadable);
    }
    Ok((text, result.get("isError") != Some(&Value::Bool(true))))
}

fn render_block(block: &Value) -> Option<String> {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    match text("type")? {
        "text" => text("text").map(str::to_owned),
        kind @ ("image" | "audio") => Some(format!("[{kind}: {}]", text("mimeType").unwrap_or("unknown"))),
        "resource_link" => {
            let parts = ["name", "uri", "description"].into_iter().filter_map(text);
            Some(format!("[resource: {}]", parts.collect::<Vec<_>>().join(", ")))
        }
        "resource" => render_resource(block.get("resource")?),
        _ => None,
    }
}

fn render_resource(resource: &Value) -> Option<String> {
    let uri = resource.get("uri").and_then(Value::as_str).unwrap_or("unknown");
    match resource.get("text").and_then(Value::as_str) {
        Some(text) => Some(format!("[resource: {uri}]\n{text}")),
        None => resource.get("blob").map(|_| format!("[resource: {uri}]")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_kinds_of_content_become_text() {
        let result = json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "https://example.com/r", "name": "R"},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "b"}},
            {"type": "resource", "resource": {"uri": "file:///y", "blob": "AAAA"}},
            {"type": "hologram"},
        ]});
        let text = "a\n[image: image/png]\n[resource: R, https://example.com/r]\n[resource: file:///x]\nb\n\
            [resource: file:///y]";
        assert_eq!(render_result(&result), Ok((text.to_owned(), true)));
        let structured = json!({"content": [], "structuredContent": {"n": 1}, "isError": true});
        assert_eq!(render_result(&structured), Ok((r#"{"n":1}"#.to_owned(), false)));
        assert_eq!(render_result(&json!({"content": []})), Ok((String::new(), true)));
    }

    #[test]
    fn invalid_result_is_an_error() {
        assert_eq!(render_result(&json!({"resultType": "input_required"})), Err(CallError::WantsInput));
        for result in [json!({}), json!(null), json!({"resultType": "hologram", "content": []})] {
            assert_eq!(render_result(&result), Err(CallError::Unreadable));
        }
    }
}
