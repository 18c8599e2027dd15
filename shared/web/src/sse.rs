use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use client_protocols::{Protocol, TurnDocument};
use domain::{Event, EventBatch, Failure, Note, ToolEvent, TurnAccumulator};
use futures_util::StreamExt;
use futures_util::stream::{Stream, once, unfold};
use http::{HeaderValue, header};
use tokio::time::{Instant, sleep, timeout_at};

/// After this time without a frame, a keep-alive comment is sent.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// A chunk of at least this size takes no more frames.
const MAX_CHUNK_BYTES: usize = 64 * 1024;

/// Streams a turn's events as frames of `protocol`, one write for all events that are ready; the body ends with the events
/// and never fails.
pub fn stream_response(
    events: impl Stream<Item = EventBatch> + Send + Unpin + 'static,
    protocol: impl Protocol + 'static,
) -> Response {
    // In a box, because `unfold` moves it with every chunk.
    let body = Box::new(SseBody { events, protocol, batch: EventBatch::new(), next: 0 });
    let chunks = unfold(body, |mut body| async move { Some((Ok::<_, Infallible>(body.next_chunk().await?), body)) });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

struct SseBody<S, P> {
    events: S,
    protocol: P,
    /// Events of which those from `next` on are not rendered yet.
    batch: EventBatch,
    next: usize,
}

impl<S: Stream<Item = EventBatch> + Unpin, P: Protocol> SseBody<S, P> {
    /// The next chunk to write: frames, or a comment after [`KEEP_ALIVE_INTERVAL`] without any; `None` at the end.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            // Not every event has a frame in every protocol.
            if let Some(chunk) = self.render() {
                return Some(chunk);
            }
            tokio::select! {
                biased;
                batch = self.events.next() => (self.batch, self.next) = (batch?, 0),
                () = sleep(KEEP_ALIVE_INTERVAL) => return Some(Bytes::from_static(b": keep-alive\n\n")),
            }
        }
    }

    /// The frames of the events that are ready, up to about [`MAX_CHUNK_BYTES`]: a client that resumes a long answer gets
    /// it in several chunks, and other connections are served in between.
    fn render(&mut self) -> Option<Bytes> {
        let mut text = String::new();
        while let Some(event) = self.batch.get(self.next).filter(|_| text.len() < MAX_CHUNK_BYTES) {
            self.protocol.write_frames(event, &mut text);
            self.next += 1;
        }
        (!text.is_empty()).then(|| text.into())
    }
}

/// Waits until a turn emits content, for at most ten seconds. It serves clients that check the status first
/// and retry depending on it.
///
/// # Errors
/// The failure that ended the turn before any content.
pub async fn wait_for_first_content(
    events: impl Stream<Item = EventBatch> + Send + 'static,
) -> Result<impl Stream<Item = EventBatch> + Send + Unpin + 'static, Failure> {
    let mut events = Box::pin(events.fuse());
    let (give_up_at, mut first) = (Instant::now() + KEEP_ALIVE_INTERVAL, EventBatch::new());
    while !first.iter().any(|event: &Event| is_content(event)) {
        match timeout_at(give_up_at, events.next()).await {
            Ok(Some(batch)) => first.extend(batch),
            Ok(None) | Err(_) => break,
        }
    }
    // A turn that fails after its first content is still a stream.
    if let Some(Event::End(Err(failure))) = first.iter().find(|event| is_content(event)) {
        return Err(Failure::clone(failure));
    }
    Ok(once(std::future::ready(first)).chain(events))
}

fn is_content(event: &Event) -> bool {
    match event {
        Event::Delta(_)
        | Event::Tool(ToolEvent::Call(_) | ToolEvent::ClientCall(_))
        | Event::Note(Note::EarlierSource(_))
        | Event::End(_) => true,
        Event::Started(_)
        | Event::Tool(ToolEvent::Progress(_) | ToolEvent::Result(_))
        | Event::Note(Note::ModelSwitched(_) | Note::Title(_) | Note::Usage(_)) => false,
    }
}

