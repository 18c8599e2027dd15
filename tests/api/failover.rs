//! Failover before the first token: the fallback model answers.

use serde_json::{Value, json};
use support::{Completion, FakeModel, Gate, MODEL, MODEL_KEY, Reply, TestApp, Transcript, search_reply};

use crate::model_faults::{SHORT_TIMEOUTS, error_reply};
use crate::search_call;

/// The product with three models: `first`, its fallback `backup`, and the fallback of that, `third`.
pub(crate) struct Chain {
    pub(crate) app: TestApp,
    pub(crate) first: FakeModel,
    pub(crate) backup: FakeModel,
    pub(crate) third: FakeModel,
}

/// The tool modes of `first` and of `backup`.
pub(crate) const TOOL_MODES: [(&str, &str); 3] = [("prompt", "prompt"), ("native", "native"), ("native", "prompt")];

impl Chain {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[], TOOL_MODES[0]).await
    }

    pub(crate) async fn start_with(settings: &[(&str, &str)], (tools, backup_tools): (&str, &str)) -> Self {
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
            entry("backup", &backup, backup_tools, Some("third")),
            entry("third", &third, "prompt", None),
        ]);
        let entries = entries.to_string();
        let own = [("MODELS", &*entries), ("CHAIN_KEY", MODEL_KEY), ("DEFAULT_MODEL", "first")];
        let app = TestApp::start_with(&[&own, settings].concat()).await;
        Self { app, first, backup, third }
    }

    /// Ends the first model's answer with `end` after the client received `text`, and reads the turn to its end.
    pub(crate) async fn break_after(&self, text: &str, end: impl Fn(Reply) -> Reply) -> Transcript {
        let gate = Gate::new();
        self.first.queue_replies([end(Completion::new().text(text).wait(&gate).reply())]);
        let mut turn = self.app.open(&json!({ "message": "你好" })).await;
        assert_eq!(turn.read_until("content").await["content"], text);
        gate.open();
        turn.read_to_end().await
    }

    /// The stored answer of a turn.
    pub(crate) async fn stored_answer(&self, turn: &Transcript) -> Value {
        self.app.read_finished_conversation(&turn.conversation_id()).await["messages"][1].clone()
    }
}

pub(crate) fn outcome(turn: &Transcript) -> Value {
    json!([turn.content(), turn.finish_reason(), turn.end()["models"]])
}

pub(crate) fn overloaded() -> Reply {
    error_reply(401, "x", "upstream words")
}

#[tokio::test]
async fn f004_fallback_answers_for_an_overloaded_model() {
    let chain = Chain::start().await;
    chain.first.respond_with(|_| error_reply(503, "x", "upstream words"));
    chain.backup.queue_replies([Completion::of(["好。"])]);
    let turn = chain.app.send_message("你好").await;
    assert_eq!(outcome(&turn), json!(["好。", "stop", ["backup"]]));
    assert_eq!(turn.0[0]["model"], "first");
    let stored = chain.stored_answer(&turn).await;
    assert_eq!(json!([stored["content"], stored["status"], stored["models"]]), json!(["好。", "complete", ["backup"]]));
    let request = chain.backup.wait_for_request(1).await;
    assert_eq!(request.body["model"], format!("backup-{MODEL}"));
    assert_eq!(request.dialogue(), [("user".to_owned(), "你好".to_owned())]);
}

