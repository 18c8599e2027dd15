use runtime_api::HttpEvent;
use serde_json::{Value, json};
use support::{Completion, FakeTavily, Gate};

use crate::instance::{Instance, events, only};

#[tokio::test]
async fn deltas_are_sent_while_the_model_generates() {
    let instance = Instance::start().await;
    let gate = Gate::new();
    instance.model.queue_replies([Completion::new().text("一").wait(&gate).text("二").end()]);
    let mut answer = instance.send_message("数一数").await.expect_streamed();
    let prelude = answer.prelude().await;
    assert_eq!(prelude.status, 200);
    assert_eq!(prelude.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(prelude.header("cache-control"), "no-store, no-transform");
    assert!(!prelude.header("x-request-id").is_empty());
    assert!(answer.text().await.contains(r#""type":"start""#));
    assert!(answer.read_until("一").await.contains(r#"{"type":"content","content":"一"}"#));
    gate.open();
    assert!(answer.read_until("二").await.contains(r#"{"type":"content","content":"二"}"#));
    assert!(answer.rest().await.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn f093_turn_is_stored_before_the_body_ends() {
    let instance = Instance::start().await;
    let events = instance.run_search_turn().await;
    assert_eq!(only(&events, "done")["finishReason"], "stop");
    let sibling = instance.sibling().await;
    let conversation = sibling.conversation(&only(&events, "start")["conversationId"]).await;
    let stored = &conversation["messages"][1];
    assert_eq!((&stored["content"], &stored["status"]), (&json!("茶是一种饮料。"), &json!("complete")));
    assert_eq!(stored["toolCalls"][0]["name"], "search_web");
    assert_eq!(instance.search.queries(), ["茶"]);
}

#[tokio::test]
async fn routes_without_a_stream_return_their_bodies() {
    let instance = Instance::start().await;
    let once = json!({ "message": "你好", "stream": false });
    instance.model.queue_replies([Completion::of(["你好！"])]);
    let expected = [
        (HttpEvent::get("/"), 200, "text/html; charset=utf-8", "<!doctype html>"),
        (HttpEvent::get("/assets/icon.svg"), 200, "image/svg+xml", "<svg"),
        (HttpEvent::get("/healthz"), 200, "application/json", r#"{"status":"ok""#),
        (HttpEvent::get("/api/models"), 200, "application/json", r#"{"models":[{"name":"openai""#),
        (HttpEvent::get("/api/conversations?limit=5"), 200, "application/json", r#"{"conversations":[]"#),
        (HttpEvent::get("/nowhere"), 404, "application/json", r#"{"error":{"code":"not_found""#),
        (HttpEvent::get("/api/chat"), 405, "application/json", r#"{"error":{"code":"method_not_allowed""#),
        (HttpEvent::post("/api/chat", &once), 200, "application/json", r#"{"conversationId":"#),
    ];
    for (event, status, kind, beginning) in expected {
        let mut answer = instance.call(&event).await.expect_streamed();
        let prelude = answer.prelude().await;
        let body = answer.rest().await.to_lowercase();
        assert_eq!((prelude.status, prelude.header("content-type")), (status, kind), "{event}");
        assert!(body.starts_with(&beginning.to_lowercase()), "{event}: {body}");
    }
}

#[tokio::test]
async fn answers_without_a_body_have_none() {
    let instance = Instance::start().await;
    for (method, status) in [("OPTIONS", 204), ("HEAD", 200)] {
        let mut answer = instance.call(&HttpEvent::new(method, "/healthz")).await.expect_streamed();
        assert_eq!(answer.prelude().await.status, status);
        assert_eq!(answer.rest().await, "");
    }
}

#[tokio::test]
async fn f096_abandoned_turn_ends_before_the_next_event() {
    let instance = Instance::start().await;
    let (model, search) = (Gate::new(), Gate::new());
    let call = r#"<tool_call>{"tool": "search_web", "query": "茶"}</tool_call>"#;
    instance.model.queue_replies([
        Completion::new().text("好的。").wait(&model).text(call).end(),
        Completion::of(["茶是一种饮料。"]),
    ]);
    instance.search.queue_replies([FakeTavily::search_reply(&json!({ "query": "茶" })).wait_before_head(&search)]);
    let mut answer = instance.send_message("茶是什么？").await.expect_streamed();
    answer.prelude().await;
    let start: Value = events(&(answer.text().await + "data: [DONE]\n\n")).remove(0);
    answer.read_until("好的。").await;
    drop(answer);
    model.open();
    search.wait_until_reached().await;
    assert_eq!(instance.api.next_request_count(), 1, "while the turn runs, the function wants no other event");
    search.open();
    instance.api.wait_for_next_requests(2).await;
    instance.function.freeze();
    let stored = instance.sibling().await.stored_answer(&start["conversationId"]).await;
    assert_eq!(stored, (json!("好的。\n\n茶是一种饮料。"), json!("complete")));
    instance.function.thaw();
    let mut next = instance.call(&HttpEvent::get("/healthz")).await.expect_streamed();
    assert_eq!(next.prelude().await.status, 200);
}
