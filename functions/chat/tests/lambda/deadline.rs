//! The contract keeps the last eight seconds of an invocation for storing and ending the answer.

use std::time::Duration;

use runtime_api::{HttpEvent, StreamedResponse};
use serde_json::{Value, json};
use support::{Completion, Reply};

use crate::instance::{Instance, events, only};

async fn ask(instance: &Instance, remaining: Duration) -> StreamedResponse {
    let event = HttpEvent::post("/api/chat", &json!({ "message": "茶是什么？" }));
    let mut answer = instance.api.invoke(&event, remaining).answer().await.expect_streamed();
    assert_eq!(answer.prelude().await.status, 200);
    answer
}

/// What another instance finds of the turn while this one can do nothing more.
async fn stored(instance: &Instance, events: &[Value]) -> (Value, Value) {
    instance.function.freeze();
    instance.sibling().await.said(&only(events, "start")["conversationId"]).await
}

#[tokio::test]
async fn f091_without_time_and_without_an_answer_the_turn_fails_and_is_stored() {
    let instance = Instance::start().await;
    instance.model.respond_with(|_| Reply::no_response());
    let mut answer = ask(&instance, Duration::from_secs(5)).await;
    let events = events(&answer.rest().await);
    assert_eq!(only(&events, "error")["code"], "deadline");
    assert_eq!(stored(&instance, &events).await, (json!(""), json!("interrupted")));
}

#[tokio::test]
async fn f091_what_was_said_before_the_deadline_is_an_answer_and_is_stored() {
    let instance = Instance::start().await;
    instance.model.queue_replies([Completion::new().text("茶是").reply().stall()]);
    let mut answer = ask(&instance, Duration::from_secs(9)).await;
    let events = events(&answer.rest().await);
    assert_eq!(only(&events, "done")["finishReason"], "deadline");
    assert_eq!(stored(&instance, &events).await, (json!("茶是"), json!("complete")));
}

#[tokio::test]
async fn f091_near_the_deadline_the_answer_comes_from_what_the_search_found() {
    let instance = Instance::start().await;
    let call = r#"<tool_call>{"tool": "search_web", "query": "茶"}</tool_call>"#;
    // The second reply is given up for one that is asked to be brief, and that one is silent, too.
    instance.model.queue_replies([Completion::of([call]), Reply::no_response(), Reply::no_response()]);
    let mut answer = ask(&instance, Duration::from_secs(10)).await;
    let events = events(&answer.rest().await);
    assert_eq!(only(&events, "done")["finishReason"], "deadline");
    let (content, status) = stored(&instance, &events).await;
    assert!(content.as_str().unwrap().contains("https://example.com/1"), "{content}");
    assert_eq!(status, "complete");
}
