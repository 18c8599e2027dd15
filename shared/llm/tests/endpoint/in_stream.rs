//! Events and errors after the start of a reply.

use std::sync::Arc;

use llm::{CallOptions, Delta, Finish, ModelError, TokenUsage};
use tokio::sync::Notify;
use tokio::time::{Duration, Instant, timeout};

use crate::server::{Answer, Server, Step, far_deadline, hello_prompt, read_reply};

const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn each_delta_is_emitted_before_the_next() {
    let gate = Arc::new(Notify::new());
    let wait = Step::Wait(Arc::clone(&gate));
    let answer = Answer::stream().text("one").step(wait.clone()).text("two").step(wait).finish("stop").done();
    let server = Server::start([answer]).await;
    let mut reply =
        server.client(&[]).reply(&hello_prompt(), CallOptions::with_deadline(far_deadline())).await.unwrap();
    assert_eq!(reply.next().await, Some(Ok(text("one"))));
    gate.notify_one();
    assert_eq!(reply.next().await, Some(Ok(text("two"))));
    gate.notify_one();
    assert_eq!(reply.next().await, Some(Ok(Delta::Finish(Finish::Stop))));
    assert_eq!(reply.next().await, None);
    assert_eq!(reply.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn reply_can_be_read_by_another_task() {
    let server = Server::start([Answer::hello()]).await;
    let client = server.client(&[]);
    let reading = tokio::spawn(async move { read_reply(&client, &hello_prompt(), far_deadline()).await });
    assert_eq!(reading.await.unwrap(), (vec![text("hello"), Delta::Finish(Finish::Stop)], None));
}

#[tokio::test(start_paused = true)]
async fn cancelled_next_loses_no_delta_and_keeps_timeouts() {
    let server = Server::start([Answer::stream().text("one").step(Step::Stall)]).await;
    let mut reply =
        server.client(&[]).reply(&hello_prompt(), CallOptions::with_deadline(far_deadline())).await.unwrap();
    assert_eq!(reply.next().await, Some(Ok(text("one"))));
    let begun = Instant::now();
    let error = loop {
        if let Ok(next) = timeout(Duration::from_secs(10), reply.next()).await {
            break next;
        }
    };
    assert_eq!(error, Some(Err(ModelError::Stalled)));
    assert_eq!(begun.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn f019_stalled_model_ends_reply_after_idle_timeout() {
    let server = Server::start([Answer::stream().text("one").step(Step::Stall)]).await;
    let begun = Instant::now();
    let client = server.client(&[("MODEL_IDLE_SECONDS", "5")]);
    assert_eq!(
        read_reply(&client, &hello_prompt(), far_deadline()).await,
        (vec![text("one")], Some(ModelError::Stalled))
    );
    assert_eq!(begun.elapsed().as_secs(), 5);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn f019_stall_before_content_is_retried() {
    let role = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
    let server = Server::start([Answer::stream().data(role).step(Step::Stall), Answer::hello()]).await;
    let expected = (vec![text("hello"), Delta::Finish(Finish::Stop)], None);
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn f020_f021_interrupted_stream_is_not_retried() {
    for end in [
        Answer::stream().text("one").step(Step::Reset),
        Answer::stream().text("one").step(Step::Close),
        Answer::stream().text("one").raw("5\r\nda").step(Step::Close),
        Answer::stream().text("one").end(),
    ] {
        let server = Server::start([end]).await;
        let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
        assert_eq!(outcome, (vec![text("one")], Some(ModelError::Disconnected)));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn f020_f021_stream_interrupted_before_content_is_retried() {
    let call = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}"#;
    for end in [
        Answer::stream().bytes(b": wait\n\n").step(Step::Reset),
        Answer::stream().bytes(b": wait\n\n").end(),
        Answer::stream().data(r#"{"choices":[{"index":0,"delta":{"content":""}}]}"#).step(Step::Close),
        Answer::stream().data(call).step(Step::Close),
    ] {
        let server = Server::start([end, Answer::hello()]).await;
        let expected = (vec![text("hello"), Delta::Finish(Finish::Stop)], None);
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn f022_connection_errors_after_finish_are_ignored() {
    let expected = (
        vec![
            text("one"),
            Delta::Usage(TokenUsage { input: 3, cached: 0, cache_writes: 0, output: 4 }),
            Delta::Finish(Finish::Stop),
        ],
        None,
    );
    for end in [Step::Close, Step::Reset, Step::Stall] {
        let server = Server::start([Answer::stream().text("one").finish("stop").data(USAGE).step(end)]).await;
        let begun = Instant::now();
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);
        assert!(begun.elapsed() <= Duration::from_millis(2100), "{:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn f024_data_after_done_is_ignored() {
    let answer = Answer::stream().text("one").finish("stop").data("[DONE]").text("more").step(Step::Stall);
    let server = Server::start([answer]).await;
    let begun = Instant::now();
    let expected = (vec![text("one"), Delta::Finish(Finish::Stop)], None);
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);
    assert!(begun.elapsed() < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn f025_stream_error_is_retried_only_before_content() {
    let overloaded = r#"{"error":{"code":"ServerOverloaded","message":"busy","type":"TooManyRequests"}}"#;
    for early in [
        Answer::stream().data(overloaded).done(),
        Answer::stream().bytes(format!("{overloaded}\n\n").as_bytes()).end(),
        Answer::stream().bytes(format!("event: error\ndata: {overloaded}\n\n").as_bytes()).end(),
        Answer::stream()
            .data(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502}}]}"#)
            .end(),
    ] {
        let server = Server::start([early, Answer::hello()]).await;
        let expected = (vec![text("hello"), Delta::Finish(Finish::Stop)], None);
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);
    }
    let server = Server::start([Answer::stream().text("one").data(overloaded).done()]).await;
    let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    assert_eq!(outcome, (vec![text("one")], Some(ModelError::Unavailable)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn f025_fatal_stream_error_ends_the_reply() {
    for (data, error) in [
        (
            r#"{"error":{"code":"SensitiveContentDetected","message":"x"}}"#,
            ModelError::ContentFiltered { category: None },
        ),
        (r#"{"error":{"code":"insufficient_quota","message":"x"}}"#, ModelError::QuotaExhausted),
        (r#"{"error":{"code":401,"message":"x"}}"#, ModelError::Auth),
        (r#"{"error":{"type":"invalid_request_error","message":"x"}}"#, ModelError::Rejected),
    ] {
        let server = Server::start([Answer::stream().data(data).end()]).await;
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, (vec![], Some(error)));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn f038_comments_keep_reply_alive_for_limited_time() {
    let comment = |answer: Answer| answer.step(Step::Sleep(Duration::from_secs(20))).bytes(b": wait\n\n");
    let slow = comment(comment(comment(Answer::stream().text("one")))).text("two").finish("stop").done();
    let server = Server::start([slow]).await;
    let expected = (vec![text("one"), text("two"), Delta::Finish(Finish::Stop)], None);
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);

    let endless = (0..20).fold(Answer::stream().text("one"), |answer, _| comment(answer));
    let server = Server::start([endless]).await;
    let begun = Instant::now();
    let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    assert_eq!(outcome, (vec![text("one")], Some(ModelError::Stalled)));
    assert_eq!(begun.elapsed().as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn f038_call_fragments_are_progress_empty_deltas_not() {
    let piece = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" "}}]}}]}"#;
    let empty = r#"{"choices":[{"index":0,"delta":{"content":"","role":"assistant"}}]}"#;
    let head = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}}]}"#;
    let every = |answer: Answer, data: &str| answer.step(Step::Sleep(Duration::from_secs(25))).data(data);
    let calling = (0..8).fold(Answer::stream().data(head), |answer, _| every(answer, piece));
    let server = Server::start([calling.finish("tool_calls").done()]).await;
    let (deltas, error) = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    assert_eq!((deltas.len(), error), (2, None), "{deltas:?}");

    let idling = (0..8).fold(Answer::stream().text("one"), |answer, _| every(answer, empty));
    let server = Server::start([idling.finish("stop").done()]).await;
    let (_, error) = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    assert_eq!(error, Some(ModelError::Stalled));
}

#[tokio::test(start_paused = true)]
async fn slow_reader_causes_no_timeout() {
    let gate = Arc::new(Notify::new());
    let answer = Answer::stream().text("one").step(Step::Wait(Arc::clone(&gate))).text("two").finish("stop").done();
    let server = Server::start([answer]).await;
    let mut reply =
        server.client(&[]).reply(&hello_prompt(), CallOptions::with_deadline(far_deadline())).await.unwrap();
    assert_eq!(reply.next().await, Some(Ok(text("one"))));
    gate.notify_one();
    tokio::time::advance(Duration::from_secs(200)).await;
    assert_eq!(reply.next().await, Some(Ok(text("two"))));
    assert_eq!(reply.next().await, Some(Ok(Delta::Finish(Finish::Stop))));
}

#[tokio::test(start_paused = true)]
async fn deadline_ends_an_incomplete_reply() {
    let endless =
        (0..50).fold(Answer::stream(), |answer, _| answer.text("x").step(Step::Sleep(Duration::from_secs(1))));
    let server = Server::start([endless]).await;
    let begun = Instant::now();
    let (deltas, error) = read_reply(&server.client(&[]), &hello_prompt(), begun + Duration::from_millis(9500)).await;
    assert_eq!((deltas.len(), error), (10, Some(ModelError::Deadline)));
    assert!(begun.elapsed() <= Duration::from_millis(9502));
}

#[tokio::test(start_paused = true)]
async fn f041_f042_oversized_event_or_reply_is_bad_response() {
    let server = Server::start([Answer::stream().text("one").text(&"x".repeat(1024 * 1024))]).await;
    let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    assert_eq!(outcome, (vec![text("one")], Some(ModelError::BadResponse)));

    let half = "x".repeat(512 * 1024);
    let server = Server::start([(0..9).fold(Answer::stream(), |answer, _| answer.text(&half))]).await;
    let (deltas, error) = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    let size: usize = deltas.iter().map(|delta| if let Delta::Text(text) = delta { text.len() } else { 0 }).sum();
    assert_eq!(error, Some(ModelError::BadResponse));
    assert!((4 * 1024 * 1024..=5 * 1024 * 1024).contains(&size), "{size}");
}

/// An answer of `count` deltas, long enough that its end is read ahead, and these deltas.
fn fast(count: usize) -> (Answer, Vec<Delta>) {
    let tokens: Vec<_> = (0..count).map(|number| format!("{number} ")).collect();
    let answer = tokens.iter().fold(Answer::stream(), |answer, token| answer.text(token));
    (answer, tokens.iter().map(|token| text(token)).collect())
}

#[tokio::test(start_paused = true)]
async fn burst_yields_every_delta() {
    let (answer, mut deltas) = fast(500);
    let server = Server::start([answer.finish("stop").done()]).await;
    deltas.push(Delta::Finish(Finish::Stop));
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, (deltas, None));
}

#[tokio::test(start_paused = true)]
async fn f019_f020_interrupted_burst_yields_all_earlier_deltas() {
    for (end, error) in [(Step::Stall, ModelError::Stalled), (Step::Close, ModelError::Disconnected)] {
        let (answer, deltas) = fast(200);
        let server = Server::start([answer.step(end)]).await;
        let client = server.client(&[("MODEL_IDLE_SECONDS", "5")]);
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, (deltas, Some(error)));
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_burst_reply_closes_its_connection() {
    let (answer, deltas) = fast(200);
    let server = Server::start([answer.step(Step::Stall)]).await;
    let mut reply =
        server.client(&[]).reply(&hello_prompt(), CallOptions::with_deadline(far_deadline())).await.unwrap();
    for delta in deltas {
        assert_eq!(reply.next().await, Some(Ok(delta)));
    }
    drop(reply);
    server.disconnected().await;
}
