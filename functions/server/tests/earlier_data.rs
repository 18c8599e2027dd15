//! A server on a data folder that the first version of the product wrote, with the demo model.
//!
//! `data/earliest_schema.sqlite` has three conversations of the user `ann`, a tool, an agent and an API key. Its
//! ephemeral items, such as the idempotency key `one`, expire; no test uses them.
#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends the test")]

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use platform::settings::Settings;
use serde_json::{Value, json};
use server::{Data, Options, Server};
use tempfile::TempDir;
use tokio::net::TcpListener;

const DATABASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/earliest_schema.sqlite");

/// The API key of `ann`, valid until November 2036.
const KEY: &str = "lc_01M82EPN83033MZYFSPBHQJ9NZ_92583361c3663152f6696325599b52a712a09bcb6d3dfcb00e729f3b6eb17b37";

/// Two turns with searches; the second answer was regenerated.
const NEWS: &str = "01M82EMPVG3A2EZH3B7CFRCSPT";
const HELLO: &str = "01M82ENYFW5MQJY78HDZWGH0NB";
/// The conversation of the AI SDK's chat `chat-1`.
const CHAT: &str = "01M82EP6JEN56MMS1E2MQRFVKX";

/// The bodies of the requests that the fake model received.
type Prompts = Arc<Mutex<Vec<Value>>>;

/// A server on its own copy of the data, with a model that always answers `晴。`.
struct Product {
    server: Server,
    client: platform::transport::Client,
    prompts: Prompts,
    _folder: TempDir,
}

impl Product {
    async fn start(auth: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::copy(DATABASE, folder.path().join("dynamodb.sqlite")).unwrap();
        let prompts = Prompts::default();
        let model = start_model(Arc::clone(&prompts)).await;
        let settings = [("AUTH", auth), ("OPENAI_BASE_URL", &model), ("OPENAI_MODEL", "m"), ("OPENAI_API_KEY", "k")];
        let server = Box::pin(Server::start(options(folder.path(), Settings::from_pairs(settings)))).await.unwrap();
        Self { server, client: platform::transport::build_client().unwrap(), prompts, _folder: folder }
    }

    /// Sends a request of `ann`; returns the status and the body.
    async fn send(&self, method: &str, path: &str, body: Option<Value>, key: &str) -> (u16, String) {
        let url = format!("{}{path}", self.server.url());
        let request = self.client.request(method.parse().unwrap(), url).header("x-user-id", "ann");
        let request = if key.is_empty() { request } else { request.header("x-api-key", key) };
        let response = body.into_iter().fold(request, |request, body| request.json(&body)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        let (status, text) = self.send("GET", path, None, "").await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> String {
        let (status, text) = self.send("POST", path, Some(body), "").await;
        assert_eq!(status, 200, "{text}");
        text
    }

    async fn messages(&self, conversation: &str) -> Vec<Value> {
        self.get(&format!("/api/conversations/{conversation}")).await["messages"].as_array().unwrap().clone()
    }

    /// The texts of the last prompt after the system prompt.
    fn last_prompt(&self) -> Vec<String> {
        let prompts = self.prompts.lock().unwrap();
        let messages = prompts.last().unwrap()["messages"].as_array().unwrap();
        messages[1..].iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }
}

fn options(folder: &Path, settings: Settings) -> Options {
    let data = Data::Folder(folder.to_owned());
    Options { host: Ipv4Addr::LOCALHOST.into(), port: 0, data, dynamodb: None, settings }
}

/// Starts a model on loopback and returns its base URL.
async fn start_model(prompts: Prompts) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new().route("/chat/completions", post(complete)).with_state(prompts);
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

async fn complete(State(prompts): State<Prompts>, Json(prompt): Json<Value>) -> impl IntoResponse {
    prompts.lock().unwrap().push(prompt);
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "晴。" }, "finish_reason": "stop" }] });
    ([(CONTENT_TYPE, "text/event-stream")], format!("data: {delta}\n\ndata: [DONE]\n\n"))
}

fn fields(list: &Value, names: [&str; 2]) -> Vec<Value> {
    list.as_array().unwrap().iter().map(|one| json!([one[names[0]], one[names[1]]])).collect()
}

