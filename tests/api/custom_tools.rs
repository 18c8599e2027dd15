//! Custom tools, which administrators define while the product runs.

use std::fs;
use std::ops::Deref;

use serde_json::{Value, json};
use support::{
    ApiResponse, Client, Completion, FakeEndpoint, NativeApp, Reply, Request, TestApp, Transcript, list_recordings,
};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::secrets::MemoryLog;

const SECRET: &str = "canary-weather/7k3z";

/// Allows tools to reach loopback, and configures a secret for them.
const TOOL_SETTINGS: [(&str, &str); 2] = [("ALLOW_PRIVATE_TOOLS", "yes"), ("TOOL_SECRET_WEATHER", SECRET)];

/// The product with a host for tools, and two models: `openai` on the text path and `native`, the default.
pub(crate) struct CustomToolApp {
    app: NativeApp,
    pub(crate) host: FakeEndpoint,
}

impl Deref for CustomToolApp {
    type Target = NativeApp;

    fn deref(&self) -> &NativeApp {
        &self.app
    }
}

impl CustomToolApp {
    pub(crate) async fn start() -> Self {
        Self { app: NativeApp::start_with(&TOOL_SETTINGS).await, host: FakeEndpoint::start_permissive().await }
    }

    /// Creates a tool with additional or other fields, and an agent with only this tool; returns their ids.
    async fn create_tool_and_agent(&self, more: &Value) -> (String, String) {
        let tool = create(&self.app, "tools", &weather_tool(&self.host, more)).await;
        let agent = json!({"name": "天气", "tools": [{"tool": "weather"}]});
        (tool, create(&self.app, "agents", &agent).await)
    }

    /// Runs a turn in which the model `openai` calls the tool; returns the message to the model with the result.
    pub(crate) async fn run_text_call(&self, agent: &str, arguments: &Value) -> String {
        let request_count = self.app.app.model.requests().len();
        self.app.app.model.queue_replies([Completion::of([text_call(arguments)]), Completion::of(["好。"])]);
        let body = json!({"message": "天气？", "agentId": agent, "modelType": "openai"});
        assert_eq!(self.chat(&body).await.content(), "好。");
        self.app.app.model.wait_for_request(request_count + 2).await.last_message()
    }
}

