use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use conversation::{Batch, Event, Failure};
use futures_util::StreamExt;
use futures_util::stream::{Stream, once, unfold};
use http::{HeaderValue, header};
use protocols::{Document, Protocol};
use tokio::time::{Instant, sleep, timeout_at};

/// After this time without a frame, a keep-alive comment is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// A chunk of at least this size takes no more frames.
const MAX_CHUNK_BYTES: usize = 64 * 1024;

/// Streams a turn's events as frames of `protocol`, one write for all events that are ready; the body ends with the events
/// and never fails.
pub fn stream(
    events: impl Stream<Item = Batch> + Send + Unpin + 'static,
    protocol: impl Protocol + 'static,
) -> Response {
    let body = SseBody { events, protocol, batch: Batch::new(), next: 0 };
    let chunks = unfold(body, |mut body| async move { Some((Ok::<_, Infallible>(body.next_chunk().await?), body)) });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

/// Renders a turn's events.
struct SseBody<S, P> {
    events: S,
    protocol: P,
    /// Events of which those from `next` on are not rendered yet.
    batch: Batch,
    next: usize,
}

impl<S: Stream<Item = Batch> + Unpin, P: Protocol> SseBody<S, P> {
    /// The next chunk to write: frames, or a comment after [`KEEP_ALIVE`] without any; `None` at the end.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            // Not every event has a frame in every protocol.
            if let Some(chunk) = self.render() {
                return Some(chunk);
            }
            tokio::select! {
                biased;
                batch = self.events.next() => (self.batch, self.next) = (batch?, 0),
                () = sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b": keep-alive\n\n")),
            }
        }
    }

    /// The frames of the events that are ready, up to about [`MAX_CHUNK_BYTES`]: a client that resumes a long answer gets
    /// it in several chunks, and other connections are served in between.
    fn render(&mut self) -> Option<Bytes> {
        let mut text = String::new();
        while let Some(event) = self.batch.get(self.next).filter(|_| text.len() < MAX_CHUNK_BYTES) {
            self.protocol.frames(event, &mut text);
            self.next += 1;
        }
        (!text.is_empty()).then(|| text.into())
    }
}

/// Waits until a turn emits content, for at most [`KEEP_ALIVE_INTERVAL`]. It serves clients that check the status first
/// and retry depending on it.
///
/// # Errors
/// The failure that ended the turn before any content.
pub async fn opened(
    events: impl Stream<Item = Batch> + Send + 'static,
) -> Result<impl Stream<Item = Batch> + Send + Unpin + 'static, Failure> {
    let mut events = Box::pin(events.fuse());
    let (silent, mut first) = (Instant::now() + KEEP_ALIVE, Batch::new());
    while !first.iter().any(|event: &Event| says(event)) {
        match timeout_at(silent, events.next()).await {
            Ok(Some(batch)) => first.extend(batch),
            Ok(None) | Err(_) => break,
        }
    }
    // A turn that fails after its first content is still a stream.
    if let Some(Event::Failed(failure)) = first.iter().find(|event| says(event)) {
        return Err(Failure::clone(failure));
    }
    Ok(once(std::future::ready(first)).chain(events))
}

fn says(event: &Event) -> bool {
    matches!(
        event,
        Event::Text { .. }
            | Event::Thinking { .. }
            | Event::ToolCall(_)
            | Event::CallersCall(_)
            | Event::Done { .. }
            | Event::Failed(_)
    )
}

/// Waits for the end of a turn and returns it as one document.
///
/// # Errors
/// The failure that ended the turn.
pub async fn collect(events: impl Stream<Item = Batch>) -> Result<Document, Failure> {
    let add = |mut document: Document, batch: Batch| async move {
        for event in &batch {
            document.add(event);
        }
        document
    };
    events.fold(Document::default(), add).await.finish()
}

#[cfg(test)]
mod tests {
    use conversation::{FinishReason, Started};
    use futures_util::stream;
    use http_body_util::BodyExt;
    use protocols::Native;

    use super::*;

    async fn next(body: &mut Body) -> Option<String> {
        let frame = body.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(frame.to_vec()).unwrap())
    }

    fn told(batches: impl IntoIterator<Item = Vec<Event>>) -> impl Stream<Item = Batch> + Send + Unpin + 'static {
        stream::iter(batches.into_iter().map(Batch::from_vec).collect::<Vec<_>>())
    }

    #[tokio::test]
    async fn ready_events_share_one_write() {
        let text = |delta: &str| Event::Text { delta: delta.into() };
        let done = Event::Done { finish_reason: FinishReason::Stop };
        let events = told([vec![text("a"), text("b")], vec![done]]);
        let mut body = super::stream(events, Native::new("T", "r")).into_body();
        assert_eq!(next(&mut body).await.unwrap().matches("data:").count(), 2);
        assert!(next(&mut body).await.unwrap().ends_with("data: [DONE]\n\n"));
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn unsent_chunks_are_never_overwritten() {
        let texts: Vec<String> = (1..40).map(|number| "x".repeat(number * number * 7)).collect();
        let body = |turn: &str| {
            let events: Vec<_> = texts.iter().map(|text| vec![Event::Text { delta: text.clone() }]).collect();
            super::stream(told(events), Native::new(turn, "r")).into_body()
        };
        let (mut bodies, mut chunks) = ([body("T"), body("U")], [Vec::new(), Vec::new()]);
        for _ in &texts {
            for (body, chunks) in bodies.iter_mut().zip(&mut chunks) {
                chunks.push(body.frame().await.unwrap().unwrap().into_data().unwrap());
            }
        }
        for (turn, chunks) in ["T", "U"].iter().zip(chunks) {
            let expected = texts.iter().enumerate().map(|(place, text)| {
                format!("id: {turn}-{}\ndata: {{\"type\":\"content\",\"content\":\"{text}\"}}\n\n", place + 1)
            });
            assert_eq!(chunks, expected.collect::<Vec<_>>());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn early_failure_is_no_stream_slow_start_is() {
        let started = || {
            Event::Started(Box::new(Started {
                conversation_id: String::new(),
                message_id: String::new(),
                model: String::new(),
            }))
        };
        let failed = || Event::Failed(Box::new(conversation::ErrorCode::UpstreamAuth.into()));
        let text = || Event::Text { delta: "a".into() };
        let early = told([vec![started()], vec![failed()]]);
        assert_eq!(opened(early).await.err(), Some(conversation::ErrorCode::UpstreamAuth.into()));
        let late = told([vec![started(), text(), failed()]]);
        assert_eq!(opened(late).await.unwrap().concat().await.len(), 3);
        let slow = told([vec![started()]]).chain(stream::pending());
        assert_eq!(Box::pin(opened(slow).await.unwrap()).next().await.unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn f097_idle_stream_sends_keep_alive_every_10_seconds() {
        let mut body = super::stream(stream::pending(), Native::new("T", "r")).into_body();
        let begun = tokio::time::Instant::now();
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(begun.elapsed().as_secs(), 20);
    }
}
