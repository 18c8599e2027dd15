//! Keys and what users write stay where they belong, whatever goes wrong.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::{Answer, Completion, FakeTavily, MODEL_KEY, Reply, SEARCH_KEY, TestApp};
use tracing_subscriber::fmt::MakeWriter;

use crate::call;

/// Words of a user that no log may hold.
const WORDS: &str = "canary-words-of-a-user";

/// Everything that is logged while it is in use.
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

/// Upstream answers that hold the keys, as careless endpoints send them.
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

/// An answer's headers and body.
fn told(answer: &Answer) -> String {
    format!("{:?}{}", answer.headers, answer.text())
}

/// All that the product says in a day of faults.
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
async fn f122_f124_keys_are_in_no_answer_and_neither_keys_nor_words_in_any_log() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).with_writer(log.clone()).finish();
    // The runtime has one thread, so everything that the product does is logged here.
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
