//! Keys and users' text do not leak, even when upstreams fail.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::{Answer, Completion, FakeTavily, MODEL_KEY, Reply, SEARCH_KEY, TestApp};
use tracing_subscriber::fmt::MakeWriter;

use crate::call;

/// A user message that no log may hold.
const WORDS: &str = "canary-words-of-a-user";

/// A log writer that keeps everything in memory.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Upstream responses that hold the keys, as careless endpoints send them.
fn leaks() -> Vec<Reply> {
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
fn told(answer: &Answer) -> String {
    format!("{:?}{}", answer.headers, answer.text())
}

/// Everything that the product sends to clients while its upstreams fail.
async fn everything_said() -> String {
    let mut said = String::new();
    for leak in leaks() {
        let app = TestApp::start().await;
        app.model.answer(move |_| leak.clone());
        said += &Value::from(app.ask(WORDS).await.0).to_string();
        said += &told(&app.chat_once(&json!({ "message": WORDS })).await);
    }
    for status in [400, 401, 429, 432, 500] {
        let app = TestApp::start().await;
        app.search.answer(move |_| FakeTavily::failure(status, &format!("key {SEARCH_KEY} refused")));
        app.model.replies([Completion::of([call(WORDS)]), Completion::of(["好。"])]);
        let turn = app.ask(WORDS).await;
        said += &app.conversation(&turn.conversation_id()).await.to_string();
        said += &Value::from(turn.0).to_string();
        assert!(!app.model.asked(2).await.body.to_string().contains(SEARCH_KEY), "no key is told to the model");
    }
    let app = TestApp::start().await;
    for path in ["/", "/healthz", "/api/models", "/api/tools", "/api/conversations", "/nothing"] {
        said += &told(&app.get(path).await);
    }
    said
}

#[tokio::test]
async fn f122_f124_keys_and_user_text_never_leak() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).with_writer(log.clone()).finish();
    // The runtime has one thread, so this subscriber receives all logs of the product.
    let listening = tracing::subscriber::set_default(subscriber);
    let said = everything_said().await;
    tracing::info!("the log is read");
    drop(listening);
    let log = log.text();
    assert!(log.contains("the log is read"));
    for key in [MODEL_KEY, SEARCH_KEY] {
        assert!(!said.contains(key), "an answer holds a key");
        assert!(
            !log.contains(key),
            "the log holds a key: {:?}",
            log.lines().filter(|line| line.contains(key)).collect::<Vec<_>>()
        );
    }
    assert!(!log.contains(WORDS), "the log holds what a user wrote");
}
