//! Tests of the limits of a response.

use std::ops::ControlFlow;
use std::time::Duration;

use egress::{BodyChunk, EgressError, Limits, OnOversize, Request};
use http::Method;

use crate::support::{FakeNetwork, OPEN, Server, fetch, get, ok};

const TIGHT: Limits = Limits {
    total_timeout: Duration::from_secs(5),
    read_timeout: Duration::from_secs(5),
    max_body_bytes: 10,
    on_oversize: OnOversize::Refuse,
    max_header_bytes: 1000,
};

async fn fetch_from(server: &Server, limits: Limits) -> Result<(u16, String), EgressError> {
    let names = FakeNetwork::default().with("a.example.com", &[&["93.184.215.1"]]).with_route("93.184.215.1", server);
    fetch(&names.egress(OPEN), get("http://a.example.com/").limits(limits)).await
}

#[tokio::test]
async fn f133_oversized_body_is_refused_or_truncated() {
    let truncate = Limits { on_oversize: OnOversize::Truncate, ..TIGHT };
    let server = Server::start(ok("0123456789")).await;
    assert_eq!(fetch_from(&server, TIGHT).await, Ok((200, "0123456789".to_owned())));
    let server = Server::start(ok("0123456789a")).await;
    assert_eq!(fetch_from(&server, TIGHT).await, Err(EgressError::TooLarge));
    assert_eq!(fetch_from(&server, truncate).await, Ok((200, "0123456789".to_owned())));
    let server = Server::start(ok("汉汉汉汉")).await;
    assert_eq!(fetch_from(&server, truncate).await, Ok((200, "汉汉汉".to_owned())));
    let names = FakeNetwork::default().with("a.example.com", &[&["93.184.215.1"]]).with_route("93.184.215.1", &server);
    let response = names.egress(OPEN).send(get("http://a.example.com/").limits(truncate)).await.unwrap();
    assert!(response.truncated);
}

#[tokio::test]
async fn f133_false_content_length_fails() {
    let server = Server::start("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nabc").await;
    assert_eq!(fetch_from(&server, TIGHT).await, Err(EgressError::Disconnected));
}

#[tokio::test]
async fn f133_endless_body_ends_at_the_limit() {
    let endless = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}", "5\r\nabcde\r\n".repeat(99));
    let server = Server::start_hanging(endless).await;
    assert_eq!(fetch_from(&server, TIGHT).await, Err(EgressError::TooLarge));
    let cut = fetch_from(&server, Limits { on_oversize: OnOversize::Truncate, ..TIGHT }).await;
    assert_eq!(cut, Ok((200, "abcdeabcde".to_owned())));
}

#[tokio::test]
async fn f133_silent_or_stalled_response_times_out() {
    let brief = Duration::from_millis(50);
    let silent = Server::start_hanging("").await;
    assert_eq!(fetch_from(&silent, Limits { total_timeout: brief, ..TIGHT }).await, Err(EgressError::TimedOut));
    let stalled = Server::start_hanging("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab").await;
    assert_eq!(fetch_from(&stalled, Limits { total_timeout: brief, ..TIGHT }).await, Err(EgressError::TimedOut));
    assert_eq!(fetch_from(&stalled, Limits { read_timeout: brief, ..TIGHT }).await, Err(EgressError::TimedOut));
}

#[tokio::test]
async fn f133_compressed_response_is_refused() {
    for coding in ["gzip", "br", "identity, gzip", "deflate", "zstd"] {
        let bomb = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: 3\r\n\r\n\x1f\x0b\x08");
        assert_eq!(fetch_from(&Server::start(bomb).await, TIGHT).await, Err(EgressError::Compressed), "{coding}");
    }
    let plain = "HTTP/1.1 200 OK\r\ncontent-encoding: Identity\r\ncontent-length: 2\r\n\r\nok";
    assert_eq!(fetch_from(&Server::start(plain).await, TIGHT).await, Ok((200, "ok".to_owned())));
}

#[tokio::test]
async fn f133_endless_headers_are_refused() {
    let long = format!("HTTP/1.1 200 OK\r\nx-a: {}\r\ncontent-length: 0\r\n\r\n", "a".repeat(2000));
    assert_eq!(fetch_from(&Server::start(long).await, TIGHT).await, Err(EgressError::TooLarge));
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "x-a: b\r\n".repeat(100_000));
    assert_eq!(fetch_from(&Server::start_hanging(endless).await, TIGHT).await, Err(EgressError::Disconnected));
}

#[tokio::test]
async fn f056_invalid_utf8_becomes_replacement_characters() {
    let mut answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n".to_vec();
    answer.extend(b"a\xff\x00b\xe6");
    assert_eq!(fetch_from(&Server::start(answer).await, TIGHT).await, Ok((200, "a\u{fffd}\0b\u{fffd}".to_owned())));
}

#[tokio::test]
async fn f059_request_with_broken_response_is_sent_once() {
    let server = Server::start("HTTP/1.1 200 OK\r\ncontent-le").await;
    let names = FakeNetwork::default().with("a.example.com", &[&["93.184.215.1"]]).with_route("93.184.215.1", &server);
    let post = Request::new(Method::POST, "http://a.example.com/".parse().unwrap()).body(b"pay".to_vec());
    assert_eq!(fetch(&names.egress(OPEN), post).await, Err(EgressError::Disconnected));
    assert_eq!(server.received().len(), 1);
}

#[test]
fn f122_debug_output_of_request_hides_its_content() {
    let request = get("https://a.example.com/canary?canary").secret("x-key", &"canary".into()).unwrap();
    assert_eq!(format!("{request:?}"), "Request(GET)");
}

#[tokio::test]
async fn observer_can_end_the_body_early() {
    let server = Server::start_hanging("HTTP/1.1 200 OK\r\ncontent-length: 99\r\nx-kind: a\r\n\r\nabc").await;
    let names = FakeNetwork::default().with("a.example.com", &[&["93.184.215.1"]]).with_route("93.184.215.1", &server);
    let mut seen = Vec::new();
    let on_chunk = |chunk: BodyChunk<'_>| {
        seen.extend_from_slice(chunk.bytes);
        let whole = chunk.status == 200 && chunk.headers["x-kind"] == "a" && seen == b"abc";
        if whole { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let response = names.egress(OPEN).send_observed(get("http://a.example.com/"), on_chunk).await.unwrap();
    assert_eq!((response.text().as_ref(), response.truncated), ("abc", false));
}

#[tokio::test]
async fn f133_observer_sees_nothing_over_the_limit() {
    let server = Server::start(ok("0123456789abc")).await;
    let names = FakeNetwork::default().with("a.example.com", &[&["93.184.215.1"]]).with_route("93.184.215.1", &server);
    let mut seen = Vec::new();
    let on_chunk = |chunk: BodyChunk<'_>| {
        seen.extend_from_slice(chunk.bytes);
        ControlFlow::Continue(())
    };
    let limits = Limits { on_oversize: OnOversize::Truncate, ..TIGHT };
    let response =
        names.egress(OPEN).send_observed(get("http://a.example.com/").limits(limits), on_chunk).await.unwrap();
    assert!(response.truncated);
    assert_eq!(seen, b"0123456789");
}
