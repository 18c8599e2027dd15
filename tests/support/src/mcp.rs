use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::{FakeEndpoint, Gate, Reply, Request};

/// A server of the Model Context Protocol on loopback: stateless, or with a handshake and sessions that can end.
///
/// It lists four tools on two pages: `echo` (returns its arguments and the key that it received), `steps` (reports
/// progress and sends a request before it answers), `fail` (reports a failure) and `see.all`.
pub struct FakeMcp {
    endpoint: FakeEndpoint,
    state: Arc<Mutex<McpState>>,
}

#[derive(Default)]
struct McpState {
    /// Whether the server requires a handshake.
    requires_session: bool,
    /// The number of sessions so far; only the last one is valid.
    session_count: usize,
    /// Whether the server replies with an event stream.
    replies_with_events: bool,
    /// The gate at which `steps` waits before it answers.
    gate: Option<Gate>,
}

impl FakeMcp {
    /// Starts a server of the protocol version without handshakes, which replies in JSON.
    pub async fn stateless() -> Self {
        Self::start(McpState::default()).await
    }

    /// Starts a server that requires a handshake and replies with events.
    pub async fn with_sessions() -> Self {
        Self::start(McpState { requires_session: true, replies_with_events: true, ..McpState::default() }).await
    }

    async fn start(state: McpState) -> Self {
        let (endpoint, state) = (FakeEndpoint::start_permissive().await, Arc::new(Mutex::new(state)));
        let shared = Arc::clone(&state);
        endpoint.respond_with(move |request| shared.lock().expect("no test panics here").reply_to(request));
        Self { endpoint, state }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("{}/mcp", self.endpoint.url())
    }

    /// Ends the session.
    pub fn end_session(&self) {
        self.state.lock().expect("no test panics here").session_count += 1;
    }

    /// Makes `steps` wait at this gate before it answers.
    pub fn hold_steps(&self, gate: &Gate) {
        self.state.lock().expect("no test panics here").gate = Some(gate.clone());
    }

    /// Queues replies for the next requests, one each.
    pub fn queue_replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.endpoint.queue_replies(replies);
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.endpoint.requests()
    }

    /// The methods of the requests so far; `reply` for a response to the server's own request.
    pub fn methods(&self) -> Vec<String> {
        let method = |request: &Request| request.json()["method"].as_str().unwrap_or("reply").to_owned();
        self.requests().iter().map(method).collect()
    }
}

impl McpState {
    fn reply_to(&mut self, request: &Request) -> Reply {
        let body = request.json();
        let method = body["method"].as_str().unwrap_or_default();
        if self.requires_session && method != "initialize" {
            let id = request.header("mcp-session-id");
            match id {
                "" => return rpc_error(400, &body, -32000, "no session"),
                _ if id != self.session_id() => return rpc_error(404, &body, -32001, "session not found"),
                _ => assert_eq!(request.header("mcp-protocol-version"), "2025-06-18", "the version is the agreed one"),
            }
        } else if !self.requires_session {
            assert_stateless(request, &body);
        }
        match method {
            "initialize" if self.requires_session => self.reply_to_initialize(&body),
            "tools/list" => self.complete_reply(&body, &tool_list(&body["params"]["cursor"])),
            "tools/call" => self.call_tool(request, &body),
            _ => Reply::status(202),
        }
    }

    fn session_id(&self) -> String {
        format!("session-{}", self.session_count)
    }

    fn reply_to_initialize(&mut self, body: &Value) -> Reply {
        self.session_count += 1;
        let result = json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"},
        });
        self.complete_reply(body, &result).header("mcp-session-id", &self.session_id())
    }

    fn call_tool(&mut self, request: &Request, body: &Value) -> Reply {
        let text = |text: String, error: bool| json!({"content": [{"type": "text", "text": text}], "isError": error});
        match body["params"]["name"].as_str() {
            Some("echo") => {
                let (arguments, key) = (&body["params"]["arguments"], request.header("authorization"));
                self.complete_reply(body, &text(format!("{arguments} {key} <done>"), false))
            }
            Some("fail") => self.complete_reply(body, &text("no such thing".to_owned(), true)),
            Some("steps") => self.steps(request, body),
            _ => rpc_error(if self.requires_session { 200 } else { 400 }, body, -32602, "unknown tool"),
        }
    }

    fn steps(&self, request: &Request, body: &Value) -> Reply {
        let token = &body["params"]["_meta"]["progressToken"];
        let step = |number: u32, text: String| {
            let params = json!({"progressToken": token, "progress": number, "total": 2, "message": text});
            encode_event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
        };
        let first_event = step(1, format!("步骤一 {}", request.header("authorization"))).into_bytes();
        // Split in the middle of a character.
        let cut = first_event.iter().position(|byte| *byte >= 0x80).map_or(0, |at| at + 1);
        let mut reply = Reply::status(200).header("content-type", "text/event-stream");
        reply = reply.bytes(&first_event[..cut]).bytes(&first_event[cut..]);
        if self.requires_session {
            reply = reply.bytes(encode_event(&json!({"jsonrpc": "2.0", "id": "q1", "method": "ping"})));
        }
        if let Some(gate) = &self.gate {
            reply = reply.wait(gate);
        }
        let result = json!({"content": [], "structuredContent": {"steps": 2}});
        reply.bytes(encode_event(&json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))).stall()
    }

    /// A complete reply: one document, or a log notification and then the result as events.
    fn complete_reply(&self, body: &Value, result: &Value) -> Reply {
        let message = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
        if !self.replies_with_events {
            return Reply::json(200, &message);
        }
        let log =
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
        FakeEndpoint::events([log, message])
    }
}

/// Checks the fields that the protocol version without handshakes requires in every request.
fn assert_stateless(request: &Request, body: &Value) {
    let meta = &body["params"]["_meta"];
    assert_eq!(request.header("mcp-protocol-version"), "2026-07-28", "the version stands in a header");
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "the version stands in the message");
    assert_eq!(request.header("mcp-method"), body["method"], "the method stands in a header");
    assert_eq!(request.header("mcp-name"), body["params"]["name"].as_str().unwrap_or_default(), "so does the name");
    assert_eq!(request.header("accept"), "application/json, text/event-stream", "both forms are accepted");
}

fn tool_list(cursor: &Value) -> Value {
    let tool = |name: &str, properties: Value| {
        json!({"name": name, "description": format!("Does {name}.\n# At once."),
            "inputSchema": {"type": "object", "properties": properties, "$schema": "http://json-schema.org/draft-07/schema#"}})
    };
    if cursor == "second" {
        return json!({"tools": [tool("fail", json!({})), tool("see.all", json!({}))]});
    }
    let echo = tool("echo", json!({"text": {"type": "string"}}));
    json!({"tools": [echo, tool("steps", json!({}))], "nextCursor": "second"})
}

fn rpc_error(status: u16, body: &Value, code: i64, message: &str) -> Reply {
    Reply::json(status, &json!({"jsonrpc": "2.0", "id": body["id"], "error": {"code": code, "message": message}}))
}

fn encode_event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}
