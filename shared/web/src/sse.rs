use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use conversation::{Event, Failure};
use futures_util::StreamExt;
use futures_util::stream::{Stream, unfold};
use http::{HeaderValue, header};
use protocols::{Document, Protocol};
use tokio::time::{Instant, Sleep, sleep};

/// After this long without a frame, a comment shows that the stream lives.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// What a frame of text takes, in bytes.
const FRAME: usize = 128;

/// Streams a turn's events as frames of `protocol`, a write per batch; the body ends with the events and never fails.
pub fn stream(
    events: impl Stream<Item = Vec<Arc<Event>>> + Send + 'static,
    protocol: impl Protocol + 'static,
) -> Response {
    let state = (Box::pin(events), protocol, Box::pin(sleep(KEEP_ALIVE)));
    let body = Body::from_stream(unfold(state, |(mut events, mut protocol, mut alarm)| async move {
        let chunk = next_chunk(&mut events, &mut protocol, &mut alarm).await?;
        Some((Ok::<_, Infallible>(chunk), (events, protocol, alarm)))
    }));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
    ];
    (headers, body).into_response()
}

async fn next_chunk(
    events: &mut Pin<Box<impl Stream<Item = Vec<Arc<Event>>>>>,
    protocol: &mut impl Protocol,
    alarm: &mut Pin<Box<Sleep>>,
) -> Option<Bytes> {
    let batch = tokio::select! {
        biased;
        batch = events.next() => batch?,
        () = silence(alarm) => return Some(Bytes::from_static(b": keep-alive\n\n")),
    };
    let mut out = String::with_capacity(batch.len() * FRAME);
    for event in batch {
        protocol.frames(&event, &mut out);
    }
    Some(Bytes::from(out))
}

/// Ends after [`KEEP_ALIVE`]. The timer is set anew when it ends too early and not before: to set it for every frame
/// would cost more than to write one.
async fn silence(alarm: &mut Pin<Box<Sleep>>) {
    let end = Instant::now() + KEEP_ALIVE;
    loop {
        alarm.as_mut().await;
        if alarm.deadline() >= end {
            return;
        }
        alarm.as_mut().reset(end);
    }
}

/// Waits for the end of a turn and gives it as one document.
///
/// # Errors
/// The failure that ended the turn.
pub async fn collect(events: impl Stream<Item = Vec<Arc<Event>>>) -> Result<Document, Failure> {
    let add = |mut document: Document, batch: Vec<Arc<Event>>| async move {
        for event in &batch {
            document.add(event);
        }
        document
    };
    events.fold(Document::default(), add).await.finish()
}

#[cfg(test)]
mod tests {
    use conversation::FinishReason;
    use futures_util::stream;
    use http_body_util::BodyExt;
    use protocols::Native;

    use super::*;

    async fn next(body: &mut Body) -> Option<String> {
        let frame = body.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(frame.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn events_that_are_ready_leave_in_one_write() {
        let text = |delta: &str| Arc::new(Event::Text { delta: delta.into() });
        let done = Arc::new(Event::Done { finish_reason: FinishReason::Stop });
        let events = stream::iter([vec![text("a"), text("b")], vec![done]]);
        let mut body = super::stream(events, Native::new("T", "r")).into_body();
        assert_eq!(next(&mut body).await.unwrap().matches("data:").count(), 2);
        assert!(next(&mut body).await.unwrap().ends_with("data: [DONE]\n\n"));
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn f097_a_silent_stream_says_every_ten_seconds_that_it_lives() {
        let mut body = super::stream(stream::pending(), Native::new("T", "r")).into_body();
        let begun = tokio::time::Instant::now();
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(begun.elapsed().as_secs(), 20);
    }
}
