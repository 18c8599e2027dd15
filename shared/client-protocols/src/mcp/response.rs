use domain::{CallState, Failure, ToolSpec};
use serde_json::{Value, json};

use super::{McpMethod, McpRequest, supported_versions};
use crate::TurnDocument;
use crate::frame::without_nulls;

/// How long a client may keep a list, in milliseconds.
const LIST_TTL_MS: u32 = 60_000;

/// The response to anything but a call: the description of the server, its tools, or nothing.
pub fn mcp_response(request: &McpRequest, tools: &[Value]) -> Value {
    let capabilities = json!({ "tools": {} });
    let fields = match &request.method {
        // Clients of earlier revisions accept no field in it.
        McpMethod::Ping => return json!({ "jsonrpc": "2.0", "id": request.id, "result": {} }),
        McpMethod::Describe(Some(version)) => {
            json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": server_info() })
        }
        McpMethod::Describe(None) => json!({ "supportedVersions": supported_versions(), "capabilities": capabilities }),
        McpMethod::ListTools => json!({ "tools": tools }),
        McpMethod::Notification | McpMethod::CallTool(_) => json!({}),
    };
    let mut response = complete(&request.id, fields);
    (response["result"]["ttlMs"], response["result"]["cacheScope"]) = (LIST_TTL_MS.into(), "private".into());
    response
}

fn server_info() -> Value {
    json!({ "name": "lambda-chat", "title": "Lambda Chat", "version": env!("CARGO_PKG_VERSION") })
}

/// The response with these fields of its result and those that the newest revision adds to each.
fn complete(id: &Value, mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": server_info() });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The row of a tool in the list.
pub fn mcp_tool(ToolSpec { name, description, parameters, .. }: &ToolSpec) -> Value {
    let source = json!({
        "type": "object",
        "properties": {
            "index": { "type": "integer" }, "title": { "type": "string" },
            "url": { "type": "string" }, "excerpt": { "type": "string" },
        },
        "required": ["index", "title", "url"],
    });
    json!({
        "name": name,
        "description": description,
        "inputSchema": parameters,
        "outputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string" }, "sources": { "type": "array", "items": source } },
            "required": ["text", "sources"],
        },
        "annotations": { "readOnlyHint": true },
    })
}

/// The response to a call: its text with the sources, or why it has none. `is_own` if the client called the tool itself
/// and not an agent, whose calls may fail without harm.
pub fn mcp_result(id: &Value, outcome: Result<&TurnDocument, &Failure>, is_own: bool) -> Value {
    let failed = |call: &CallState| call.outcome.as_ref().is_none_or(|outcome| !outcome.ok);
    let (text, sources) = match outcome {
        Err(failure) => (&failure.message, None),
        Ok(TurnDocument { turn, .. }) if is_own && turn.calls.iter().any(failed) => (&turn.content, None),
        Ok(TurnDocument { turn, .. }) => (&turn.content, Some(&turn.sources)),
    };
    let structured = sources.map(|sources| json!({ "text": text, "sources": sources }));
    let content = json!([{ "type": "text", "text": text }]);
    let fields = json!({ "content": content, "structuredContent": structured, "isError": sources.is_none() });
    complete(id, without_nulls(fields))
}
