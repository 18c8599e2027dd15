//! The header `server-timing`: how long the product took before the model had its part.

use serde_json::json;
use support::{Completion, TestApp};

/// The milliseconds of a header `admission;dur=…`.
fn admission(header: &str) -> f64 {
    header.strip_prefix("admission;dur=").unwrap().parse().unwrap()
}

#[tokio::test]
async fn answers_carry_the_time_before_their_turn() {
    let app = TestApp::start_with(&[("ALLOWED_ORIGINS", "https://a.example")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let agent = app.post("/api/admin/agents", &json!({ "name": "a" })).await.json()["id"].clone();
    let messages = json!([{ "role": "user", "content": "问" }]);
    let parts = json!([{ "id": "1", "role": "user", "parts": [{ "type": "text", "text": "问" }] }]);
    let agent = agent.as_str().unwrap();
    for (path, body) in [
        ("/api/chat", json!({ "message": "问" })),
        ("/api/chat", json!({ "message": "问", "stream": false })),
        ("/v1/chat/completions", json!({ "model": "openai", "messages": messages, "stream": true })),
        ("/v1/chat/completions", json!({ "model": "openai", "messages": messages })),
        ("/api/ui/chat", json!({ "id": "chat-1", "messages": parts })),
        ("/api/agent", json!({ "message": "问" })),
    ] {
        let headers = [("content-type", "application/json"), ("origin", "https://a.example"), ("x-agent-id", agent)];
        let answer = app.send("POST", path, &headers, body.to_string()).await;
        assert_eq!(answer.status, 200, "{path} {}", answer.text());
        assert!(admission(answer.header("server-timing")) > 0.0, "{path}");
        assert!(answer.header("access-control-expose-headers").contains("server-timing"), "{path}");
        assert_eq!(answer.header("timing-allow-origin"), "https://a.example", "{path}");
    }
}

#[tokio::test]
async fn responses_without_a_turn_have_no_timing() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/api/models").await.header("server-timing"), "");
    let rejected = app.post("/api/chat", &json!({ "message": "" })).await;
    assert_eq!((rejected.status, rejected.header("server-timing")), (400, ""));
}
