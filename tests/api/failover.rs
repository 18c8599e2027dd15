//! Failover before the first token: the fallback model answers.

use serde_json::{Value, json};
use support::{Completion, FakeModel, Gate, MODEL, MODEL_KEY, Reply, TestApp, Transcript};

use crate::call;
use crate::model_faults::{IMPATIENT, failure};
use crate::native::search;

/// The product with three models: `first`, its fallback `backup`, and the fallback of that, `third`.
pub(crate) struct Chain {
    pub(crate) app: TestApp,
    pub(crate) first: FakeModel,
    pub(crate) backup: FakeModel,
    pub(crate) third: FakeModel,
}

/// The tool modes of `first` and of `backup`.
pub(crate) const PATHS: [(&str, &str); 3] = [("prompt", "prompt"), ("native", "native"), ("native", "prompt")];

impl Chain {
    pub(crate) async fn start() -> Self {
        Self::with(&[], PATHS[0]).await
    }

    pub(crate) async fn with(settings: &[(&str, &str)], (tools, behind): (&str, &str)) -> Self {
        let (first, backup, third) = (FakeModel::start().await, FakeModel::start().await, FakeModel::start().await);
        let entry = |name: &str, model: &FakeModel, tools: &str, fallback: Option<&str>| {
            let mut entry = json!({ "name": name, "baseUrl": model.url(), "model": format!("{name}-{MODEL}"),
                "apiKeyVar": "CHAIN_KEY", "tools": tools });
            if let Some(fallback) = fallback {
                entry["fallback"] = fallback.into();
            }
            entry
        };
        let entries = json!([
            entry("first", &first, tools, Some("backup")),
            entry("backup", &backup, behind, Some("third")),
            entry("third", &third, "prompt", None),
        ]);
        let entries = entries.to_string();
        let own = [("MODELS", &*entries), ("CHAIN_KEY", MODEL_KEY), ("DEFAULT_MODEL", "first")];
        let app = TestApp::with(&[&own, settings].concat()).await;
        Self { app, first, backup, third }
    }

    /// Ends the first model's answer with `end` after the client received `text`, and reads the turn to its end.
    pub(crate) async fn broken_after(&self, text: &str, end: impl Fn(Reply) -> Reply) -> Transcript {
        let gate = Gate::new();
        self.first.replies([end(Completion::new().text(text).wait(&gate).reply())]);
        let mut turn = self.app.open(&json!({ "message": "你好" })).await;
        assert_eq!(turn.until("content").await["content"], text);
        gate.open();
        turn.rest().await
    }

    /// The stored answer of a turn.
    pub(crate) async fn stored(&self, turn: &Transcript) -> Value {
        self.app.settled(&turn.conversation_id()).await["messages"][1].clone()
    }
}

pub(crate) fn told(turn: &Transcript) -> Value {
    json!([turn.content(), turn.finish_reason(), turn.end()["models"]])
}

pub(crate) fn overloaded() -> Reply {
    failure(401, "x", "upstream words")
}

#[tokio::test]
async fn f004_fallback_answers_for_an_overloaded_model() {
    let chain = Chain::start().await;
    chain.first.answer(|_| failure(503, "x", "upstream words"));
    chain.backup.replies([Completion::of(["好。"])]);
    let turn = chain.app.ask("你好").await;
    assert_eq!(told(&turn), json!(["好。", "stop", ["backup"]]));
    assert_eq!(turn.0[0]["model"], "first");
    let stored = chain.stored(&turn).await;
    assert_eq!(json!([stored["content"], stored["status"], stored["models"]]), json!(["好。", "complete", ["backup"]]));
    let request = chain.backup.asked(1).await;
    assert_eq!(request.body["model"], format!("backup-{MODEL}"));
    assert_eq!(request.talk(), [("user".to_owned(), "你好".to_owned())]);
}

