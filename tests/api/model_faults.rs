//! A model endpoint that fails before its first token: which faults are retried, and which errors clients get.

use serde_json::{Value, json};
use support::{Completion, Reply, TestApp, Transcript};

/// Short timeouts, so that a test detects a stall quickly.
pub(crate) const SHORT_TIMEOUTS: [(&str, &str); 2] = [("MODEL_FIRST_BYTE_SECONDS", "1"), ("MODEL_IDLE_SECONDS", "1")];

pub(crate) fn error_reply(status: u16, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({ "error": { "code": code, "message": message, "param": null, "type": "error" } }))
}

/// A turn whose model always sends this reply, and the number of requests to the model.
async fn run_turn(reply: Reply) -> (Transcript, usize) {
    run_turn_with(&[], reply).await
}

async fn run_turn_with(settings: &[(&str, &str)], reply: Reply) -> (Transcript, usize) {
    let app = TestApp::start_with(settings).await;
    app.model.respond_with(move |_| reply.clone());
    let turn = app.send_message("你好").await;
    assert!(!Value::from(turn.0.clone()).to_string().contains("upstream words"), "{turn:?}");
    let attempts = app.model.requests().len();
    assert!(attempts <= 3, "at most three attempts, not {attempts}");
    (turn, attempts)
}

#[tokio::test]
async fn f001_429_with_short_wait_is_retried() {
    for (header, value) in [("retry-after", "0.05"), ("retry-after-ms", "30"), ("retry-after", "1")] {
        let app = TestApp::start().await;
        let slow = error_reply(429, "RateLimitExceeded.EndpointRPMExceeded", "upstream words").header(header, value);
        app.model.queue_replies([slow, Completion::of(["好。"])]);
        let turn = app.send_message("你好").await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"), "{header}: {value}");
    }
}

#[tokio::test]
async fn f001_429_with_long_wait_fails_with_retry_after() {
    let (turn, attempts) =
        run_turn(error_reply(429, "rate_limit", "upstream words").header("retry-after", "3600")).await;
    let end = turn.end();
    assert_eq!(json!([end["code"], end["retryable"], end["retryAfterSeconds"]]), json!(["rate_limited", true, 3600]));
    assert_eq!(attempts, 1);
}

#[tokio::test]
async fn f002_429_with_malformed_wait_is_retried() {
    for value in ["0", "-5", "nan", "inf", "soon", "1e400"] {
        let app = TestApp::start().await;
        app.model.queue_replies([error_reply(429, "slow", "x").header("retry-after", value), Completion::of(["好。"])]);
        assert_eq!(app.send_message("你好").await.content(), "好。", "retry-after: {value}");
    }
}

#[tokio::test]
async fn f003_exhausted_quota_is_not_retried() {
    for (status, code) in [(429, "insufficient_quota"), (403, "AccountOverdueError"), (429, "QuotaExceeded")] {
        let (turn, attempts) = run_turn(error_reply(status, code, "upstream words")).await;
        assert_eq!((turn.error_code(), attempts), ("quota_exhausted", 1), "{code}");
    }
}

#[tokio::test]
async fn f004_three_server_errors_are_unavailable() {
    for status in [500, 503] {
        let (turn, attempts) = run_turn(error_reply(status, "InternalServiceError", "upstream words")).await;
        assert_eq!((turn.error_code(), attempts), ("upstream_unavailable", 3), "{status}");
        assert_eq!(turn.end()["retryable"], true);
    }
}

