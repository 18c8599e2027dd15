//! Prompts hold nothing secret, because a user can extract every prompt from its model.

use serde_json::{Value, json};
use support::{Client, Completion, FakeEndpoint, FakeMcp, ModelRequest, NativeApp, Reply, Request};

use crate::search_call;

/// A text that every secret of these tests contains, and nothing else.
const CANARY: &str = "canary";

const HTTP_SECRET: &str = "canary-weather/7k3z+";
const MCP_SECRET: &str = "canary-files/51k0+";

/// The product with secrets in every setting that takes one, and tools that send them.
struct SecretsApp {
    app: NativeApp,
    host: FakeEndpoint,
    server: FakeMcp,
}

impl SecretsApp {
    async fn start() -> Self {
        let settings = [
            ("ALLOW_PRIVATE_TOOLS", "yes"),
            ("TOOL_SECRET_WEATHER", HTTP_SECRET),
            ("TOOL_SECRET_FILES", MCP_SECRET),
            ("ARK_API_KEY", "canary-ark"),
            ("ARK_MODEL", "unused"),
            ("HISTORY_TOKENS", "300"),
            ("SUMMARISE_HISTORY", "yes"),
        ];
        let app = NativeApp::start_with(&settings).await;
        let (host, server) = (FakeEndpoint::start_permissive().await, FakeMcp::stateless().await);
        host.respond_with(echo_secret);
        Self { app, host, server }
    }

    /// Creates an agent with both custom tools and the search; returns its id.
    async fn create_agent(&self) -> String {
        let weather = json!({
            "name": "weather", "description": "Returns the weather of a city.",
            "endpoint": {
                "urlTemplate": format!("{}/v1/{{city}}/now", self.host.url()),
                "headers": {"x-app": "public"},
                "auth": {"type": "api_key", "header": "X-Weather", "secret": {"env": "TOOL_SECRET_WEATHER"}},
            },
            "parameters": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}},
        });
        let auth = json!({"type": "bearer", "secret": {"env": "TOOL_SECRET_FILES"}});
        let files = json!({
            "name": "files", "description": "Files.", "type": "mcp",
            "endpoint": {"url": self.server.url(), "auth": auth},
        });
        for tool in [weather, files] {
            create(&self.app, "tools", &tool).await;
        }
        let tools = json!([{"tool": "weather"}, {"tool": "files"}, {"tool": "search_web"}, {"tool": "read_url"}]);
        create(&self.app, "agents", &json!({"name": "全部", "tools": tools})).await
    }

    /// The requests to both models so far.
    fn sent_requests(&self) -> Vec<ModelRequest> {
        [self.app.model.requests(), self.app.app.model.requests()].concat()
    }
}

async fn create(app: &Client, kind: &str, document: &Value) -> String {
    let created = app.post(&format!("/api/admin/{kind}"), document).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()["id"].as_str().unwrap().to_owned()
}

/// Returns the secret of the request.
fn echo_secret(request: &Request) -> Reply {
    Reply::json(200, &json!({"sky": "晴", "you": request.header("x-weather")}))
}

/// Runs turns that use each tool on both paths, and turns whose earlier history exceeds the budget.
async fn run_turns(product: &SecretsApp, agent: &str) {
    let (native, text) = (&product.app.model, &product.app.app.model);
    let calls = [
        ("weather", json!({"city": "北京"})),
        ("files_echo", json!({"text": "a"})),
        ("search_web", json!({"query": "茶"})),
        ("read_url", json!({"url": "https://example.com/1"})),
    ];
    for (name, arguments) in calls {
        let call = Completion::new().call(0, "c1", name, &arguments.to_string()).finish("tool_calls").done();
        native.queue_replies([call.reply(), Completion::of(["好。"])]);
        product.app.chat(&json!({"message": "https://example.com/1 如何？", "agentId": agent})).await;
        let mut text_call = arguments;
        text_call["tool"] = name.into();
        text.queue_replies([Completion::of([format!("<tool_call>{text_call}</tool_call>")]), Completion::of(["好。"])]);
        let body = json!({"message": "https://example.com/1 如何？", "agentId": agent, "modelType": "openai"});
        product.app.chat(&body).await;
    }
    text.respond_with(|_| Completion::of(["好。"]));
    let long = json!({"message": "长城多长？".repeat(100), "modelType": "openai"});
    let mut next = long.clone();
    next["conversationId"] = product.app.chat(&long).await.conversation_id().into();
    for _ in 0..2 {
        product.app.chat(&next).await;
    }
}

#[tokio::test]
async fn f139_no_prompt_contains_secret_or_internal_address() {
    let product = SecretsApp::start().await;
    let agent = product.create_agent().await;
    run_turns(&product, &agent).await;
    let sent = product.sent_requests();
    let all: String = sent.iter().map(|request| request.body.to_string()).collect();
    for expected in ["weather", "files_echo", "search_web", "[hidden]", "你负责压缩一段较早的对话"] {
        assert!(all.contains(expected), "the turns brought up {expected}");
    }
    let received: Vec<Request> = product.host.requests().into_iter().chain(product.server.requests()).collect();
    assert!(received.iter().any(|request| request.header("x-weather") == HTTP_SECRET), "the secret is in use");
    assert!(received.iter().any(|request| request.header("authorization").ends_with(MCP_SECRET)), "so is the other");
    for request in &sent {
        let body = request.body.to_string();
        assert!(!body.contains(CANARY) && !request.request.path.contains(CANARY), "{body}");
        for setting in ["API_KEY", "TOOL_SECRET", "127.0.0.1"] {
            assert!(!body.contains(setting), "{setting} in {body}");
        }
    }
}

#[tokio::test]
async fn f139_tools_in_prompts_are_public() {
    let product = SecretsApp::start().await;
    let agent = product.create_agent().await;
    let listed = product.app.send("GET", "/api/tools", &[("x-agent-id", &agent)], "").await;
    let public = listed.text();
    product.app.model.queue_replies([Completion::of(["好。"])]);
    product.app.chat(&json!({"message": search_call("x"), "agentId": agent})).await;
    let request = product.app.model.wait_for_request(1).await;
    for tool in request.body["tools"].as_array().unwrap() {
        let name = tool["function"]["name"].as_str().unwrap();
        assert!(public.contains(name), "{name} is listed to every caller");
    }
    assert!(!public.contains(CANARY) && !public.contains("127.0.0.1"), "{public}");
}