#[tokio::test]
async fn faults_before_first_token_fail_over_invisibly() {
    let page = || Reply::status(200).header("content-type", "text/html").bytes("<html>upstream words</html>");
    let garbage = || Completion::new().raw("data: {\"choices\": [{]\n\n").reply();
    let faults: [(&str, Reply); 9] = [
        ("f003", error_reply(429, "insufficient_quota", "upstream words")),
        ("f001", error_reply(429, "slow", "upstream words").header("retry-after", "3600")),
        ("f005", error_reply(400, "InvalidParameter", "upstream words")),
        ("f007", error_reply(401, "x", "upstream words")),
        ("f008", error_reply(400, "context_length_exceeded", "upstream words")),
        ("f013", page()),
        ("f014", Reply::status(302).header("location", "/")),
        ("f015", Reply::status(200).header("content-type", "text/event-stream")),
        ("f043", garbage()),
    ];
    for paths in TOOL_MODES {
        for (row, fault) in faults.clone() {
            let chain = Chain::start_with(&[], paths).await;
            chain.first.respond_with(move |_| fault.clone());
            chain.backup.queue_replies([Completion::of(["好。"])]);
            let turn = chain.app.send_message("你好").await;
            assert_eq!(outcome(&turn), json!(["好。", "stop", ["backup"]]), "{row} {paths:?}");
            assert!(!Value::from(turn.0.clone()).to_string().contains("upstream words"));
        }
    }
}

#[tokio::test]
async fn f011_fallback_answers_for_a_model_that_never_starts() {
    let chain = Chain::start_with(&SHORT_TIMEOUTS, TOOL_MODES[0]).await;
    chain.first.respond_with(|_| Reply::no_response());
    chain.backup.queue_replies([Completion::of(["好。"])]);
    assert_eq!(outcome(&chain.app.send_message("你好").await), json!(["好。", "stop", ["backup"]]));
}

#[tokio::test]
async fn f006_filtered_content_does_not_fail_over() {
    let chain = Chain::start().await;
    chain.first.queue_replies([error_reply(400, "SensitiveContentDetected", "upstream words")]);
    assert_eq!(chain.app.send_message("你好").await.error_code(), "content_filtered");
    assert_eq!(chain.backup.requests().len(), 0);
}

#[tokio::test]
async fn later_rounds_stay_with_the_fallback_model() {
    let chain = Chain::start_with(&[], ("prompt", "native")).await;
    chain.first.queue_replies([Completion::of([&*search_call("天气")]), overloaded()]);
    chain.backup.queue_replies([search_reply("b", "新闻"), Completion::of(["晴。"])]);
    let turn = chain.app.send_message("天气？").await;
    assert_eq!(outcome(&turn), json!(["晴。", "stop", ["first", "backup"]]));
    assert_eq!((chain.first.requests().len(), chain.backup.requests().len()), (2, 2));
    assert!(chain.backup.wait_for_request(1).await.body["tools"].is_array());
}

#[tokio::test]
async fn f001_all_models_limited_reports_shortest_retry_after() {
    let chain = Chain::start().await;
    let slow = |seconds: &str| error_reply(429, "slow", "upstream words").header("retry-after", seconds);
    chain.first.queue_replies([slow("3600")]);
    chain.backup.queue_replies([slow("1800")]);
    chain.third.queue_replies([slow("2700")]);
    let turn = chain.app.send_message("你好").await;
    assert_eq!((turn.error_code(), &turn.end()["retryAfterSeconds"]), ("rate_limited", &json!(1800)));
}

#[tokio::test]
async fn f033_content_filter_finish_does_not_fail_over() {
    let chain = Chain::start().await;
    chain.first.queue_replies([Completion::new().text("半句").finish("content_filter").done().reply()]);
    assert_eq!(outcome(&chain.app.send_message("你好").await), json!(["半句", "content_filter", null]));
    assert_eq!(chain.backup.requests().len(), 0);
}

#[tokio::test]
async fn model_known_to_be_down_is_skipped() {
    let chain = Chain::start().await;
    chain.first.queue_replies([overloaded()]);
    chain.backup.respond_with(|_| Completion::of(["好。"]));
    for _ in 0..2 {
        assert_eq!(outcome(&chain.app.send_message("你好").await), json!(["好。", "stop", ["backup"]]));
    }
    assert_eq!(chain.first.requests().len(), 1, "a key that was just refused is not tried again");
}
