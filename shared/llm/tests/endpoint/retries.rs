//! Retries: the number of attempts and the waits between them.

use llm::{CallOptions, Delta, Finish, ModelError};
use tokio::time::{Duration, Instant};

use crate::server::{Answer, Server, Step, far_deadline, hello_prompt, read_reply};

fn hello() -> (Vec<Delta>, Option<ModelError>) {
    (vec![Delta::Text("hello".to_owned()), Delta::Finish(Finish::Stop)], None)
}

fn too_fast(headers: &[(&str, &str)]) -> Answer {
    Answer::new(429, headers, r#"{"error":{"code":"RateLimitExceeded.EndpointRPMExceeded","message":"slow down"}}"#)
}

#[tokio::test(start_paused = true)]
async fn reply_is_streamed_to_its_finish() {
    let server = Server::start([Answer::hello()]).await;
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, hello());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn f001_short_retry_after_is_respected() {
    for (headers, wait) in [
        ([("retry-after", "2")], Duration::from_secs(2)),
        ([("retry-after", "0.5")], Duration::from_millis(500)),
        ([("retry-after-ms", "1500")], Duration::from_millis(1500)),
        ([("retry-after", "20")], Duration::from_secs(20)),
    ] {
        let server = Server::start([too_fast(&headers), Answer::hello()]).await;
        let begun = Instant::now();
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, hello());
        // The client's timer has a resolution of one millisecond.
        let waited = begun.elapsed();
        assert!(wait <= waited && waited < wait + Duration::from_millis(100), "{headers:?}: {waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f001_long_retry_after_is_returned_at_once() {
    let server = Server::start([too_fast(&[("retry-after", "21")])]).await;
    let begun = Instant::now();
    let retry_after = Some(Duration::from_secs(21));
    let expected = (vec![], Some(ModelError::RateLimited { retry_after }));
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);
    assert_eq!(server.requests().len(), 1);
    assert!(begun.elapsed() < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn f001_retry_after_past_deadline_is_returned_at_once() {
    let server = Server::start([too_fast(&[("retry-after", "10")])]).await;
    let begun = Instant::now();
    let retry_after = Some(Duration::from_secs(10));
    let expected = (vec![], Some(ModelError::RateLimited { retry_after }));
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), begun + Duration::from_secs(9)).await, expected);
    assert_eq!(server.requests().len(), 1);
    assert!(begun.elapsed() < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn f001_fallback_limits_retry_after_to_two_seconds() {
    let busy = |wait| Answer::new(429, &[("retry-after", wait)], "");
    let server = Server::start([busy("2"), busy("3"), Answer::hello()]).await;
    let options = CallOptions { has_fallback: true, ..CallOptions::with_deadline(far_deadline()) };
    let begun = Instant::now();
    let refused = server.client(&[]).reply(&hello_prompt(), options).await.err();
    let retry_after = Some(Duration::from_secs(3));
    assert_eq!((refused, server.requests().len()), (Some(ModelError::RateLimited { retry_after }), 2));
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn optional_call_has_one_attempt_without_consequences() {
    for status in [429, 500, 401] {
        let server = Server::start([Answer::new(status, &[], "")]).await;
        let options = CallOptions { is_optional: true, ..CallOptions::with_deadline(far_deadline()) };
        let client = server.client(&[]);
        assert!(client.reply(&hello_prompt(), options).await.is_err());
        assert_eq!((server.requests().len(), client.is_failing()), (1, false), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn f002_invalid_retry_after_uses_backoff_and_three_attempts() {
    for headers in [&[][..], &[("retry-after", "-1")], &[("retry-after", "nan")], &[("retry-after", "9e99")]] {
        let server = Server::start([too_fast(headers)]).await;
        let begun = Instant::now();
        let expected = (vec![], Some(ModelError::RateLimited { retry_after: None }));
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, expected);
        assert_eq!(server.requests().len(), 3);
        let waited = begun.elapsed();
        assert!(Duration::from_millis(1125) <= waited && waited < Duration::from_millis(1600), "{waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f004_transient_errors_get_three_attempts() {
    for status in [500, 502, 503, 504, 529, 408, 409] {
        let server = Server::start([Answer::new(status, &[], "upstream request failed")]).await;
        let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
        assert_eq!(outcome, (vec![], Some(ModelError::Unavailable)), "{status}");
        assert_eq!(server.requests().len(), 3, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn f004_success_at_third_attempt_is_returned() {
    let failures = [Answer::json(503, r#"{"error":{"message":"busy"}}"#), Answer::new(500, &[], "")];
    let server = Server::start(failures.into_iter().chain([Answer::hello()])).await;
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, hello());
    let ids: Vec<_> =
        server.requests().iter().map(|request| request.header("x-client-request-id").unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| *id == ids[0] && id.len() == 26), "{ids:?}");
}

#[tokio::test(start_paused = true)]
async fn expired_deadline_sends_no_request() {
    let server = Server::start([Answer::hello()]).await;
    let outcome = read_reply(&server.client(&[]), &hello_prompt(), Instant::now()).await;
    assert_eq!(outcome, (vec![], Some(ModelError::Deadline)));
    assert!(server.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn f011_first_byte_timeout_ends_an_attempt() {
    for silent in [Answer::default().step(Step::Stall), Answer::stream().step(Step::Stall)] {
        let server = Server::start([silent.clone(), Answer::hello()]).await;
        let begun = Instant::now();
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, hello());
        assert_eq!(begun.elapsed().as_secs(), 30);

        let server = Server::start([silent]).await;
        let begun = Instant::now();
        let client = server.client(&[("MODEL_FIRST_BYTE_SECONDS", "2")]);
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, (vec![], Some(ModelError::Stalled)));
        assert_eq!(begun.elapsed().as_secs(), 7, "three times two seconds and the waits between");
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn f011_first_byte_timeout_is_configurable_per_model() {
    let server = Server::start([Answer::default().step(Step::Stall), Answer::hello()]).await;
    let begun = Instant::now();
    let options = r#"{"openai":{"firstByteSeconds":60}}"#;
    let client = server.client(&[("MODEL_FIRST_BYTE_SECONDS", "2"), ("MODEL_OPTIONS", options)]);
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
    assert_eq!(begun.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn no_attempt_lasts_past_the_deadline() {
    for silent in [
        Answer::default().step(Step::Stall),
        Answer::stream().step(Step::Stall),
        Answer::stream().bytes(b": wait\n\n").step(Step::Stall),
        Answer::new(200, &[("content-length", "1")], "").step(Step::Stall),
        Answer::default().raw("HTTP/1.1 500 X\r\ncontent-length: 9\r\n\r\n").step(Step::Stall),
    ] {
        let server = Server::start([silent]).await;
        let begun = Instant::now();
        let (deltas, error) = read_reply(&server.client(&[]), &hello_prompt(), begun + Duration::from_secs(7)).await;
        assert!(deltas.is_empty());
        assert!(matches!(error, Some(ModelError::Deadline | ModelError::Unavailable)), "{error:?}");
        let took = begun.elapsed();
        assert!(took <= Duration::from_millis(7002), "{took:?}");
    }
}