/// Waits for the end of a turn and returns it as one document.
///
/// # Errors
/// The failure that ended the turn.
pub async fn collect(events: impl Stream<Item = EventBatch>) -> Result<TurnDocument, Failure> {
    let add = |mut turn: TurnAccumulator, batch: EventBatch| async move {
        batch.iter().for_each(|event| turn.apply(event));
        turn
    };
    TurnDocument::new(events.fold(TurnAccumulator::default(), add).await)
}

#[cfg(test)]
mod tests {
    use client_protocols::NativeSse;
    use domain::{AnswerDelta, FinishReason, TurnStart};
    use futures_util::stream;
    use http_body_util::BodyExt;

    use super::*;

    async fn next(body: &mut Body) -> Option<String> {
        let frame = body.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(frame.to_vec()).unwrap())
    }

    fn event_stream(
        batches: impl IntoIterator<Item = Vec<Event>>,
    ) -> impl Stream<Item = EventBatch> + Send + Unpin + 'static {
        stream::iter(batches.into_iter().map(EventBatch::from_vec).collect::<Vec<_>>())
    }

    #[tokio::test]
    async fn ready_events_share_one_write() {
        let text = |delta: &str| Event::Delta(AnswerDelta::Text(delta.into()));
        let done = Event::End(Ok(FinishReason::Stop));
        let events = event_stream([vec![text("a"), text("b")], vec![done]]);
        let mut body = super::stream_response(events, NativeSse::new("T", "r")).into_body();
        assert_eq!(next(&mut body).await.unwrap().matches("data:").count(), 2);
        assert!(next(&mut body).await.unwrap().ends_with("data: [DONE]\n\n"));
        assert_eq!(next(&mut body).await, None);
    }

    #[tokio::test]
    async fn unsent_chunks_are_never_overwritten() {
        let texts: Vec<String> = (1..40).map(|number| "x".repeat(number * number * 7)).collect();
        let body = |turn: &str| {
            let events: Vec<_> = texts.iter().map(|text| vec![Event::Delta(AnswerDelta::Text(text.clone()))]).collect();
            super::stream_response(event_stream(events), NativeSse::new(turn, "r")).into_body()
        };
        let (mut bodies, mut chunks) = ([body("T"), body("U")], [Vec::new(), Vec::new()]);
        for _ in &texts {
            for (body, chunks) in bodies.iter_mut().zip(&mut chunks) {
                chunks.push(body.frame().await.unwrap().unwrap().into_data().unwrap());
            }
        }
        for (turn, chunks) in ["T", "U"].iter().zip(chunks) {
            let mut total = 1;
            let expected = texts.iter().map(|text| {
                total += text.len();
                format!("id: {turn}-{total}.0\ndata: {{\"type\":\"content\",\"content\":\"{text}\"}}\n\n")
            });
            assert_eq!(chunks, expected.collect::<Vec<_>>());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn early_failure_is_no_stream_slow_start_is() {
        let started = || {
            Event::Started(Box::new(TurnStart {
                continues: false,
                conversation_id: String::new(),
                message_id: String::new(),
                model: String::new(),
            }))
        };
        let failed = || Event::End(Err(Box::new(domain::ErrorCode::UpstreamAuth.into())));
        let text = || Event::Delta(AnswerDelta::Text("a".into()));
        let early = event_stream([vec![started()], vec![failed()]]);
        assert_eq!(wait_for_first_content(early).await.err(), Some(domain::ErrorCode::UpstreamAuth.into()));
        let late = event_stream([vec![started(), text(), failed()]]);
        assert_eq!(wait_for_first_content(late).await.unwrap().concat().await.len(), 3);
        let slow = event_stream([vec![started()]]).chain(stream::pending());
        assert_eq!(Box::pin(wait_for_first_content(slow).await.unwrap()).next().await.unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn f097_idle_stream_sends_keep_alive_every_10_seconds() {
        let mut body = super::stream_response(stream::pending(), NativeSse::new("T", "r")).into_body();
        let started_at = tokio::time::Instant::now();
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(next(&mut body).await.as_deref(), Some(": keep-alive\n\n"));
        assert_eq!(started_at.elapsed().as_secs(), 20);
    }
}
