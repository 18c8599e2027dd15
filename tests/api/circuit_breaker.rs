//! The circuit breaker: how the product lists failing models, and how instances share the breaker's state.

use serde_json::{Value, json};
use support::{Client, Completion, FakeModel, MODEL, Reply, TestApp};

/// Whether the list of models marks a model as failing.
async fn is_failing(client: &Client, name: &str) -> bool {
    let models = client.get("/api/models").await.ok();
    let row = models["models"].as_array().unwrap().iter().find(|model| model["name"] == name).unwrap();
    match row.get("failing") {
        None => false,
        Some(failing) => {
            assert_eq!(*failing, Value::Bool(true), "the field is there only when it says something");
            true
        }
    }
}

/// Overloaded, for longer than a turn waits that has a fallback model.
fn overloaded() -> Reply {
    Reply::status(503).header("retry-after", "3")
}

/// The models `first`, its fallback `second`, and `alone`, at the endpoint of `first` and without a fallback.
fn models_setting(first: &FakeModel, second: &FakeModel) -> String {
    let entry = |name: &str, at: &FakeModel| json!({ "name": name, "baseUrl": at.url(), "model": MODEL, "apiKeyVar": "OPENAI_API_KEY" });
    let mut models = json!([entry("first", first), entry("second", second), entry("alone", first)]);
    models[0]["fallback"] = "second".into();
    models.to_string()
}

#[tokio::test]
async fn f005_rejected_model_is_failing_until_it_answers() {
    for status in [404, 401, 402] {
        let app = TestApp::start().await;
        assert!(!is_failing(&app, "openai").await);
        app.model.queue_replies([Reply::status(status), Completion::of(["好。"])]);
        app.send_message("你好").await;
        assert!(is_failing(&app, "openai").await, "{status}");
        app.send_message("你好").await;
        assert!(!is_failing(&app, "openai").await, "{status}");
    }
}

#[tokio::test]
async fn f006_content_filter_does_not_mark_model_failing() {
    let app = TestApp::start().await;
    app.model.queue_replies([Reply::json(400, &json!({ "error": { "code": "content_filter", "message": "x" } }))]);
    assert_eq!(app.send_message("你好").await.error_code(), "content_filtered");
    assert!(!is_failing(&app, "openai").await);
}

#[tokio::test]
async fn f004_breaker_state_is_shared_with_next_instance() {
    let (first, second) = (FakeModel::start().await, FakeModel::start().await);
    let models = models_setting(&first, &second);
    let mut app = TestApp::start_on_disk_with(&[("MODELS", &models), ("DEFAULT_MODEL", "first")]).await;
    first.respond_with(|_| overloaded());
    second.respond_with(|_| Completion::of(["好。"]));
    for _ in 0..5 {
        app.send_message("你好").await;
    }
    assert!(is_failing(&app, "first").await);
    app.restart().await;
    assert!(!is_failing(&app, "first").await, "nothing is read where nothing is to be decided");
    app.send_message("你好").await;
    assert!(is_failing(&app, "first").await, "learned from the instance before");
    assert!(!is_failing(&app, "second").await);
}

#[tokio::test]
async fn f004_recovery_is_shared_with_next_instance() {
    let (first, second) = (FakeModel::start().await, FakeModel::start().await);
    let models = models_setting(&first, &second);
    let mut app = TestApp::start_on_disk_with(&[("MODELS", &models), ("DEFAULT_MODEL", "first")]).await;
    first.respond_with(|_| overloaded());
    second.respond_with(|_| Completion::of(["好。"]));
    for _ in 0..5 {
        app.send_message("你好").await;
    }
    first.respond_with(|_| Completion::of(["好。"]));
    app.chat(&json!({ "message": "你好", "modelType": "alone" })).await;
    assert!(!is_failing(&app, "first").await);
    app.send_message("你好").await;
    app.restart().await;
    let turn = app.send_message("你好").await;
    assert!(turn.end().get("models").is_none(), "the first one is not passed over: {}", turn.end());
    assert!(!is_failing(&app, "first").await);
}
