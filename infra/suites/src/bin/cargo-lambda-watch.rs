//! The function under `cargo lambda watch`: its function URL streams an answer while the model still writes it.
#![expect(clippy::unwrap_used, reason = "what a suite expects and does not find ends it")]

use std::net::Ipv4Addr;

use runtime_api::Function;
use serde_json::{Value, json};
use suites::{Tool, World, events, free_port, given, only, shown};
use support::{Completion, Gate, within};
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let world = World::start().await;
    let address = free_port(Ipv4Addr::LOCALHOST);
    let mut command = Command::new("cargo");
    command.args(["lambda", "watch", "--only-lambda-apis", "--disable-cors"]);
    command.args(["-A", "127.0.0.1", "-P", &address.port().to_string()]);
    let mut watch = Tool::start(&mut command);
    watch.listens_at(address).await;
    let settings = world.settings();
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let function = Function::start(given("CHAT"), &format!("http://{address}/.rt/chat"), settings);

    let url = format!("http://{address}/lambda-url/chat");
    progressive(&world, &url).await;
    whole(&url).await;
    drop(function);
    watch.stop().await;
}

async fn progressive(world: &World, url: &str) {
    let gate = Gate::new();
    world.model.replies([Completion::new().text("一").wait(&gate).text("二").end()]);
    let request = transport::client().unwrap().post(format!("{url}/api/chat")).json(&json!({ "message": "数一数" }));
    let mut answer = within("an answer to begin", request.send()).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream; charset=utf-8");
    let mut read = String::new();
    while !read.contains('一') {
        let chunk = within("the first words", answer.chunk()).await.unwrap().unwrap();
        read += std::str::from_utf8(&chunk).unwrap();
    }
    shown("the first words arrive while the model waits");
    gate.open();
    while let Some(chunk) = within("the rest", answer.chunk()).await.unwrap() {
        read += std::str::from_utf8(&chunk).unwrap();
    }
    assert_eq!(only(&events(&read), "done")["finishReason"], "stop");
    shown("the rest follows, to the end of the stream");
}

async fn whole(url: &str) {
    let http = transport::client().unwrap();
    let health = within("health", http.get(format!("{url}/healthz")).send()).await.unwrap();
    assert_eq!(health.headers()["content-type"], "application/json");
    let body: Value = health.json().await.unwrap();
    assert_eq!(body["status"], "ok");
    let missing = within("an unknown path", http.get(format!("{url}/nowhere")).send()).await.unwrap();
    assert_eq!(missing.status(), 404);
    shown("answers without a stream have status and body");
}
