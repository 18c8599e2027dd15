//! The last eight seconds of an invocation are reserved for storing the answer and ending the stream.

use std::time::Duration;

use runtime_api::{HttpEvent, StreamedResponse};
use serde_json::{Value, json};
use support::{Completion, Reply};

use crate::instance::{Instance, events, only};

async fn start_turn(instance: &Instance, remaining: Duration) -> StreamedResponse {
    let event = HttpEvent::post("/api/chat", &json!({ "message": "茶是什么？" }));
    let mut answer = instance.api.invoke(&event, remaining).answer().await.expect_streamed();
    assert_eq!(answer.prelude().await.status, 200);
    answer
}

/// The answer that another instance reads after this one is frozen.
async fn read_stored(instance: &Instance, events: &[Value]) -> (Value, Value) {
    instance.function.freeze();
    instance.sibling().await.stored_answer(&only(events, "start")["conversationId"]).await
}

#[tokio::test]
async fn f091_turn_without_content_fails_at_the_deadline() {
    let instance = Instance::start().await;
    instance.model.respond_with(|_| Reply::no_response());
    let mut answer = start_turn(&instance, Duration::from_secs(5)).await;
    let events = events(&answer.rest().await);
    assert_eq!(only(&events, "error")["code"], "deadline");
    assert_eq!(read_stored(&instance, &events).await, (json!(""), json!("failed")));
}

#[tokio::test]
async fn f091_partial_content_is_stored_at_the_deadline() {
    let instance = Instance::start().await;
    instance.model.queue_replies([Completion::new().text("茶是").reply().stall()]);
    let mut answer = start_turn(&instance, Duration::from_secs(9)).await;
    let events = events(&answer.rest().await);
    assert_eq!(only(&events, "done")["finishReason"], "deadline");
    assert_eq!(read_stored(&instance, &events).await, (json!("茶是"), json!("complete")));
}

#[tokio::test]
async fn f091_deadline_answer_uses_search_results() {
    let instance = Instance::start().await;
    let call = r#"<tool_call>{"tool": "search_web", "query": "茶"}</tool_call>"#;
    // The second reply is abandoned for a brief final one, and that one stalls, too.
    instance.model.queue_replies([Completion::of([call]), Reply::no_response(), Reply::no_response()]);
    let mut answer = start_turn(&instance, Duration::from_secs(10)).await;
    let events = events(&answer.rest().await);
    assert_eq!(only(&events, "done")["finishReason"], "deadline");
    let (content, status) = read_stored(&instance, &events).await;
    assert!(content.as_str().unwrap().contains("https://example.com/1"), "{content}");
    assert_eq!(status, "complete");
}
