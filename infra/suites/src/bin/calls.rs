//! Calls all routes of the function, and writes the DynamoDB permissions that they use as JSON to the file that `CALLS`
//! names.
#![expect(clippy::unwrap_used, reason = "what a suite expects and does not find ends it")]

use std::collections::BTreeMap;
use std::time::Duration;

use runtime_api::{Function, HttpEvent, RuntimeApi};
use serde_json::{Value, json};
use suites::{FakeEnvironment, PermissionRecorder, events, only, print_passed, required_variable};
use support::{Completion, Gate};

const INVOCATION_TIME: Duration = Duration::from_mins(5);

/// The function and an API key.
struct Caller {
    api: RuntimeApi,
    key: String,
    _function: Function,
}

impl Caller {
    async fn send(&self, event: HttpEvent) -> (u16, String) {
        let event = event.header("x-api-key", &self.key);
        let mut answer = self.api.invoke(&event, INVOCATION_TIME).answer().await.expect_streamed();
        (answer.prelude().await.status, answer.rest().await)
    }

    /// Runs a turn with `name` as its idempotency key.
    async fn chat(&self, name: &str, body: &Value) -> Vec<Value> {
        let (status, body) = self.send(HttpEvent::post("/api/chat", body).header("idempotency-key", name)).await;
        assert_eq!(status, 200, "{body}");
        events(&body)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let world = FakeEnvironment::start().await;
    let recorder = PermissionRecorder::start(&world.database).await;
    let key = world.new_key("小王").await;
    let mut settings = world.settings();
    settings.insert("AUTH".to_owned(), "api_key".to_owned());
    settings.insert("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), recorder.address.clone());
    for budget in ["USER_DAILY_TOKENS", "TOTAL_DAILY_TOKENS", "USER_DAILY_SEARCHES", "TOTAL_DAILY_SEARCHES"] {
        settings.insert(budget.to_owned(), "1000000".to_owned());
    }
    let api = RuntimeApi::start().await;
    let pairs = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let function = Function::start(required_variable("CHAT"), &api.address(), pairs);
    let caller = Caller { api, key, _function: function };

    run_turn_with_log(&world, &caller, &recorder).await;
    call_all_routes(&world, &caller).await;
    let mut calls = BTreeMap::<String, Vec<String>>::new();
    for (action, resource) in recorder.calls() {
        calls.entry(resource).or_default().push(format!("dynamodb:{action}"));
    }
    std::fs::write(required_variable("CALLS"), serde_json::to_vec(&calls).unwrap()).unwrap();
    print_passed(&format!("the calls of all routes are written down: {calls:?}"));
}

/// Runs a turn that lasts until its log is written, so that the end of the log is stored with the answer.
async fn run_turn_with_log(world: &FakeEnvironment, caller: &Caller, recorder: &PermissionRecorder) {
    let gate = Gate::new();
    world.model.queue_replies([Completion::new().text("茶").wait(&gate).text("。").end()]);
    let logged = async {
        recorder.wait_for("BatchWriteItem").await;
        gate.open();
    };
    let question = json!({ "message": "什么好喝？" });
    let (turn, ()) = tokio::join!(caller.chat("long", &question), logged);
    assert_eq!(only(&turn, "done")["finishReason"], "stop");
}

async fn call_all_routes(world: &FakeEnvironment, caller: &Caller) {
    world.model.queue_replies([
        Completion::of([r#"<tool_call>{"tool": "search_web", "query": "茶"}</tool_call>"#]),
        Completion::of(["茶是一种饮料。"]),
        Completion::of(["不客气。"]),
        Completion::of(["不用谢。"]),
        Completion::of(["你好。"]),
        Completion::of(["你好，小王。"]),
    ]);
    let first = json!({ "message": "茶是什么？" });
    let turn = caller.chat("one", &first).await;
    let repeat = caller.chat("one", &first).await;
    assert_eq!(only(&repeat, "start"), only(&turn, "start"), "a repeat is answered from what is stored");
    let id = only(&turn, "start")["conversationId"].as_str().unwrap().to_owned();
    caller.chat("two", &json!({ "message": "谢谢", "conversationId": id })).await;
    let rejected = json!({ "message": "谢谢", "conversationId": "01ARZ3NDEKTSV4RRFFQ69G5FAV" });
    let rejected = HttpEvent::post("/api/chat", &rejected).header("idempotency-key", "three");
    assert_eq!(caller.send(rejected).await.0, 404, "a repeat of what was refused is asked again");

    let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "你好" }] });
    let path = format!("/api/conversations/{id}");
    let rename = HttpEvent::post(&path, &json!({ "title": "茶" }));
    let stateless_request = json!({ "model": "openai", "messages": [{ "role": "user", "content": "你好" }] });
    assert_eq!(caller.send(HttpEvent::post("/v1/chat/completions", &stateless_request)).await.0, 200);
    let routes = [
        (HttpEvent::get("/api/conversations?limit=1"), 200),
        (HttpEvent::get("/api/conversations?q=tea"), 200),
        (HttpEvent::get(&path), 200),
        (rename.method("PATCH"), 200),
        (HttpEvent::post(&format!("{path}/regenerate"), &json!({ "stream": false })), 200),
        (HttpEvent::new("POST", &format!("{path}/stop")), 200),
        (HttpEvent::get(&format!("{path}/stream")).header("last-event-id", "01ARZ3NDEKTSV4RRFFQ69G5FAV-1"), 204),
        (HttpEvent::new("DELETE", &path), 204),
        (HttpEvent::post("/api/ui/chat", &json!({ "id": "a", "message": message })), 200),
        (HttpEvent::get("/api/ui/chat/a/stream"), 204),
        (HttpEvent::get("/api/models"), 200),
        (HttpEvent::get("/api/tools"), 200),
        (HttpEvent::get("/api/usage?days=7"), 200),
        (HttpEvent::get("/api/me/export"), 200),
        (HttpEvent::get("/api/agents"), 200),
        (HttpEvent::get("/v1/models"), 200),
        (HttpEvent::get("/v1/models/agent:default"), 200),
        (HttpEvent::get("/v1/models/nothing"), 404),
        (HttpEvent::get("/api/admin/executions"), 200),
        (HttpEvent::get("/api/admin/agents"), 200),
        (HttpEvent::post("/api/admin/agents", &json!({ "name": "茶" })), 201),
        (HttpEvent::get("/api/admin/agents/default"), 200),
        (HttpEvent::post("/api/admin/agents/default", &json!({ "name": "水" })).method("PUT"), 200),
        (HttpEvent::post("/api/admin/agents/default", &json!({ "name": "酒" })).method("PUT"), 200),
        (HttpEvent::new("DELETE", "/api/admin/agents/default"), 204),
        (HttpEvent::get("/healthz"), 200),
        (HttpEvent::get("/api/admin/tools"), 200),
        (HttpEvent::get("/api/admin/tools/nobody"), 404),
        (HttpEvent::post("/api/admin/tools/nobody", &tool("a")).method("PUT"), 404),
        (HttpEvent::post("/api/admin/tools/nobody/test", &json!({ "arguments": {} })), 404),
        (HttpEvent::new("DELETE", "/api/admin/tools/nobody"), 404),
        (HttpEvent::post("/api/admin/tools", &tool("a")), 201),
        (HttpEvent::post("/api/admin/tools/import", &json!({ "document": pets() })), 200),
        (HttpEvent::get("/api/me"), 200),
        // The last administrator cannot leave.
        (erasure(), 400),
        (HttpEvent::post("/api/admin/keys", &json!({ "user": "小李", "admin": true })), 201),
        (HttpEvent::get("/api/admin/keys"), 200),
        (erasure(), 200),
    ];
    for (event, status) in routes {
        let description = event.to_string();
        assert_eq!(caller.send(event).await.0, status, "{description}");
    }
}

fn erasure() -> HttpEvent {
    HttpEvent::post("/api/me", &json!({ "confirm": "erase" })).method("DELETE")
}

/// A tool that calls no host.
fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Adds.", "endpoint": { "urlTemplate": "internal://calculator" } })
}

/// An `OpenAPI` document with one operation, at a host that is never called.
fn pets() -> Value {
    let pets = json!({ "get": { "operationId": "pets", "summary": "All pets.", "responses": {} } });
    json!({ "openapi": "3.1.0", "servers": [{ "url": "https://api.example.com" }], "paths": { "/pets": pets } })
}
