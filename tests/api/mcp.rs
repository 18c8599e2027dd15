//! Agents with the tools of Model Context Protocol servers.

use std::ops::Deref;

use serde_json::{Value, json};
use support::{Client, Completion, FakeEndpoint, FakeMcp, Gate, NativeApp, Reply, TestApp};
use tokio::net::TcpListener;

const SECRET: &str = "canary-files/51k0";

/// Allows tools to reach loopback, and configures a secret for them.
const TOOL_SETTINGS: [(&str, &str); 2] = [("ALLOW_PRIVATE_TOOLS", "yes"), ("TOOL_SECRET_FILES", SECRET)];

/// The product with an MCP server as a tool, and an agent with that tool and the calculator.
pub(crate) struct McpApp {
    app: NativeApp,
    tool: String,
    agent: String,
}

impl Deref for McpApp {
    type Target = NativeApp;

    fn deref(&self) -> &NativeApp {
        &self.app
    }
}

impl McpApp {
    pub(crate) async fn start_with(url: &str) -> Self {
        let app = NativeApp::start_with(&TOOL_SETTINGS).await;
        let tool = create(&app, "tools", &tool_row(url)).await;
        let agent = agent(&app, &["files", "calculator"]).await;
        Self { app, tool, agent }
    }

    /// The message to the model after a call that it writes as text.
    pub(crate) async fn run_text_call(&self, call: &Value) -> String {
        let request_count = self.app.app.model.requests().len();
        let replies = [format!("<tool_call>{call}</tool_call>"), "好。".to_owned()];
        self.app.app.model.queue_replies(replies.map(|reply| Completion::of([reply])));
        assert_eq!(self.chat(&self.text_request()).await.content(), "好。");
        self.app.app.model.wait_for_request(request_count + 2).await.last_message()
    }

    /// A request to the model whose prompt teaches the tools.
    fn text_request(&self) -> Value {
        json!({"message": "文件？", "agentId": self.agent, "modelType": "openai"})
    }

    async fn test_call(&self, body: &Value) -> Value {
        self.post(&format!("/api/admin/tools/{}/test", self.tool), body).await.ok()
    }
}

fn tool_row(url: &str) -> Value {
    let auth = json!({"type": "bearer", "secret": {"env": "TOOL_SECRET_FILES"}});
    let endpoint = json!({"url": url, "auth": auth, "timeoutSeconds": 20});
    json!({"name": "files", "description": "Files.", "type": "mcp", "endpoint": endpoint})
}

async fn create(app: &Client, kind: &str, document: &Value) -> String {
    let created = app.post(&format!("/api/admin/{kind}"), document).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()["id"].as_str().unwrap().to_owned()
}

async fn agent(app: &Client, tools: &[&str]) -> String {
    let tools: Vec<Value> = tools.iter().map(|tool| json!({ "tool": tool })).collect();
    create(app, "agents", &json!({"name": tools.len().to_string(), "tools": tools})).await
}