#[tokio::test]
async fn conversations_and_their_messages_are_listed() {
    let product = Product::start("none").await;
    let listed = product.get("/api/conversations").await;
    let expected = [json!([CHAT, "你好"]), json!([NEWS, "新闻与计算"]), json!([HELLO, "Hello, what is this?"])];
    assert_eq!(fields(&listed["conversations"], ["id", "title"]), expected);
    let messages = product.messages(NEWS).await;
    let roles: Vec<_> = messages.iter().map(|one| json!([one["role"], one["status"]])).collect();
    let (user, assistant) = (json!(["user", "complete"]), json!(["assistant", "complete"]));
    assert_eq!(roles, [user.clone(), assistant.clone(), user, assistant]);
    assert_eq!(
        (&messages[0]["content"], &messages[2]["content"]),
        (&json!("今天的新闻有哪些？"), &json!("请计算 12*34"))
    );
    assert!(messages[1]["content"].as_str().unwrap().starts_with("好的，我查一下。\n\n关于“今天的新闻有哪些？”"));
    assert_eq!(messages[1]["sources"].as_array().unwrap().len(), 3);
    let (hello, chat) = (product.messages(HELLO).await, product.messages(CHAT).await);
    assert_eq!((hello.len(), &hello[0]["content"]), (2, &json!("Hello, what is this?")));
    assert_eq!((chat.len(), &chat[1]["content"]), (2, &json!("你好！想查点什么？直接问我就好。")));
}

#[tokio::test]
async fn new_turn_continues_an_earlier_conversation() {
    let product = Product::start("none").await;
    let body = json!({ "conversationId": NEWS, "message": "还有呢？", "stream": false });
    let answer: Value = serde_json::from_str(&product.post("/api/chat", body).await).unwrap();
    assert_eq!((&answer["content"], &answer["conversationId"]), (&json!("晴。"), &json!(NEWS)));
    let prompt = product.last_prompt();
    assert_eq!((prompt[0].as_str(), prompt.last().unwrap().as_str()), ("今天的新闻有哪些？", "还有呢？"));
    for text in ["请计算 12*34", "关于“请计算 12*34”", "配置真正的联网搜索（演示结果"] {
        assert!(prompt.iter().any(|message| message.contains(text)), "{text}: {prompt:?}");
    }
    assert_eq!(product.messages(NEWS).await.len(), 6);
}

#[tokio::test]
async fn earlier_answer_is_regenerated() {
    let product = Product::start("none").await;
    product.post(&format!("/api/conversations/{NEWS}/regenerate"), json!({})).await;
    assert_eq!(product.last_prompt().last().unwrap(), "请计算 12*34");
    let messages = product.messages(NEWS).await;
    assert_eq!((messages.len(), &messages[3]["content"]), (4, &json!("晴。")));
}

#[tokio::test]
async fn chat_is_found_by_its_id() {
    let product = Product::start("none").await;
    let message = json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": "再说一次" }] });
    let body = json!({ "id": "chat-1", "messages": [message], "trigger": "submit-message" });
    assert!(product.post("/api/ui/chat", body).await.contains(CHAT));
    assert_eq!(product.last_prompt(), ["你好", "你好！想查点什么？直接问我就好。", "再说一次"]);
    assert_eq!(product.messages(CHAT).await.len(), 4);
}

#[tokio::test]
async fn agent_and_tool_are_listed() {
    let product = Product::start("none").await;
    let agents = product.get("/api/admin/agents").await;
    let expected = [json!(["default", "Default"]), json!(["01M82EPN7AK8FTQARN3XTXHGBM", "Short answers"])];
    assert_eq!(fields(&agents["agents"], ["id", "name"]), expected);
    let tools = product.get("/api/admin/tools").await;
    assert_eq!(fields(&tools["tools"], ["id", "name"]), [json!(["01M82EPN6A4G3HM45RHBBFCW0Y", "forecast"])]);
}

/// `GET /api/usage` covers 90 days at most, so that the usage is read from the export.
#[tokio::test]
async fn export_holds_usage_conversations_and_messages() {
    let product = Product::start("none").await;
    let (status, text) = product.send("GET", "/api/me/export", None, "").await;
    assert_eq!(status, 200, "{text}");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).collect::<Vec<_>>();
    let days: Vec<_> =
        of_kind("day").iter().map(|day| json!([day["date"], day["turns"], day["inputTokens"]])).collect();
    assert_eq!(days, [json!(["2026-11-22", 5, 13254])]);
    let ids: Vec<_> = of_kind("conversation").iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, [CHAT, NEWS, HELLO]);
    let superseded = of_kind("message").iter().filter(|message| message["aside"] == true).count();
    assert_eq!((of_kind("message").len(), superseded), (9, 1));
    assert_eq!(rows.last().unwrap()["kind"], "end");
}

#[tokio::test]
async fn earlier_key_is_valid() {
    let product = Product::start("api_key").await;
    let (status, text) = product.send("GET", "/api/conversations", None, KEY).await;
    assert_eq!(status, 200, "{text}");
    for key in ["", &KEY.replace("lc_01", "lc_02"), &KEY.replace("_92", "_93")] {
        assert_eq!(product.send("GET", "/api/conversations", None, key).await.0, 401, "{key}");
    }
}
