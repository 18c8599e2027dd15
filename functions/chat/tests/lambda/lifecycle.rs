use runtime_api::HttpEvent;
use serde_json::json;
use support::{Completion, MODEL_KEY, SEARCH_KEY};

use crate::instance::{Instance, events, only};

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
async fn invalid_setting_answers_every_request_with_503() {
    for (name, line) in [
        ("TURN_SECONDS", "TURN_SECONDS: expected a whole number from 1 to 900"),
        ("RESPONSE_MODE", "RESPONSE_MODE: expected stream or buffer"),
    ] {
        let instance = Instance::start_with(&[(name, "hunter2")]).await;
        let message = json!({ "message": "你好" });
        for event in [HttpEvent::get("/"), HttpEvent::get("/healthz"), HttpEvent::post("/api/chat", &message)] {
            let mut answer = instance.call(&event).await.expect_streamed();
            assert_eq!(answer.prelude().await.status, 503, "{event}");
            let body: serde_json::Value = serde_json::from_str(&answer.rest().await).unwrap();
            assert_eq!(body["error"]["code"], "not_configured", "{event}");
        }
        let faults = instance.function.wait_for_lines(3, |line| line.contains(r#""InternalErrors":1"#)).await;
        assert_eq!(faults.len(), 3);
        let log = instance.function.log();
        let logged = log.iter().find(|text| text.contains(line)).unwrap();
        let logged: serde_json::Value = serde_json::from_str(logged).unwrap();
        assert_eq!((&logged["level"], &logged["message"]), (&json!("ERROR"), &json!(line)));
        assert!(!log.join("").contains("hunter2"));
    }
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
