use domain::parse_object;
use serde_json::{Map, Value, json};

use super::error::McpError;
use super::{EARLIER_VERSIONS, STATELESS_VERSION, supported_versions};

/// The headers that repeat a request, where it has them.
#[derive(Debug, Default)]
pub struct McpHeaders {
    /// `MCP-Protocol-Version`.
    pub version: Option<String>,
    /// `Mcp-Method`.
    pub method: Option<String>,
    /// `Mcp-Name`.
    pub name: Option<String>,
}

/// A message of a client.
#[derive(Debug)]
pub struct McpRequest {
    /// The id that the response repeats.
    pub id: Value,
    /// What it requests.
    pub method: McpMethod,
}

/// What a client may request.
#[derive(Debug, PartialEq)]
pub enum McpMethod {
    /// The versions and capabilities of the server, with the version that a client of an earlier revision gets.
    Describe(Option<&'static str>),
    /// A sign of life.
    Ping,
    /// The tools.
    ListTools,
    /// A call of a tool.
    CallTool(McpCall),
    /// Nothing: a notification.
    Notification,
}

/// A call of a tool.
#[derive(Debug, PartialEq)]
pub struct McpCall {
    /// The name of the tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
    /// Names the call in reports of its progress; `None` if the client wants none.
    pub progress_token: Option<Value>,
}

impl McpRequest {
    /// Parses a message.
    ///
    /// # Errors
    /// The response to a message that is not one, does not fit its headers, or has a version or method that is not known.
    pub fn parse(body: &[u8], headers: &McpHeaders) -> Result<Self, McpError> {
        let code = if body.trim_ascii_start().starts_with(b"[") { -32600 } else { -32700 };
        let mut message =
            parse_object(body).map_err(|failure| McpError::new(400, code, &failure.message, &Value::Null))?;
        let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default();
        let invalid = |text: &str| McpError::new(400, -32600, text, &id);
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid("The body must be one JSON-RPC message with `\"jsonrpc\": \"2.0\"`"));
        }
        let params = message.remove("params");
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            return Err(invalid("`method` must be a string: this server sends no requests of its own"));
        };
        let params = match params {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(invalid("`params` must be an object")),
        };
        if message.get("id").is_none() {
            return Ok(Self { id, method: McpMethod::Notification });
        }
        if id.is_null() {
            return Err(invalid("`id` must be a string or a number"));
        }
        let is_stateless = is_stateless(&params, method, headers, &id)?;
        let method = match method {
            "server/discover" if is_stateless => McpMethod::Describe(None),
            "initialize" if !is_stateless => McpMethod::Describe(Some(negotiated(&params))),
            "ping" if !is_stateless => McpMethod::Ping,
            "tools/list" => McpMethod::ListTools,
            "tools/call" => McpMethod::CallTool(parse_call(params, &id)?),
            _ => {
                let message = format!("There is no method {}", method.chars().take(64).collect::<String>());
                return Err(McpError::new(if is_stateless { 404 } else { 200 }, -32601, &message, &id));
            }
        };
        Ok(Self { id, method })
    }
}

fn negotiated(params: &Map<String, Value>) -> &'static str {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    EARLIER_VERSIONS.into_iter().find(|version| Some(*version) == wanted).unwrap_or(EARLIER_VERSIONS[0])
}

/// Whether the message is of the newest revision, by its own version, or by the header without one. Checks what that
/// revision requires of every message.
fn is_stateless(params: &Map<String, Value>, method: &str, headers: &McpHeaders, id: &Value) -> Result<bool, McpError> {
    let meta = |name: &str| params.get("_meta")?.get(format!("io.modelcontextprotocol/{name}"));
    let own = meta("protocolVersion").and_then(Value::as_str);
    let header = headers.version.as_deref();
    if own.is_none() && method == "initialize" {
        return Ok(false);
    }
    let message = "`MCP-Protocol-Version`, `Mcp-Method` and, in calls, `Mcp-Name` must repeat what the message has";
    let mismatch = McpError::new(400, -32020, message, id);
    if own.is_some() && header.is_some_and(|header| Some(header) != own) {
        return Err(mismatch);
    }
    match own.or(header) {
        Some(STATELESS_VERSION) => {}
        None if method == "server/discover" => {}
        Some(version) if !EARLIER_VERSIONS.contains(&version) => {
            let error = McpError::new(400, -32022, "This version of the protocol is not supported", id);
            return Err(error.with_data(json!({ "supported": supported_versions(), "requested": version })));
        }
        _ => return Ok(false),
    }
    if own.is_none() || !meta("clientCapabilities").is_some_and(Value::is_object) {
        let message = "`_meta` must have the version of the protocol and the client's capabilities";
        return Err(McpError::new(400, -32602, message, id));
    }
    let name = params.get("name").and_then(Value::as_str).filter(|_| method == "tools/call");
    let is_repeated = header == own && headers.method.as_deref() == Some(method);
    if !is_repeated || (name.is_some() && headers.name.as_deref() != name) {
        return Err(mismatch);
    }
    Ok(true)
}

