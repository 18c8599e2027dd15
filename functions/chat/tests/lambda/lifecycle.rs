use runtime_api::{Function, HttpEvent, RuntimeApi};
use serde_json::json;
use support::{Completion, MODEL_KEY, SEARCH_KEY};

use crate::instance::{Instance, binary, events, only};

#[tokio::test]
async fn f094_thawed_process_serves_the_next_event() {
    let mut instance = Instance::start().await;
    let mut conversation = json!(null);
    for (turn, reply) in ["一", "二", "三"].into_iter().enumerate() {
        instance.model.queue_replies([Completion::of([reply])]);
        instance.api.wait_for_next_requests(turn + 1).await;
        instance.function.freeze();
        let event = HttpEvent::post("/api/chat", &json!({ "message": "数", "conversationId": conversation }));
        let invocation = instance.api.invoke(&event, std::time::Duration::from_mins(5));
        instance.function.thaw();
        let mut answer = invocation.answer().await.expect_streamed();
        assert_eq!(answer.prelude().await.status, 200);
        let events = events(&answer.rest().await);
        assert_eq!(only(&events, "content")["content"], reply);
        conversation = only(&events, "start")["conversationId"].clone();
    }
    assert_eq!(instance.model.requests()[2].dialogue().len(), 5, "each turn knows those before it");
    assert!(instance.function.is_running());
}

#[tokio::test]
async fn invalid_setting_ends_the_start_with_one_line() {
    let api = RuntimeApi::start().await;
    for (name, value, line) in [
        ("TURN_SECONDS", "hunter2", "TURN_SECONDS: expected a whole number from 1 to 900"),
        ("RESPONSE_MODE", "hunter2", "RESPONSE_MODE: expected stream or buffer"),
    ] {
        let function = Function::start(binary(), &api.address(), [(name, value)]);
        assert_eq!(function.wait_for_exit().await, (Some(2), line.to_owned()));
    }
    assert_eq!(api.next_request_count(), 0);
}

#[tokio::test]
async fn process_ends_without_its_runtime() {
    let Instance { api, function, .. } = Instance::start().await;
    api.wait_for_next_requests(1).await;
    drop(api);
    assert_eq!(function.wait_for_exit().await.0, Some(1));
}

#[tokio::test]
async fn f122_neither_keys_nor_user_text_are_logged() {
    for level in ["debug", "trace"] {
        assert_log_holds_no_secret(level).await;
    }
}

async fn assert_log_holds_no_secret(level: &str) {
    let instance = Instance::start_with(&[("RUST_LOG", level)]).await;
    instance.model.queue_replies([
        Completion::of([r#"<tool_call>{"tool": "search_web", "query": "canary-query"}</tool_call>"#]),
        Completion::of(["canary-answer"]),
    ]);
    let mut answer = instance.send_message("canary-question").await.expect_streamed();
    answer.prelude().await;
    assert_eq!(only(&events(&answer.rest().await), "done")["finishReason"], "stop");
    drop(answer);
    instance.api.wait_for_next_requests(2).await;
    let log = instance.function.log().join("\n");
    for secret in [MODEL_KEY, SEARCH_KEY, "canary-question", "canary-query", "canary-answer"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} at level {level}");
    }
}
