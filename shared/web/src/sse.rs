use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use aside::Aside;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use conversation::{Event, Failure};
use futures_util::StreamExt;
use futures_util::stream::{Stream, once, unfold};
use http::{HeaderValue, header};
use protocols::{Document, Protocol};
use tokio::time::{Instant, Sleep, sleep, timeout_at};

/// After this long without a frame, a comment shows that the stream lives.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The longest chunk whose memory is kept for the next one, in bytes: far longer than a word's.
const KEPT: usize = 4096;

/// Streams a turn's events as frames of `protocol`, a write per batch; the body ends with the events and never fails.
pub fn stream(
    events: impl Stream<Item = Vec<Arc<Event>>> + Send + 'static,
    protocol: impl Protocol + 'static,
) -> Response {
    let alarm = Aside::new(Box::pin(sleep(KEEP_ALIVE)));
    // Boxed, because it is moved for every chunk.
    let chunks =
        Box::new(Chunks { events: Box::pin(events), protocol, alarm, text: String::new(), bytes: BytesMut::new() });
    let body = Body::from_stream(unfold(chunks, |mut chunks| async move {
        let chunk = chunks.next().await?;
        Some((Ok::<_, Infallible>(chunk), chunks))
    }));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
    ];
    (headers, body).into_response()
}

/// A turn's events as what is written of them.
struct Chunks<S, P> {
    events: Pin<Box<S>>,
    protocol: P,
    alarm: Aside<Pin<Box<Sleep>>>,
    /// Where frames are written, empty between two chunks, and where they lie until they are sent: what the last chunk has
    /// left the next one takes, so that a word needs no memory of its own.
    text: String,
    bytes: BytesMut,
}

impl<S: Stream<Item = Vec<Arc<Event>>>, P: Protocol> Chunks<S, P> {
    async fn next(&mut self) -> Option<Bytes> {
        let Self { events, protocol, alarm, text, bytes } = self;
        let mut silence = std::pin::pin!(silence(alarm));
        // Not every event has a frame in every protocol.
        while text.is_empty() {
            let batch = tokio::select! {
                biased;
                batch = events.next() => batch?,
                () = &mut silence => return Some(Bytes::from_static(b": keep-alive\n\n")),
            };
            for event in batch {
                protocol.frames(&event, text);
            }
        }
        if text.len() > KEPT {
            return Some(Bytes::from(std::mem::take(text)));
        }
        bytes.extend_from_slice(text.as_bytes());
        text.clear();
        Some(bytes.split().freeze())
    }
}

/// Ends after [`KEEP_ALIVE`]. The timer is set anew when it ends too early and not before: to set it for every frame
/// would cost more than to write one.
async fn silence(alarm: &mut Aside<Pin<Box<Sleep>>>) {
    let end = Instant::now() + KEEP_ALIVE;
    loop {
        (&mut *alarm).await;
        if alarm.future().deadline() >= end {
            return;
        }
        alarm.change().as_mut().reset(end);
    }
}

/// Waits until a turn has something to say, for as long as a stream may be silent: for clients that look at the status
/// before anything else, and try again by it.
///
/// # Errors
/// The failure that ended the turn before that.
pub async fn opened(
    events: impl Stream<Item = Vec<Arc<Event>>> + Send + 'static,
) -> Result<impl Stream<Item = Vec<Arc<Event>>> + Send + 'static, Failure> {
    let mut events = Box::pin(events.fuse());
    let (silent, mut first) = (Instant::now() + KEEP_ALIVE, Vec::new());
    while !first.iter().any(|event: &Arc<Event>| says(event)) {
        match timeout_at(silent, events.next()).await {
            Ok(Some(batch)) => first.extend(batch),
            Ok(None) | Err(_) => break,
        }
    }
    // What comes first counts: a turn that fails after its first words is a stream all the same.
    if let Some(Event::Failed(failure)) = first.iter().map(AsRef::as_ref).find(|event| says(event)) {
        return Err(failure.clone());
    }
    Ok(once(ready(first)).chain(events))
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

    #[tokio::test]
    async fn chunks_that_nobody_has_sent_yet_stay_as_they_are_however_long_they_are() {
        let texts: Vec<String> = (1..40).map(|number| "x".repeat(number * number * 7)).collect();
        let event = |text: &String| vec![Arc::new(Event::Text { delta: text.clone() })];
        let events = stream::iter(texts.iter().map(event).collect::<Vec<_>>());
        let mut body = super::stream(events, Native::new("T", "r")).into_body();
        let mut chunks = Vec::new();
        while let Some(frame) = body.frame().await {
            chunks.push(frame.unwrap().into_data().unwrap());
        }
        let expected = texts.iter().enumerate().map(|(place, text)| {
            format!("id: T-{}\ndata: {{\"type\":\"content\",\"content\":\"{text}\"}}\n\n", place + 1)
        });
        assert_eq!(chunks, expected.collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_fails_before_its_first_words_is_no_stream_and_a_slow_one_is() {
        let started =
            || Event::Started { conversation_id: String::new(), message_id: String::new(), model: String::new() };
        let failed = || Event::Failed(conversation::ErrorCode::UpstreamAuth.into());
        let text = || Event::Text { delta: "a".into() };
        let batch = |events: Vec<Event>| events.into_iter().map(Arc::new).collect::<Vec<_>>();
        let early = stream::iter([batch(vec![started()]), batch(vec![failed()])]);
        assert_eq!(opened(early).await.err(), Some(conversation::ErrorCode::UpstreamAuth.into()));
        let late = stream::iter([batch(vec![started(), text(), failed()])]);
        assert_eq!(opened(late).await.unwrap().collect::<Vec<_>>().await.concat().len(), 3);
        let slow = stream::iter([batch(vec![started()])]).chain(stream::pending());
        assert_eq!(Box::pin(opened(slow).await.unwrap()).next().await.unwrap().len(), 1);
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
