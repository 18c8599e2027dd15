//! The function in the Runtime Interface Emulator: sends invocations and checks the runtime's responses.
#![expect(clippy::unwrap_used, reason = "what a suite expects and does not find ends it")]

use std::collections::HashMap;
use std::net::SocketAddr;

use runtime_api::{HttpEvent, Prelude};
use serde_json::{Value, json};
use suites::{FakeEnvironment, Tool, events, only, print_passed, required_variable};
use support::Completion;
use tokio::process::Command;

/// The emulator running the function. It handles one invocation at a time.
struct Emulator {
    tool: Tool,
    address: SocketAddr,
    http: platform::transport::Client,
}

impl Emulator {
    async fn start(settings: HashMap<String, String>) -> Self {
        let started = Tool::start_listening(|[address, runtime]| {
            let mut command = Command::new(required_variable("RIE"));
            command.args(["--runtime-interface-emulator-address", &address.to_string()]);
            command.args(["--runtime-api-address", &runtime.to_string()]).arg(required_variable("CHAT"));
            command.env_clear().env("AWS_LAMBDA_FUNCTION_TIMEOUT", "300").envs(&settings);
            command
        });
        let (tool, [address, _]) = started.await;
        Self { tool, address, http: platform::transport::build_client().unwrap() }
    }

    async fn invoke(&self, event: impl ToString) -> Vec<u8> {
        let url = format!("http://{}/2015-03-31/functions/function/invocations", self.address);
        let answer = self.http.post(&url).body(event.to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.bytes().await.unwrap().to_vec()
    }

    /// Invokes a streaming function; returns status and body.
    async fn invoke_streaming(&self, event: impl ToString) -> (u16, String) {
        let answer = self.invoke(event).await;
        let (prelude, body) = Prelude::split(&answer).unwrap();
        assert!(!prelude.header("x-request-id").is_empty());
        (prelude.status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn invoke_buffered(&self, event: impl ToString) -> Value {
        serde_json::from_slice(&self.invoke(event).await).unwrap()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    check_streaming().await;
    check_buffering().await;
    check_deployed_settings().await;
}

async fn check_streaming() {
    let world = FakeEnvironment::start().await;
    world.model.queue_replies([Completion::of(["你", "好"]), Completion::of(["再见"])]);
    let emulator = Emulator::start(world.settings()).await;

    let (status, body) =
        emulator.invoke_streaming(HttpEvent::post("/api/chat", &json!({ "message": "打个招呼" }))).await;
    let events = events(&body);
    assert_eq!((status, &only(&events, "done")["finishReason"]), (200, &json!("stop")));
    print_passed("a turn comes as prelude, delimiter and event stream");

    let path = format!("/api/conversations/{}", only(&events, "start")["conversationId"].as_str().unwrap());
    let (status, body) = emulator.invoke_streaming(HttpEvent::get(&path)).await;
    let stored: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &stored["messages"][1]["content"]), (200, &json!("你好")));
    print_passed("the next invocation of the same process finds it stored");

    let once = HttpEvent::post("/api/chat", &json!({ "message": "走了", "stream": false }));
    let (status, body) = emulator.invoke_streaming(once).await;
    let document: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &document["content"]), (200, &json!("再见")));
    print_passed("an answer without a stream has its body");

    assert_eq!(emulator.invoke_streaming("{}").await.0, 400);
    print_passed("an event of another shape is a bad request");
    emulator.tool.stop().await;
}

async fn check_buffering() {
    let world = FakeEnvironment::start().await;
    world.model.queue_replies([Completion::of(["你好"])]);
    let mut settings = world.settings();
    settings.insert("RESPONSE_MODE".to_owned(), "buffer".to_owned());
    let emulator = Emulator::start(settings).await;
    let answer = emulator.invoke_buffered(HttpEvent::post("/api/chat", &json!({ "message": "打个招呼" }))).await;
    assert_eq!(answer["statusCode"], 200);
    assert_eq!(only(&events(answer["body"].as_str().unwrap()), "done")["finishReason"], "stop");
    print_passed("a buffered answer is one document");
    assert_eq!(emulator.invoke_buffered("[]").await["statusCode"], 400);
    emulator.tool.stop().await;
}

/// Runs the function with the template's environment, except for AWS: the fake servers have other addresses, and the
/// model's key is set directly.
async fn check_deployed_settings() {
    let world = FakeEnvironment::start().await;
    world.model.queue_replies([Completion::of(["你好"])]);
    let key = world.new_key("小王").await;
    let given: HashMap<String, String> =
        serde_json::from_slice(&std::fs::read(required_variable("ENVIRONMENT")).unwrap()).unwrap();
    let mut settings = world.settings();
    settings.retain(|name, _| !name.starts_with("AUTH"));
    let own: HashMap<_, _> = given.into_iter().filter(|(name, _)| !settings.contains_key(name)).collect();
    settings.extend(own);
    settings.retain(|name, _| name != "DATA_TABLE" && name != "EPHEMERAL_TABLE");
    assert_eq!((settings["AUTH"].as_str(), settings["TURN_SECONDS"].as_str()), ("api_key", "300"));
    let emulator = Emulator::start(settings).await;

    assert_eq!(emulator.invoke_streaming(HttpEvent::get("/")).await.0, 200);
    let chat = HttpEvent::post("/api/chat", &json!({ "message": "打个招呼" }));
    assert_eq!(emulator.invoke_streaming(&chat).await.0, 401, "nobody chats without a key");
    let (status, body) = emulator.invoke_streaming(chat.header("x-api-key", &key)).await;
    assert_eq!((status, &only(&events(&body), "done")["finishReason"]), (200, &json!("stop")));
    emulator.tool.stop().await;
    print_passed("with the template's environment it serves the page, asks for a key, and chats");
}