#[tokio::test]
async fn faults_before_first_token_fail_over_invisibly() {
    let page = || Reply::status(200).header("content-type", "text/html").bytes("<html>upstream words</html>");
    let garbage = || Completion::new().raw("data: {\"choices\": [{]\n\n").reply();
    let faults: [(&str, Reply); 9] = [
        ("f003", failure(429, "insufficient_quota", "upstream words")),
        ("f001", failure(429, "slow", "upstream words").header("retry-after", "3600")),
        ("f005", failure(400, "InvalidParameter", "upstream words")),
        ("f007", failure(401, "x", "upstream words")),
        ("f008", failure(400, "context_length_exceeded", "upstream words")),
        ("f013", page()),
        ("f014", Reply::status(302).header("location", "/")),
        ("f015", Reply::status(200).header("content-type", "text/event-stream")),
        ("f043", garbage()),
    ];
    for paths in PATHS {
        for (row, fault) in faults.clone() {
            let chain = Chain::with(&[], paths).await;
            chain.first.answer(move |_| fault.clone());
            chain.backup.replies([Completion::of(["好。"])]);
            let turn = chain.app.ask("你好").await;
            assert_eq!(told(&turn), json!(["好。", "stop", ["backup"]]), "{row} {paths:?}");
            assert!(!Value::from(turn.0.clone()).to_string().contains("upstream words"));
        }
    }
}

#[tokio::test]
async fn f011_fallback_answers_for_a_model_that_never_starts() {
    let chain = Chain::with(&IMPATIENT, PATHS[0]).await;
    chain.first.answer(|_| Reply::silence());
    chain.backup.replies([Completion::of(["好。"])]);
    assert_eq!(told(&chain.app.ask("你好").await), json!(["好。", "stop", ["backup"]]));
}

#[tokio::test]
async fn f006_filtered_content_does_not_fail_over() {
    let chain = Chain::start().await;
    chain.first.replies([failure(400, "SensitiveContentDetected", "upstream words")]);
    assert_eq!(chain.app.ask("你好").await.error_code(), "content_filtered");
    assert_eq!(chain.backup.requests().len(), 0);
}

#[tokio::test]
async fn later_rounds_stay_with_the_fallback_model() {
    let chain = Chain::with(&[], ("prompt", "native")).await;
    chain.first.replies([Completion::of([&*call("天气")]), overloaded()]);
    chain.backup.replies([search("b", "新闻"), Completion::of(["晴。"])]);
    let turn = chain.app.ask("天气？").await;
    assert_eq!(told(&turn), json!(["晴。", "stop", ["first", "backup"]]));
    assert_eq!((chain.first.requests().len(), chain.backup.requests().len()), (2, 2));
    assert!(chain.backup.asked(1).await.body["tools"].is_array());
}

#[tokio::test]
async fn f001_all_models_limited_reports_shortest_retry_after() {
    let chain = Chain::start().await;
    let slow = |seconds: &str| failure(429, "slow", "upstream words").header("retry-after", seconds);
    chain.first.replies([slow("3600")]);
    chain.backup.replies([slow("1800")]);
    chain.third.replies([slow("2700")]);
    let turn = chain.app.ask("你好").await;
    assert_eq!((turn.error_code(), &turn.end()["retryAfterSeconds"]), ("rate_limited", &json!(1800)));
}

#[tokio::test]
async fn f033_content_filter_finish_does_not_fail_over() {
    let chain = Chain::start().await;
    chain.first.replies([Completion::new().text("半句").finish("content_filter").done().reply()]);
    assert_eq!(told(&chain.app.ask("你好").await), json!(["半句", "content_filter", null]));
    assert_eq!(chain.backup.requests().len(), 0);
}

#[tokio::test]
async fn model_known_to_be_down_is_skipped() {
    let chain = Chain::start().await;
    chain.first.replies([overloaded()]);
    chain.backup.answer(|_| Completion::of(["好。"]));
    for _ in 0..2 {
        assert_eq!(told(&chain.app.ask("你好").await), json!(["好。", "stop", ["backup"]]));
    }
    assert_eq!(chain.first.requests().len(), 1, "a key that was just refused is not tried again");
}