fn parse_call(mut params: Map<String, Value>, id: &Value) -> Result<McpCall, McpError> {
    let invalid = |text: &str| McpError::new(200, -32602, text, id);
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(invalid("`name` must be the name of a tool"));
    };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => json!({}),
        Some(arguments) if arguments.is_object() => arguments,
        Some(_) => return Err(invalid("`arguments` must be an object")),
    };
    let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
    let progress_token = token.filter(|token| token.is_string() || token.is_number()).cloned();
    Ok(McpCall { name, arguments, progress_token })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(version: &str, method: &str, name: &str) -> McpHeaders {
        let [version, method, name] =
            [version, method, name].map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()));
        McpHeaders { version, method, name }
    }

    fn error(body: &Value, headers: &McpHeaders) -> (i64, u16) {
        let error = McpRequest::parse(body.to_string().as_bytes(), headers).unwrap_err();
        (error.body["error"]["code"].as_i64().unwrap(), error.status)
    }

    #[test]
    fn newest_revision_needs_headers_that_agree() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": 7});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "ask", "arguments": {"question": "q"}, "_meta": meta}});
        let agreed = headers(STATELESS_VERSION, "tools/call", "ask");
        let request = McpRequest::parse(call.to_string().as_bytes(), &agreed).unwrap();
        let arguments = json!({"question": "q"});
        let expected = McpCall { name: "ask".into(), arguments, progress_token: Some(json!(7)) };
        assert_eq!(request.method, McpMethod::CallTool(expected));
        for differing in [
            headers("2025-11-25", "tools/call", "ask"),
            headers("", "tools/call", "ask"),
            headers(STATELESS_VERSION, "", "ask"),
            headers(STATELESS_VERSION, "tools/list", "ask"),
            headers(STATELESS_VERSION, "tools/call", "read_url"),
        ] {
            assert_eq!(error(&call, &differing), (-32020, 400), "{differing:?}");
        }
    }

    #[test]
    fn earlier_revisions_begin_with_a_handshake() {
        let version = |wanted: &str| {
            let body =
                json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": wanted}});
            McpRequest::parse(body.to_string().as_bytes(), &McpHeaders::default()).unwrap().method
        };
        assert_eq!(version("2025-06-18"), McpMethod::Describe(Some("2025-06-18")));
        assert_eq!(version("1999-01-01"), McpMethod::Describe(Some("2025-11-25")));
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let request = McpRequest::parse(done.to_string().as_bytes(), &headers("2025-11-25", "", "")).unwrap();
        assert_eq!(request.method, McpMethod::Notification);
        let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
        let request = McpRequest::parse(list.to_string().as_bytes(), &McpHeaders::default()).unwrap();
        assert_eq!(request.method, McpMethod::ListTools);
    }

    #[test]
    fn messages_of_other_forms_are_rejected() {
        let none = McpHeaders::default();
        for (body, expected) in [
            (json!([]), (-32600, 400)),
            (json!({"jsonrpc": "2.0", "id": 1}), (-32600, 400)),
            (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), (-32600, 400)),
            (json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}), (-32600, 400)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}), (-32600, 400)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}), (-32601, 200)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}), (-32602, 200)),
            (
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": 1}}),
                (-32602, 200),
            ),
        ] {
            assert_eq!(error(&body, &none), expected, "{body}");
        }
        assert_eq!(McpRequest::parse(b"{", &none).unwrap_err().body["error"]["code"], -32700);
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        assert_eq!(error(&list, &headers("2027-01-01", "tools/list", "")), (-32022, 400));
        let mut ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        assert_eq!(error(&ping, &headers(STATELESS_VERSION, "ping", "")), (-32602, 400));
        ping["params"] = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {}}});
        assert_eq!(error(&ping, &headers(STATELESS_VERSION, "ping", "")), (-32601, 404));
    }
}
