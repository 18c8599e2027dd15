use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use conversation::{Event, Failure};
use futures_util::stream::unfold;
use http::{HeaderValue, header};
use protocols::{Document, Protocol};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// After this long without a frame, a comment shows that the stream lives.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// As many events as are ready go into one write, up to this many.
const BATCH: usize = 64;

/// Streams a turn's events as frames of `protocol`; the body ends when the sender is dropped, and never fails.
pub fn stream(events: mpsc::Receiver<Event>, protocol: impl Protocol + 'static) -> Response {
    let state = (events, protocol, Vec::with_capacity(BATCH));
    let body = Body::from_stream(unfold(state, |(mut events, mut protocol, mut ready)| async move {
        let chunk = next_chunk(&mut events, &mut protocol, &mut ready).await?;
        Some((Ok::<_, Infallible>(chunk), (events, protocol, ready)))
    }));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
    ];
    (headers, body).into_response()
}

async fn next_chunk(
    events: &mut mpsc::Receiver<Event>,
    protocol: &mut impl Protocol,
    ready: &mut Vec<Event>,
) -> Option<Bytes> {
    match timeout(KEEP_ALIVE, events.recv_many(ready, BATCH)).await {
        Err(_) => Some(Bytes::from_static(b": keep-alive\n\n")),
        Ok(0) => None,
        Ok(_) => {
            let mut out = String::new();
            for event in ready.drain(..) {
                protocol.frames(&event, &mut out);
            }
            Some(Bytes::from(out))
        }
    }
}

/// Waits for the end of a turn and gives it as one document.
///
/// # Errors
/// The failure that ended the turn.
pub async fn collect(mut events: mpsc::Receiver<Event>) -> Result<Document, Failure> {
    let mut document = Document::default();
    while let Some(event) = events.recv().await {
        document.add(event);
    }
    document.finish()
}

#[cfg(test)]
mod tests {
    use conversation::FinishReason;
    use http_body_util::BodyExt;
    use protocols::Native;

    use super::*;

    async fn next(body: &mut Body) -> Option<String> {
        let frame = body.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(frame.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn events_that_are_ready_leave_in_one_write() {
        let (sender, events) = mpsc::channel(8);
        let mut body = stream(events, Native::new("T", "r")).into_body();
        for delta in ["a", "b"] {
            sender.send(Event::Text { delta: delta.into() }).await.unwrap();
        }
        assert_eq!(next(&mut body).await.unwrap().matches("data:").count(), 2);
        sender.send(Event::Done { finish_reason: FinishReason::Stop }).await.unwrap();
        drop(sender);
        assert!(next(&mut body).await.unwrap().ends_with("data: [DONE]\n\n"));
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn f097_a_silent_stream_says_every_ten_seconds_that_it_lives() {
        let (_sender, events) = mpsc::channel(8);
        let mut body = stream(events, Native::new("T", "r")).into_body();
        let begun = tokio::time::Instant::now();
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(begun.elapsed().as_secs(), 20);
    }
}