async fn tool_names(app: &Client, agent: &str) -> Vec<String> {
    let answer = app.send("GET", "/api/tools", &[("x-agent-id", agent)], "").await.ok();
    answer["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The requests with which the product lists the tools of a server with sessions.
const LIST_TOOLS_EXCHANGE: [&str; 5] =
    ["tools/list", "initialize", "notifications/initialized", "tools/list", "tools/list"];

#[tokio::test]
async fn server_tools_are_called_on_both_paths() {
    let server = FakeMcp::stateless().await;
    let app = McpApp::start_with(&server.url()).await;
    let all = ["files_echo", "files_steps", "files_fail", "files_see_all", "calculator"];
    assert_eq!(tool_names(&app, &app.agent).await, all);
    let message = app.run_text_call(&json!({"tool": "files_echo", "text": "汉"})).await;
    assert!(message.contains(r#"{"text":"汉"} Bearer [hidden] &lt;done>"#), "{message}");
    assert!(app.app.app.model.requests()[0].system_prompt().contains("### files_echo - Does echo"));
    let native = Completion::new().call(0, "c1", "files_echo", r#"{"text":"b"}"#).finish("tool_calls").done();
    app.model.queue_replies([native.reply(), Completion::of(["完。"])]);
    let turn = app.chat(&json!({"message": "文件？", "agentId": app.agent})).await;
    assert_eq!((turn.content().as_str(), &turn.events_of("tool_result")[0]["ok"]), ("完。", &json!(true)));
    assert!(
        app.last_messages().last().unwrap()["content"].as_str().unwrap().contains(r#"{"text":"b"} Bearer [hidden]"#)
    );
    assert_eq!(server.methods(), ["tools/list", "tools/list", "tools/call", "tools/call"], "the list is kept");
    assert!(!format!("{turn:?}{message}").contains("51k0"));
    let one = agent(&app, &["files_see_all"]).await;
    assert_eq!(tool_names(&app, &one).await, ["files_see_all"]);
    let refused = app.post("/api/admin/agents", &json!({"name": "x", "tools": [{"tool": "filesystem"}]})).await;
    assert_eq!(refused.status, 400);
}

#[tokio::test]
async fn expired_session_is_reopened_for_the_call() {
    let server = FakeMcp::with_sessions().await;
    let app = McpApp::start_with(&server.url()).await;
    let message = app.run_text_call(&json!({"tool": "files_echo", "text": "a"})).await;
    assert!(message.contains(r#"{"text":"a"} Bearer [hidden]"#), "{message}");
    server.end_session();
    let message = app.run_text_call(&json!({"tool": "files_echo", "text": "b"})).await;
    assert!(message.contains(r#"{"text":"b"} Bearer [hidden]"#), "{message}");
    let again = ["tools/call", "tools/call", "initialize", "notifications/initialized", "tools/call"];
    assert_eq!(server.methods(), [&LIST_TOOLS_EXCHANGE[..], &again[..]].concat());
}

#[tokio::test]
async fn tool_progress_reaches_the_user_but_not_model() {
    let server = FakeMcp::with_sessions().await;
    let (app, gate) = (McpApp::start_with(&server.url()).await, Gate::new());
    server.hold_steps(&gate);
    let call = json!({"tool": "files_steps"});
    app.app
        .app
        .model
        .queue_replies([Completion::of([format!("<tool_call>{call}</tool_call>")]), Completion::of(["好。"])]);
    let mut turn = app.open(&app.text_request()).await;
    let progress = turn.read_until("tool_progress").await;
    let expected =
        json!({"type": "tool_progress", "id": "call_1", "name": "files_steps", "text": "步骤一 Bearer [hidden]\n"});
    assert_eq!(progress, expected);
    gate.open();
    let result = turn.read_until("tool_result").await;
    assert_eq!((&result["ok"], &result["summary"]), (&json!(true), &json!("11 bytes")));
    assert_eq!(turn.read_to_end().await.content(), "好。");
    let message = app.app.app.model.wait_for_request(2).await.last_message();
    assert!(message.contains(r#"{"steps":2}"#) && !message.contains("步骤一"), "{message}");
    assert_eq!(server.methods(), [&LIST_TOOLS_EXCHANGE[..], &["tools/call", "reply"]].concat(), "a ping is answered");
}

#[tokio::test]
async fn reported_tool_failure_is_returned_to_the_model() {
    let server = FakeMcp::stateless().await;
    let app = McpApp::start_with(&server.url()).await;
    assert!(app.run_text_call(&json!({"tool": "files_fail"})).await.contains("工具调用失败：no such thing"));
    assert!(app.run_text_call(&json!({"tool": "files_see_all"})).await.contains("服务返回错误 -32602：unknown tool"));
}

#[tokio::test]
async fn failing_server_keeps_other_tools_and_is_paused() {
    let server = FakeEndpoint::start_permissive().await;
    server.respond_with(|_| Reply::json(503, &json!({"message": SECRET})));
    let app = McpApp::start_with(&server.url()).await;
    assert_eq!(tool_names(&app, &app.agent).await, ["calculator"]);
    let message = app.run_text_call(&json!({"tool": "calculator", "expression": "6*7"})).await;
    assert!(message.contains("42"), "{message}");
    let methods: Vec<Value> = server.requests().iter().map(|request| request.json()["method"].clone()).collect();
    assert_eq!(methods, ["tools/list", "initialize"]);
    let report = app.test_call(&json!({})).await;
    assert_eq!((&report["response"]["status"], &report["error"]["code"]), (&json!(503), &json!("failed")));
    assert!(report["content"].as_str().unwrap().contains("服务返回状态 503"));
    assert!(!report.to_string().contains("51k0"));
}

#[tokio::test]
async fn server_tool_cannot_take_a_built_in_name() {
    let server = FakeEndpoint::start_permissive().await;
    server.respond_with(|request| {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let result = json!({"tools": [tool("web"), tool("files")]});
        Reply::json(200, &json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}))
    });
    let app = NativeApp::start_with(&TOOL_SETTINGS).await;
    let mut search = tool_row(&server.url());
    search["name"] = json!("search");
    create(&app, "tools", &search).await;
    let agent = agent(&app, &["search"]).await;
    assert_eq!(tool_names(&app, &agent).await, ["search_files"]);
}

#[tokio::test]
async fn f059_call_with_lost_response_is_not_repeated() {
    let server = FakeMcp::stateless().await;
    let app = McpApp::start_with(&server.url()).await;
    tool_names(&app, &app.agent).await;
    server.queue_replies([Reply::reset_before_head()]);
    let message = app.run_text_call(&json!({"tool": "files_echo", "text": "a"})).await;
    assert!(message.contains("请求可能已经生效"), "{message}");
    assert_eq!(server.methods(), ["tools/list", "tools/list", "tools/call"]);
}

#[tokio::test]
async fn f128_redirects_and_private_servers_are_refused() {
    let (server, canary) = (FakeEndpoint::start_permissive().await, FakeEndpoint::start_permissive().await);
    let location = canary.url();
    server.respond_with(move |_| Reply::status(307).header("location", &location));
    let app = McpApp::start_with(&server.url()).await;
    assert_eq!(tool_names(&app, &app.agent).await, ["calculator"]);
    assert_eq!((canary.requests().len(), server.requests().len()), (0, 2));
    let closed = TestApp::start().await;
    for url in [server.url(), "https://169.254.169.254/mcp".to_owned(), "https://u:p@example.com/".to_owned()] {
        assert_eq!(closed.post("/api/admin/tools", &tool_row(&url)).await.status, 400);
    }
}

#[tokio::test]
async fn f133_endless_server_times_out() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let app = McpApp::start_with(&format!("http://{}", silent.local_addr().unwrap())).await;
    assert_eq!(tool_names(&app, &app.agent).await, ["calculator"]);
    let endless = FakeEndpoint::start_permissive().await;
    endless.respond_with(|_| {
        let page = Reply::status(200).header("content-type", "text/event-stream");
        (0..40).fold(page, |page, _| page.bytes(format!("data: {}\n\n", "x".repeat(64 * 1024))))
    });
    let app = McpApp::start_with(&endless.url()).await;
    assert_eq!(tool_names(&app, &app.agent).await, ["calculator"]);
}

#[tokio::test]
async fn test_call_shows_server_tools_and_their_results() {
    let server = FakeMcp::with_sessions().await;
    let app = McpApp::start_with(&server.url()).await;
    let report = app.test_call(&json!({})).await;
    let content: Value = serde_json::from_str(report["content"].as_str().unwrap()).unwrap();
    let echo = json!({"name": "files_echo", "description": "Does echo. # At once.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}});
    assert_eq!((&content["tools"][0], &content["unusable"]), (&echo, &json!(0)));
    let report = app.test_call(&json!({"tool": "echo", "arguments": {"text": "a"}})).await;
    assert_eq!(report["content"], r#"{"text":"a"} Bearer [hidden] &lt;done>"#);
    assert_eq!(report["request"]["headers"]["authorization"], "[hidden]");
    assert_eq!(report["request"]["headers"].get("mcp-session-id"), None);
    let report = app.test_call(&json!({"tool": "none"})).await;
    assert_eq!(report["error"]["code"], "unknown_tool");
    let stored = app.get(&format!("/api/admin/tools/{}", app.tool)).await.ok();
    assert_eq!((&stored["type"], &stored["endpoint"]["url"]), (&json!("mcp"), &json!(server.url())));
    let mut wrong = tool_row(&server.url());
    for (field, value) in [("parameters", json!({"type": "object"})), ("name", json!("a".repeat(33)))] {
        wrong[field] = value;
        assert_eq!(app.put(&format!("/api/admin/tools/{}", app.tool), &wrong).await.status, 400, "{field}");
    }
}

#[tokio::test]
async fn f132_streamed_progress_hides_the_secret() {
    let (host, gate) = (FakeEndpoint::start_permissive().await, Gate::new());
    let (first, rest) = SECRET.split_at(6);
    let reply =
        Reply::status(200).header("content-type", "text/plain").bytes(format!("第一章，一共两章，密钥 {first}"));
    host.queue_replies([reply.wait(&gate).bytes(format!("{rest} 完"))]);
    let app = NativeApp::start_with(&TOOL_SETTINGS).await;
    let auth = json!({"type": "bearer", "secret": {"env": "TOOL_SECRET_FILES"}});
    let endpoint = json!({"urlTemplate": format!("{}/report", host.url()), "auth": auth});
    let tool = json!({"name": "report", "description": "Reports.", "type": "streamable", "endpoint": endpoint});
    create(&app, "tools", &tool).await;
    let agent = agent(&app, &["report"]).await;
    app.app
        .model
        .queue_replies([Completion::of([r#"<tool_call>{"tool":"report"}</tool_call>"#]), Completion::of(["好。"])]);
    let mut turn = app.open(&json!({"message": "？", "agentId": agent, "modelType": "openai"})).await;
    let first_progress = turn.read_until("tool_progress").await;
    assert!(first_progress["text"].as_str().unwrap().starts_with("第一章"), "{first_progress}");
    gate.open();
    let turn = turn.read_to_end().await;
    let text: String = turn.events_of("tool_progress").iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(text, "第一章，一共两章，密钥 [hidden] 完");
    assert!(app.app.model.wait_for_request(2).await.last_message().contains(&text));
    assert!(!format!("{turn:?}").contains(first));
}

#[tokio::test]
#[ignore = "asks the servers of MCP_SERVERS, which infra/suites/mcp starts"]
async fn servers_of_the_reference_kit_are_understood() {
    let servers = std::env::var("MCP_SERVERS").expect("MCP_SERVERS holds URLs between commas");
    for url in servers.split(',') {
        let app = NativeApp::start_with(&TOOL_SETTINGS).await;
        let row = json!({"name": "files", "description": "Files.", "type": "mcp", "endpoint": {"url": url}});
        let tool = create(&app, "tools", &row).await;
        let agent = agent(&app, &["files"]).await;
        let app = McpApp { app, tool, agent };
        assert_eq!(tool_names(&app, &app.agent).await, ["files_add", "files_walk"], "{url}");
        let message = app.run_text_call(&json!({"tool": "files_add", "a": 40, "b": 2})).await;
        assert!(message.contains("\n42\n"), "{url}: {message}");
        let call = r#"<tool_call>{"tool": "files_walk", "steps": 2}</tool_call>"#;
        app.app.app.model.queue_replies([Completion::of([call]), Completion::of(["好。"])]);
        let turn = app.chat(&app.text_request()).await;
        let progress: String =
            turn.events_of("tool_progress").iter().filter_map(|event| event["text"].as_str()).collect();
        assert_eq!(
            (turn.events_of("tool_result")[0]["ok"].as_bool(), turn.content().as_str()),
            (Some(true), "好。"),
            "{url}"
        );
        // A server that replies with one JSON document cannot report progress.
        assert!(["step 1\nstep 2\n", ""].contains(&progress.as_str()), "{url}: {progress:?}");
    }
}
