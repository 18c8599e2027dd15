//! A model whose answer breaks off: its text is streamed, stored, and marked as interrupted.

use serde_json::{Value, json};
use support::{Completion, Gate, Reply, TestApp, Transcript};

use crate::model_faults::SHORT_TIMEOUTS;

/// Ends a model's answer after its first delta; returns the turn and the stored answer.
async fn run_broken_turn(end: impl Fn(Reply) -> Reply) -> (Transcript, Value) {
    run_broken_turn_with(&[], end).await
}

async fn run_broken_turn_with(settings: &[(&str, &str)], end: impl Fn(Reply) -> Reply) -> (Transcript, Value) {
    let (app, gate) = (TestApp::start_with(settings).await, Gate::new());
    app.model.queue_replies([end(Completion::new().text("半句").wait(&gate).reply())]);
    let mut turn = app.open(&json!({ "message": "你好" })).await;
    assert_eq!(turn.read_until("content").await["content"], "半句");
    gate.open();
    let turn = turn.read_to_end().await;
    let stored = app.read_finished_conversation(&turn.conversation_id()).await;
    assert_eq!(app.model.requests().len(), 1, "after the first words nothing is asked again");
    let (error, answer) = (turn.end(), stored["messages"][1].clone());
    assert_eq!(answer["error"], json!({ "code": error["code"], "message": error["message"] }), "as the stream ended");
    (turn, answer)
}

#[tokio::test]
async fn f019_stall_mid_answer_keeps_partial_text() {
    let (turn, stored) = run_broken_turn_with(&SHORT_TIMEOUTS, Reply::stall).await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "upstream_stalled"));
    assert_eq!(json!([stored["content"], stored["status"]]), json!(["半句", "failed"]));
}

#[tokio::test]
async fn f020_disconnect_mid_answer_keeps_partial_text() {
    for end in [Reply::reset, Reply::disconnect] {
        let (turn, stored) = run_broken_turn(end).await;
        assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "upstream_disconnected"));
        assert_eq!(json!([stored["content"], stored["status"]]), json!(["半句", "failed"]));
    }
}

#[tokio::test]
async fn f021_end_without_finish_reason_is_a_disconnect() {
    for end in [Reply::until_close, |reply| reply] {
        let (turn, stored) = run_broken_turn(end).await;
        assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "upstream_disconnected"));
        assert_eq!(stored["status"], "failed");
    }
}

#[tokio::test]
async fn f025_error_in_stream_ends_turn_with_its_code() {
    let errors = [
        (json!({ "message": "upstream words", "code": 503, "type": "server_error" }), "upstream_unavailable"),
        (json!({ "message": "upstream words", "code": "insufficient_quota" }), "quota_exhausted"),
        (json!({ "message": "upstream words", "code": "SensitiveContentDetected" }), "content_filtered"),
    ];
    for (error, code) in errors {
        let event = format!("data: {}\n\n", json!({ "error": error }));
        let (turn, stored) = run_broken_turn(|reply| reply.bytes(event.clone())).await;
        assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", code));
        assert_eq!(stored["status"], "failed");
    }
}

#[tokio::test]
async fn f043_malformed_json_event_ends_the_turn() {
    let (turn, stored) = run_broken_turn(|reply| reply.bytes("data: {\"choices\": [{]\n\n")).await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "upstream_bad_response"));
    assert_eq!(stored["status"], "failed");
}

#[tokio::test]
async fn f044_deeply_nested_event_ends_the_turn() {
    let deep = format!("data: {{\"choices\":{}\n\n", "[".repeat(100_000));
    let (turn, _) = run_broken_turn(|reply| reply.bytes(deep.clone())).await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "upstream_bad_response"));
}

#[tokio::test]
async fn f041_endless_line_ends_the_turn() {
    let endless = |mut reply: Reply| {
        reply = reply.bytes("data: ");
        for _ in 0..40 {
            reply = reply.bytes("x".repeat(1 << 16));
        }
        reply.stall()
    };
    let (turn, _) = run_broken_turn(endless).await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "upstream_bad_response"));
}

#[tokio::test]
async fn f042_endless_answer_is_ended() {
    let app = TestApp::start().await;
    let piece = "x".repeat(1 << 16);
    let endless = (0..100).fold(Completion::new(), |stream, _| stream.text(&piece)).reply().stall();
    app.model.queue_replies([endless]);
    let turn = app.send_message("你好").await;
    assert!((1 << 16..5 << 20).contains(&turn.content().len()), "{} bytes", turn.content().len());
    app.model.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn f038_comments_alone_are_no_progress() {
    let app = TestApp::start_with(&[("MODEL_PROGRESS_SECONDS", "1")]).await;
    app.model.queue_replies([Completion::new().text("半句").raw(": keep-alive\n\n").reply().stall()]);
    let turn = app.send_message("你好").await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半句", "upstream_stalled"));
}

#[tokio::test]
async fn f060_deadline_with_partial_text_finishes_with_deadline() {
    let app = TestApp::start_with(&[("TURN_SECONDS", "2")]).await;
    app.model.queue_replies([Completion::new().text("半句").reply().stall()]);
    let turn = app.send_message("你好").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句", "deadline"));
    app.model.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn f060_deadline_without_text_is_an_error() {
    let app = TestApp::start_with(&[("TURN_SECONDS", "2")]).await;
    app.model.queue_replies([Reply::no_response()]);
    assert_eq!(app.send_message("你好").await.error_code(), "deadline");
    app.model.queue_replies([Reply::no_response()]);
    assert_eq!(app.chat_once(&json!({ "message": "你好" })).await.error().1, "deadline");
}

/// A model whose first reply ends in this way after the beginning of what may be a call, and whose second one is whole.
async fn run_unseen_break(begin: &str, end: impl Fn(Reply) -> Reply) -> (Transcript, usize) {
    let app = TestApp::start_with(&SHORT_TIMEOUTS).await;
    app.model.queue_replies([end(Completion::new().text(begin).reply()), Completion::of(["好。"])]);
    let turn = app.send_message("你好").await;
    (turn, app.model.requests().len())
}

#[tokio::test]
async fn f019_stall_of_unseen_text_is_retried() {
    let (turn, requests) = run_unseen_break("<tool_call>{\"tool\": ", Reply::stall).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason(), requests), ("好。", "stop", 2));
}

#[tokio::test]
async fn f020_disconnect_in_unseen_text_is_retried() {
    let ends: [fn(Reply) -> Reply; 4] = [Reply::reset, Reply::disconnect, Reply::until_close, |reply| reply];
    for (begin, end) in ["<tool_call>{\"tool\": ", "<tool_", "<thi", "{\"tool\":"].into_iter().zip(ends) {
        let (turn, requests) = run_unseen_break(begin, end).await;
        assert_eq!((turn.content().as_str(), turn.finish_reason(), requests), ("好。", "stop", 2), "{begin}");
    }
}

#[tokio::test]
async fn f020_unseen_breaks_end_after_three_attempts() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::new().text("<tool_call>{\"tool\": ").reply().disconnect());
    let turn = app.send_message("你好").await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("", "upstream_disconnected"));
    assert_eq!(app.model.requests().len(), 3);
}
