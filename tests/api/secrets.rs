//! Keys and users' text do not leak, even when upstreams fail.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::{ApiResponse, Completion, FakeTavily, MODEL_KEY, Reply, SEARCH_KEY, TestApp};
use tracing_subscriber::fmt::MakeWriter;

use crate::search_call;

/// A user message that no log may hold.
const USER_TEXT: &str = "canary-words-of-a-user";

/// A log writer that keeps everything in memory.
#[derive(Clone, Default)]
pub(crate) struct MemoryLog(Arc<Mutex<Vec<u8>>>);

impl MemoryLog {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for MemoryLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for MemoryLog {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Upstream responses that hold the keys, as careless endpoints send them.
fn leaking_replies() -> Vec<Reply> {
    let body =
        json!({ "error": { "message": format!("key {MODEL_KEY} and {SEARCH_KEY} refused"), "code": MODEL_KEY } });
    let failures = [400, 401, 403, 404, 429, 500]
        .map(|status| Reply::json(status, &body).header("retry-after", "3600").header("x-echo", MODEL_KEY));
    let inside = Completion::new().text("半").data(&body.to_string()).reply();
    let broken = Completion::new().text("半").data(&format!("{{{MODEL_KEY}")).reply();
    let redirect = Reply::status(302).header("location", &format!("http://127.0.0.1:9/?key={MODEL_KEY}"));
    failures.into_iter().chain([inside, broken, redirect]).collect()
}

/// The headers and the body of a response.
fn response_text(answer: &ApiResponse) -> String {
    format!("{:?}{}", answer.headers, answer.text())
}

/// Everything that the product sends to clients while its upstreams fail.
async fn collect_responses() -> String {
    let mut output = String::new();
    for leak in leaking_replies() {
        let app = TestApp::start().await;
        app.model.respond_with(move |_| leak.clone());
        output += &Value::from(app.send_message(USER_TEXT).await.0).to_string();
        output += &response_text(&app.chat_once(&json!({ "message": USER_TEXT })).await);
    }
    for status in [400, 401, 429, 432, 500] {
        let app = TestApp::start().await;
        app.search.respond_with(move |_| FakeTavily::error_reply(status, &format!("key {SEARCH_KEY} refused")));
        app.model.queue_replies([Completion::of([search_call(USER_TEXT)]), Completion::of(["好。"])]);
        let turn = app.send_message(USER_TEXT).await;
        output += &app.conversation(&turn.conversation_id()).await.to_string();
        output += &Value::from(turn.0).to_string();
        assert!(!app.model.wait_for_request(2).await.body.to_string().contains(SEARCH_KEY), "the model gets no key");
    }
    let app = TestApp::start().await;
    for path in ["/", "/healthz", "/api/models", "/api/tools", "/api/conversations", "/nothing"] {
        output += &response_text(&app.get(path).await);
    }
    output
}

#[tokio::test]
async fn f122_f124_keys_and_user_text_never_leak() {
    let log = MemoryLog::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).with_writer(log.clone()).finish();
    // The runtime has one thread, so this subscriber receives all logs of the product.
    let log_guard = tracing::subscriber::set_default(subscriber);
    let output = collect_responses().await;
    tracing::info!("the log is read");
    drop(log_guard);
    let log = log.text();
    assert!(log.contains("the log is read"));
    for key in [MODEL_KEY, SEARCH_KEY] {
        assert!(!output.contains(key), "an answer holds a key");
        assert!(
            !log.contains(key),
            "the log holds a key: {:?}",
            log.lines().filter(|line| line.contains(key)).collect::<Vec<_>>()
        );
    }
    assert!(!log.contains(USER_TEXT), "the log holds what a user wrote");
}