/// A tool that requests the weather of a city from the host.
fn weather_tool(host: &FakeEndpoint, more: &Value) -> Value {
    let mut tool = json!({
        "name": "weather", "displayName": "天气", "description": "Tells the weather of a city.",
        "endpoint": {
            "urlTemplate": format!("{}/v1/{{city}}/now", host.url()),
            "auth": {"type": "bearer", "secret": {"env": "TOOL_SECRET_WEATHER"}},
        },
        "parameters": {
            "type": "object", "required": ["city"],
            "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        },
    });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    tool
}

pub(crate) async fn create(app: &Client, kind: &str, document: &Value) -> String {
    let created = app.post(&format!("/api/admin/{kind}"), document).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()["id"].as_str().unwrap().to_owned()
}

pub(crate) fn text_call(arguments: &Value) -> String {
    let mut call = arguments.clone();
    call["tool"] = "weather".into();
    format!("<tool_call>{call}</tool_call>")
}

/// The weather, from a host that echoes the secret.
fn echo_secret(request: &Request) -> Reply {
    let body = json!({"temp": 26, "sky": "晴", "you": request.header("authorization"), "key": SECRET});
    Reply::json(200, &body).header("x-echo", SECRET)
}

pub(crate) fn error_message(response: &ApiResponse) -> String {
    assert_eq!(response.status, 400);
    response.json()["error"]["message"].as_str().unwrap().to_owned()
}

async fn list_tools(app: &Client, agent: &str) -> Vec<Value> {
    let answer = app.send("GET", "/api/tools", &[("x-agent-id", agent)], "").await.ok();
    answer["tools"].as_array().unwrap().clone()
}

async fn list_executions(app: &Client) -> Vec<Value> {
    app.get("/api/admin/executions").await.ok()["executions"].as_array().unwrap().clone()
}

fn successes(turn: &Transcript) -> Vec<bool> {
    turn.events_of("tool_result").iter().map(|result| result["ok"] == true).collect()
}

#[tokio::test]
async fn f132_new_custom_tool_runs_and_hides_its_secret() {
    let log = MemoryLog::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).with_writer(log.clone()).finish();
    let log_guard = tracing::subscriber::set_default(subscriber);
    let app = CustomToolApp::start().await;
    app.host.respond_with(echo_secret);
    let (tool, agent) = app.create_tool_and_agent(&json!({})).await;
    let arguments = json!({"city": "北京"});
    let text = app.run_text_call(&agent, &arguments).await;
    let native = Completion::new().call(0, "c1", "weather", &arguments.to_string()).finish("tool_calls").done();
    app.model.queue_replies([native.reply(), Completion::of(["晴。"])]);
    let turn = app.chat(&json!({"message": "天气？", "agentId": agent})).await;
    assert_eq!((turn.content().as_str(), successes(&turn)), ("晴。", vec![true]));
    let messages = app.last_messages();
    for read in [&text, messages.last().unwrap()["content"].as_str().unwrap()] {
        assert!(read.contains(r#"{"temp":26,"sky":"晴","you":"Bearer [hidden]","key":"[hidden]"}"#), "{read}");
    }
    for request in app.host.requests() {
        assert_eq!((&*request.method, &*request.path), ("GET", "/v1/%E5%8C%97%E4%BA%AC/now"));
        assert_eq!(request.header("authorization"), format!("Bearer {SECRET}"));
    }
    let rows = list_executions(&app).await;
    let row = json!(["weather", {"city": "北京"}, true]);
    let shown: Vec<Value> = rows.iter().map(|row| json!([row["tool"], row["arguments"], row["ok"]])).collect();
    assert_eq!(shown, [row.clone(), row]);
    let conversation = app.conversation(&turn.conversation_id()).await;
    let stored = app.get(&format!("/api/admin/tools/{tool}")).await.ok();
    drop(log_guard);
    let output = format!("{text}{messages:?}{rows:?}{turn:?}{conversation}{stored}{}", log.text());
    assert!(!output.contains("7k3z") && !output.contains(&SECRET.replace('/', "%2F")));
}

#[tokio::test]
async fn f122_tool_secret_is_in_no_recording() {
    let folder = TempDir::new().unwrap();
    let app = TestApp::start_with(&[TOOL_SETTINGS[1], ("RECORD_TURNS", folder.path().to_str().unwrap())]).await;
    app.model.queue_replies([Completion::of([format!("{SECRET}？")])]);
    app.send_message("一").await;
    let recording = fs::read_to_string(list_recordings(folder.path()).remove(0)).unwrap();
    assert!(recording.contains("[key]") && !recording.contains("7k3z"), "{recording}");
}

#[tokio::test]
async fn agents_use_enabled_tools_with_enabled_bindings() {
    let app = CustomToolApp::start().await;
    let (tool, agent) = app.create_tool_and_agent(&json!({})).await;
    let names = async |agent: &str| -> Vec<Value> {
        list_tools(&app, agent).await.into_iter().map(|tool| tool["name"].clone()).collect()
    };
    assert_eq!(names(&agent).await, ["weather"]);
    assert_eq!(names("default").await, ["search_web", "read_url", "calculator", "current_time"]);
    let (tool, agent_path) = (format!("/api/admin/tools/{tool}"), format!("/api/admin/agents/{agent}"));
    app.put(&tool, &weather_tool(&app.host, &json!({"enabled": false}))).await.ok();
    assert_eq!(names(&agent).await, Vec::<Value>::new());
    app.put(&tool, &weather_tool(&app.host, &json!({}))).await.ok();
    let bindings = json!([{"tool": "weather", "enabled": false}, {"tool": "calculator"}]);
    app.put(&agent_path, &json!({"name": "天气", "tools": bindings})).await.ok();
    assert_eq!(names(&agent).await, ["calculator"]);
    assert!(app.run_text_call(&agent, &json!({"city": "a"})).await.contains("没有名为 weather 的工具"));
    let bindings = json!([{"tool": "calculator"}, {"tool": "weather", "config": {"unit": "K"}}]);
    app.put(&agent_path, &json!({"name": "天气", "tools": bindings})).await.ok();
    let listed = list_tools(&app, &agent).await;
    assert_eq!(listed[1]["parameters"]["properties"], json!({"city": {"type": "string"}}), "the model chooses no unit");
    app.host.queue_replies([Reply::json(200, &json!({}))]);
    app.run_text_call(&agent, &json!({"city": "a"})).await;
    assert_eq!(app.host.requests()[0].path, "/v1/a/now?unit=K");
    assert_eq!(app.delete(&tool).await.status, 204);
    assert_eq!(names(&agent).await, ["calculator"], "the agent goes on without it");
    assert_eq!(app.get(&tool).await.status, 404);
}

#[tokio::test]
async fn tool_rate_limit_is_enforced() {
    let app = CustomToolApp::start().await;
    let (_, agent) = app.create_tool_and_agent(&json!({"rateLimit": "1/3600s"})).await;
    app.host.queue_replies([Reply::json(200, &json!({"temp": 26}))]);
    assert!(app.run_text_call(&agent, &json!({"city": "a"})).await.contains(r#"{"temp":26}"#));
    assert!(app.run_text_call(&agent, &json!({"city": "b"})).await.contains("调用太频繁，请稍后再试"));
    assert_eq!(list_executions(&app).await[0]["error"], "rate_limited");
    assert_eq!(app.host.requests().len(), 1);
}

#[tokio::test]
async fn response_transform_selects_the_result() {
    let app = CustomToolApp::start().await;
    let transform = json!({"jmespath": "days[0].{high: temp.max, sky: sky}"});
    let (_, agent) = app.create_tool_and_agent(&json!({"responseTransform": transform})).await;
    let answer = json!({"days": [{"temp": {"max": 31, "min": 20}, "sky": "晴", "noise": "x".repeat(99)}]});
    app.host.queue_replies([
        Reply::json(200, &answer),
        Reply::json(200, &json!({})),
        Reply::json(503, &json!({"e": "忙"})),
    ]);
    app.host.respond_with(|_| Reply::json(503, &json!({"e": "忙"})));
    let read = app.run_text_call(&agent, &json!({"city": "a"})).await;
    assert!(read.contains(r#"{"high":31,"sky":"晴"}"#) && !read.contains("noise"), "{read}");
    assert!(app.run_text_call(&agent, &json!({"city": "b"})).await.contains("返回的内容里没有需要的数据"));
    assert!(app.run_text_call(&agent, &json!({"city": "c"})).await.contains(r#"服务返回状态 503\n{\"e\":\"忙\"}"#));
}

#[tokio::test]
async fn f130_f131_arguments_cannot_escape_their_url_part() {
    let app = CustomToolApp::start().await;
    let (_, agent) = app.create_tool_and_agent(&json!({})).await;
    app.host.respond_with(|_| Reply::json(200, &json!({})));
    for (city, path) in [
        ("../../admin?x=1#", "/v1/..%2F..%2Fadmin%3Fx%3D1%23/now"),
        ("@evil.example", "/v1/%40evil.example/now"),
        ("a\r\nX-Role: admin", "/v1/a%0D%0AX-Role%3A%20admin/now"),
        ("{unit}%2e", "/v1/%7Bunit%7D%252e/now"),
    ] {
        app.run_text_call(&agent, &json!({"city": city, "unit": "&city=b"})).await;
        let request = app.host.requests().pop().unwrap();
        assert_eq!(request.path, format!("{path}?unit=%26city%3Db"), "{city}");
        assert!(!request.headers.contains_key("x-role") && request.header("host").starts_with("127.0.0.1:"));
    }
    let sent = app.host.requests().len();
    for arguments in [json!({"city": ".."}), json!({"city": ""}), json!({}), json!({"city": {"a": 1}})] {
        let read = app.run_text_call(&agent, &arguments).await;
        assert!(read.contains("参数不符合要求"), "{arguments}: {read}");
    }
    assert_eq!(app.host.requests().len(), sent);
}

#[tokio::test]
async fn f132_test_call_shows_exchange_without_secret() {
    let app = CustomToolApp::start().await;
    let (tool, _) = app.create_tool_and_agent(&json!({"enabled": false, "rateLimit": "1/3600s"})).await;
    let test = format!("/api/admin/tools/{tool}/test");
    let arguments = json!({"arguments": {"city": "b"}});
    app.host.queue_replies([echo_secret(&Request {
        method: String::new(),
        path: String::new(),
        headers: [].into(),
        body: vec![],
    })]);
    let shown = app.post(&test, &arguments).await.ok();
    assert_eq!(shown["request"]["url"], format!("{}/v1/b/now", app.host.url()));
    assert_eq!(shown["request"]["headers"]["authorization"], "[hidden]");
    assert_eq!(
        (&shown["response"]["status"], &shown["response"]["headers"]["x-echo"]),
        (&json!(200), &json!("[hidden]"))
    );
    assert_eq!(shown["content"], r#"{"temp":26,"sky":"晴","you":"","key":"[hidden]"}"#);
    assert!(!shown.to_string().contains("7k3z") && shown.get("error").is_none(), "{shown}");
    app.host.queue_replies([Reply::json(404, &json!({"no": SECRET}))]);
    let failed = app.post(&test, &arguments).await.ok();
    assert_eq!((&failed["response"]["status"], &failed["error"]["code"]), (&json!(404), &json!("failed")));
    assert_eq!(failed["content"], "工具调用失败：服务返回状态 404\n{\"no\":\"[hidden]\"}");
    let unfit = app.post(&test, &json!({})).await.ok();
    assert_eq!((&unfit["request"], &unfit["error"]["code"]), (&Value::Null, &json!("invalid_arguments")));
    assert_eq!(app.host.requests().len(), 2);
    assert_eq!(error_message(&app.post(&test, &json!({"arguments": 5})).await), "`arguments` must be an object");
    assert_eq!(app.post("/api/admin/tools/nobody/test", &arguments).await.status, 404);
    let sum = json!({"name": "sum", "description": "Adds.", "endpoint": {"urlTemplate": "internal://calculator"}});
    let sum = create(&app, "tools", &sum).await;
    let shown = app.post(&format!("/api/admin/tools/{sum}/test"), &json!({"arguments": {"expression": "1+2"}})).await;
    let content = r#"{"expression":"1+2","result":"3","exact":true}"#;
    assert_eq!(shown.ok(), json!({"request": null, "response": null, "content": content}));
}

#[tokio::test]
async fn f126_f129_private_tool_hosts_are_refused_by_default() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let database = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, dynoxide::Database::memory().unwrap()));
    let database = ("AWS_ENDPOINT_URL_DYNAMODB", database.as_str());
    let host = FakeEndpoint::start_permissive().await;
    let open = TestApp::start_with(&[&TOOL_SETTINGS[..], &[database]].concat()).await;
    let tool = create(&open, "tools", &weather_tool(&host, &json!({}))).await;
    let agent = create(&open, "agents", &json!({"name": "a", "tools": [{"tool": "weather"}]})).await;

    let app = TestApp::start_with(&[TOOL_SETTINGS[1], database, ("ALLOW_PRIVATE_UPSTREAMS", "yes")]).await;
    app.model.queue_replies([Completion::of([text_call(&json!({"city": "a"}))]), Completion::of(["好。"])]);
    let turn = app.chat(&json!({"message": "天气？", "agentId": agent})).await;
    assert_eq!((turn.content().as_str(), successes(&turn)), ("好。", vec![false]));
    assert!(app.model.wait_for_request(2).await.last_message().contains("工具的地址不允许访问"));
    let tried = app.post(&format!("/api/admin/tools/{tool}/test"), &json!({"arguments": {"city": "a"}})).await.ok();
    assert_eq!((&tried["request"], &tried["error"]["code"]), (&Value::Null, &json!("failed")));
    for url in [host.url().as_str(), "https://10.0.0.1", "https://169.254.169.254", "http://api.example.com"] {
        let mut definition = weather_tool(&host, &json!({"name": "other"}));
        definition["endpoint"]["urlTemplate"] = format!("{url}/{{city}}").into();
        let refused = error_message(&app.post("/api/admin/tools", &definition).await);
        assert!(refused.starts_with("`endpoint.urlTemplate` must be"), "{refused}");
    }
    assert!(host.requests().is_empty());
}

#[tokio::test]
async fn invalid_tool_is_rejected_and_changes_nothing() {
    let app = CustomToolApp::start().await;
    let (tool, agent) = app.create_tool_and_agent(&json!({})).await;
    for (more, message) in [
        (json!({"name": "calculator"}), "`name` must be another one: a tool has it already"),
        (json!({"name": "weather"}), "`name` or `id` is taken by another one"),
        (json!({"name": "wie das Wetter"}), "`name` must be 1 to 64 letters, digits, `_` and `-`"),
        (json!({"name": "b", "description": ""}), "`description` must be"),
        (json!({"name": "b", "rateLimit": "often"}), "`rateLimit` must be N/Ws such as 20/60s"),
        (json!({"name": "b", "owner": "ada"}), "`owner` is not known here"),
    ] {
        let refused = error_message(&app.post("/api/admin/tools", &weather_tool(&app.host, &more)).await);
        assert!(refused.starts_with(message), "{refused}");
    }
    let other = create(&app, "tools", &weather_tool(&app.host, &json!({"name": "other"}))).await;
    let taken = app.put(&format!("/api/admin/tools/{other}"), &weather_tool(&app.host, &json!({}))).await;
    assert_eq!(error_message(&taken), "`name` or `id` is taken by another one");
    let listed = app.get("/api/admin/tools").await.ok();
    let names: Vec<&Value> = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["weather", "other"]);
    assert_eq!(app.get(&format!("/api/admin/tools/{tool}")).await.ok(), listed["tools"][0]);
    let definition = weather_tool(&app.host, &json!({"name": "b"}));
    assert_eq!(app.put("/api/admin/tools/nobody", &definition).await.status, 404);
    assert_eq!(app.delete("/api/admin/tools/nobody").await.status, 404);
    let unknown = json!({"name": "天气", "tools": [{"tool": "weather"}, {"tool": "nobody"}]});
    let refused = error_message(&app.put(&format!("/api/admin/agents/{agent}"), &unknown).await);
    let names = "search_web, read_url, calculator, current_time, weather, other";
    assert_eq!(refused, format!("`tools[1].tool` names no tool; there are: {names}"));
}
