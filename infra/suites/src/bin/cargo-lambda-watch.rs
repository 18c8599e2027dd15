//! The function under `cargo lambda watch`: its function URL streams an answer while the model still writes it.
#![expect(clippy::unwrap_used, reason = "what a suite expects and does not find ends it")]

use runtime_api::Function;
use serde_json::{Value, json};
use suites::{FakeEnvironment, Tool, events, only, print_passed, required_variable};
use support::{Completion, Gate, with_timeout};
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let world = FakeEnvironment::start().await;
    let started = Tool::start_listening(|[address]| {
        let mut command = Command::new("cargo");
        command.args(["lambda", "watch", "--only-lambda-apis", "--disable-cors"]);
        command.args(["-A", "127.0.0.1", "-P", &address.port().to_string()]);
        command
    });
    let (watch, [address]) = started.await;
    let settings = world.settings();
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let function = Function::start(required_variable("CHAT"), &format!("http://{address}/.rt/chat"), settings);

    let url = format!("http://{address}/lambda-url/chat");
    check_streaming(&world, &url).await;
    check_whole_responses(&url).await;
    drop(function);
    watch.stop().await;
}

async fn check_streaming(world: &FakeEnvironment, url: &str) {
    let gate = Gate::new();
    world.model.queue_replies([Completion::new().text("一").wait(&gate).text("二").end()]);
    let request = platform::transport::build_client()
        .unwrap()
        .post(format!("{url}/api/chat"))
        .json(&json!({ "message": "数一数" }));
    let mut answer = with_timeout("an answer to begin", request.send()).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream; charset=utf-8");
    let mut read = String::new();
    while !read.contains('一') {
        let chunk = with_timeout("the first words", answer.chunk()).await.unwrap().unwrap();
        read += std::str::from_utf8(&chunk).unwrap();
    }
    print_passed("the first words arrive while the model waits");
    gate.open();
    while let Some(chunk) = with_timeout("the rest", answer.chunk()).await.unwrap() {
        read += std::str::from_utf8(&chunk).unwrap();
    }
    assert_eq!(only(&events(&read), "done")["finishReason"], "stop");
    print_passed("the rest follows, to the end of the stream");
}

async fn check_whole_responses(url: &str) {
    let http = platform::transport::build_client().unwrap();
    let health = with_timeout("health", http.get(format!("{url}/healthz")).send()).await.unwrap();
    assert_eq!(health.headers()["content-type"], "application/json");
    let body: Value = health.json().await.unwrap();
    assert_eq!(body["status"], "ok");
    let missing = with_timeout("an unknown path", http.get(format!("{url}/nowhere")).send()).await.unwrap();
    assert_eq!(missing.status(), 404);
    print_passed("answers without a stream have status and body");
}
