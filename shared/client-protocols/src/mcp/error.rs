use domain::{ErrorCode, Failure};
use serde_json::{Value, json};

use crate::frame::without_nulls;

/// A response that is an error of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct McpError {
    /// The status of the response.
    pub status: u16,
    /// The response.
    pub body: Value,
}

impl McpError {
    /// An error without details. The id is null if the request has none that can be read.
    pub(super) fn new(status: u16, code: i64, message: &str, id: &Value) -> Self {
        let error = json!({ "code": code, "message": message });
        Self { status, body: without_nulls(json!({ "jsonrpc": "2.0", "id": id, "error": error })) }
    }

    #[must_use]
    pub(super) fn with_data(mut self, data: Value) -> Self {
        self.body["error"]["data"] = data;
        self
    }

    /// A call of a tool that the server does not have.
    pub fn unknown_tool(name: &str, id: &Value) -> Self {
        Self::new(200, -32602, &format!("There is no tool {}", name.chars().take(64).collect::<String>()), id)
    }
}

/// Renders a failure before a message was read, or before its call was admitted: then `id` is the message's, as JSON.
pub fn render_mcp_error(failure: &Failure, id: &str) -> Vec<u8> {
    let Failure { code, message, .. } = failure;
    let is_invalid = matches!(code, ErrorCode::InvalidRequest | ErrorCode::UnsupportedMediaType | ErrorCode::TooLarge);
    let id = serde_json::from_str(id).unwrap_or_default();
    let error = McpError::new(0, if is_invalid { -32600 } else { -32603 }, message, &id);
    error.with_data(json!({ "code": code, "retryable": code.is_retryable() })).body.to_string().into_bytes()
}