#[tokio::test]
async fn f004_two_server_errors_are_retried() {
    let app = TestApp::start().await;
    let down = || error_reply(502, "x", "upstream words");
    app.model.queue_replies([down(), down(), Completion::of(["好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "好。");
}

#[tokio::test]
async fn f005_rejected_request_is_not_retried() {
    for (status, code) in [(400, "InvalidParameter"), (404, "ModelNotOpen"), (422, "x")] {
        let (turn, attempts) = run_turn(error_reply(status, code, "upstream words")).await;
        assert_eq!((turn.error_code(), attempts), ("upstream_rejected", 1), "{status}");
        assert_eq!(turn.end()["retryable"], false);
    }
}

#[tokio::test]
async fn f006_refused_content_is_content_filtered() {
    let (turn, attempts) = run_turn(error_reply(400, "SensitiveContentDetected", "upstream words")).await;
    assert_eq!((turn.error_code(), attempts), ("content_filtered", 1));
}

#[tokio::test]
async fn f007_wrong_key_is_not_retried() {
    for status in [401, 403] {
        let (turn, attempts) = run_turn(error_reply(status, "AuthenticationError", "upstream words")).await;
        assert_eq!((turn.error_code(), attempts), ("upstream_auth", 1), "{status}");
    }
}

#[tokio::test]
async fn f008_overlong_prompt_is_shortened_once() {
    let (turn, attempts) = run_turn(error_reply(400, "context_length_exceeded", "upstream words")).await;
    assert_eq!(turn.error_code(), "context_too_long");
    assert!(attempts <= 2, "{attempts}");
}

#[tokio::test]
async fn f008_overlong_history_is_shortened_invisibly() {
    let app = TestApp::start().await;
    app.model.respond_with(|request| {
        if request.dialogue().len() > 3 {
            error_reply(400, "context_length_exceeded", "x")
        } else {
            Completion::of(["好。"])
        }
    });
    let id = app.send_message("一").await.conversation_id();
    for message in ["二", "三", "四"] {
        assert_eq!(app.follow_up(&id, message).await.content(), "好。", "{message}");
    }
    assert_eq!(app.conversation(&id).await["conversation"]["messageCount"], 8);
}

#[tokio::test]
async fn f009_reset_before_the_response_is_retried() {
    let app = TestApp::start().await;
    app.model.queue_replies([Reply::reset_before_head(), Completion::of(["好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "好。");
}

#[tokio::test]
async fn f012_closed_idle_connection_is_replaced() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"]), Reply::reset_before_head(), Completion::of(["又好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "好。");
    assert_eq!(app.send_message("你好").await.content(), "又好。");
}

#[tokio::test]
async fn f016_huge_error_body_is_handled() {
    let mut huge = Reply::status(400).header("content-type", "application/json").bytes("{\"error\":{\"message\":\"");
    for _ in 0..256 {
        huge = huge.bytes("x".repeat(1 << 16));
    }
    let (turn, attempts) = run_turn(huge.bytes("\"}}")).await;
    assert_eq!((turn.error_code(), attempts), ("upstream_rejected", 1));
}

#[tokio::test]
async fn f011_model_that_never_starts_has_stalled() {
    let (turn, _) = run_turn_with(&SHORT_TIMEOUTS, Reply::no_response()).await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("", "upstream_stalled"));
}

#[tokio::test]
async fn f011_second_attempt_after_a_stall_answers() {
    let app = TestApp::start_with(&SHORT_TIMEOUTS).await;
    app.model.queue_replies([Reply::no_response(), Completion::of(["好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "好。");
}

#[tokio::test]
async fn f013_web_page_is_a_bad_response() {
    let page = Reply::status(200).header("content-type", "text/html").bytes("<html>upstream words</html>");
    assert_eq!(run_turn(page).await.0.error_code(), "upstream_bad_response");
}

#[tokio::test]
async fn f017_unrequested_compression_is_a_bad_response() {
    let packed = Reply::status(200).header("content-type", "text/event-stream").header("content-encoding", "gzip");
    let (turn, _) = run_turn(packed.bytes(&b"\x1f\x8b\x08\x00\x00\x00\x00\x00"[..])).await;
    assert_eq!(turn.error_code(), "upstream_bad_response");
}

#[tokio::test]
async fn f014_redirects_are_never_followed() {
    let other_model = support::FakeModel::start().await;
    let target = format!("{}/chat/completions", other_model.url());
    for status in [301, 302, 307, 308] {
        let (turn, _) = run_turn(Reply::status(status).header("location", &target)).await;
        assert_eq!(turn.error_code(), "upstream_bad_response", "{status}");
    }
    assert_eq!(other_model.requests().len(), 0);
}

#[tokio::test]
async fn f015_empty_stream_is_a_bad_response() {
    let empty = Reply::status(200).header("content-type", "text/event-stream");
    let (turn, _) = run_turn(empty).await;
    assert!(["upstream_bad_response", "upstream_disconnected"].contains(&turn.error_code()), "{}", turn.error_code());
}

#[tokio::test]
async fn f025_error_before_first_token_is_retried() {
    let app = TestApp::start().await;
    let event = json!({ "error": { "message": "overloaded", "code": 503 } }).to_string();
    app.model.queue_replies([Completion::new().data(&event).reply(), Completion::of(["好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "好。");
}

#[tokio::test]
async fn model_failure_without_streaming_is_a_status() {
    let cases = [
        (error_reply(401, "x", "upstream words"), 502, "upstream_auth"),
        (error_reply(400, "x", "upstream words"), 502, "upstream_rejected"),
        (error_reply(500, "x", "upstream words"), 502, "upstream_unavailable"),
        (error_reply(429, "x", "upstream words").header("retry-after", "3600"), 429, "rate_limited"),
        (error_reply(429, "insufficient_quota", "upstream words"), 429, "quota_exhausted"),
        (Reply::status(302).header("location", "/"), 502, "upstream_bad_response"),
    ];
    for (reply, status, code) in cases {
        let app = TestApp::start().await;
        app.model.respond_with(move |_| reply.clone());
        let answer = app.chat_once(&json!({ "message": "你好" })).await;
        assert_eq!(answer.error(), (status, code.to_owned()));
        assert!(!answer.text().contains("upstream words"), "{}", answer.text());
        assert_eq!(answer.header("retry-after"), if status == 429 { "3600" } else { "" });
    }
}

#[tokio::test]
async fn f001_429_without_wait_has_default_retry_after() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| error_reply(429, "x", "upstream words"));
    let answer = app.chat_once(&json!({ "message": "你好" })).await;
    assert_eq!((answer.error(), answer.header("retry-after")), ((429, "rate_limited".to_owned()), "60"));
}

#[tokio::test]
async fn failed_turn_leaves_the_conversation_free() {
    let app = TestApp::start().await;
    app.model.queue_replies([error_reply(401, "x", "upstream words"), Completion::of(["好。"])]);
    let failed = app.send_message("一").await;
    assert_eq!(failed.error_code(), "upstream_auth");
    let turn = app.follow_up(&failed.conversation_id(), "二").await;
    assert_eq!(turn.content(), "好。");
    let conversation = app.conversation(&turn.conversation_id()).await;
    let messages: Vec<Value> = conversation["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| json!([message["role"], message["content"], message["status"]]))
        .collect();
    let expected = [
        json!(["user", "一", "complete"]),
        json!(["assistant", "", "failed"]),
        json!(["user", "二", "complete"]),
        json!(["assistant", "好。", "complete"]),
    ];
    assert_eq!(messages, expected);
}
