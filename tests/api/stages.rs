//! The log of a turn's stages, which a developer watches with `RUST_LOG=info`.

use serde_json::json;
use support::{Completion, MODEL_KEY, SEARCH_KEY, TestApp};
use tracing::Level;

use crate::search_call;
use crate::secrets::MemoryLog;

/// The stages of a turn in the log, each with its fields; the lines of other targets are left out.
fn stages(log: &MemoryLog) -> Vec<String> {
    let lines = log.text();
    let stages = lines.lines().filter_map(|line| line.split_once(" stages: ").map(|(_, stage)| stage.to_owned()));
    stages.collect()
}

/// The message of each stage.
fn names(stages: &[String]) -> Vec<&str> {
    let names =
        ["turn accepted", "model called", "first delta", "tool called", "tool finished", "turn stored", "turn ended"];
    stages.iter().map(|stage| names.into_iter().find(|name| stage.starts_with(name)).unwrap_or(stage)).collect()
}

async fn logged(level: Level, chat: impl AsyncFnOnce(&TestApp)) -> MemoryLog {
    let log = MemoryLog::default();
    let lines = tracing_subscriber::fmt().with_ansi(false).with_max_level(level).with_writer(log.clone()).finish();
    // The runtime has one thread, so this subscriber receives all logs of the product.
    let guard = tracing::subscriber::set_default(lines);
    let app = TestApp::start().await;
    let answer = Completion::new().thinking("canary-thought").text("canary-").text("answer").end();
    app.model.queue_replies([Completion::of([search_call("canary-query")]), answer]);
    chat(&app).await;
    drop(guard);
    log
}

#[tokio::test]
async fn f122_stages_of_turn_are_logged_without_text() {
    let log = logged(Level::INFO, async |app| {
        let turn = app.send_message("canary-question").await;
        assert_eq!(turn.content(), "canary-answer");
    })
    .await;
    let found = stages(&log);
    let expected = [
        "turn accepted",
        "model called",
        "tool called",
        "tool finished",
        "model called",
        "first delta",
        "turn stored",
        "turn ended",
    ];
    assert_eq!(names(&found), expected, "{found:#?}");
    assert!(found[2].contains(r#"call=1 tool="search_web""#), "{}", found[2]);
    assert!(found[3].contains(r#"call=1 tool="search_web" ok=true cached=false"#), "{}", found[3]);
    assert!(found[7].contains(r#"end="answered" replies=2 calls=1"#), "{}", found[7]);
    let text = log.text();
    assert!(text.lines().filter(|line| line.contains(" stages: ")).all(|line| line.contains("turnId=")));
    for canary in ["canary", MODEL_KEY, SEARCH_KEY] {
        assert!(!text.contains(canary), "{text}");
    }
}

#[tokio::test]
async fn stages_of_stateless_turn_are_logged() {
    let log = logged(Level::INFO, async |app| {
        let request = json!({ "model": "openai", "messages": [{ "role": "user", "content": "canary" }] });
        app.post("/v1/chat/completions", &request).await.ok();
    })
    .await;
    let found = stages(&log);
    let expected =
        ["turn accepted", "model called", "tool called", "tool finished", "model called", "first delta", "turn ended"];
    assert_eq!(names(&found), expected, "{found:#?}");
}

#[tokio::test]
async fn stages_are_not_logged_by_default() {
    let log = logged(Level::WARN, async |app| {
        app.send_message("问").await;
    })
    .await;
    assert_eq!(stages(&log), Vec::<String>::new());
}
