use serde_json::Value;

use crate::grammar::Grammar;
use crate::{Transcript, with_timeout};

/// A turn's event stream, read as it arrives and checked against the contract; panics when it breaks the contract.
///
/// It does not use the crate `sse`: the contract fixes the bytes of a frame, and a decoder accepts other spellings too.
///
/// Dropping it before its end acts like a client that disconnects.
pub struct EventStream {
    response: reqwest::Response,
    buffer: Vec<u8>,
    grammar: Grammar,
    events: Vec<Value>,
}

impl EventStream {
    pub(crate) fn new(response: reqwest::Response, accumulated: bool) -> Self {
        Self::with_grammar(response, |request| Grammar::new(request, accumulated))
    }

    /// The rest of a turn, after the frame with this id.
    pub(crate) fn resumed_after(response: reqwest::Response, last: &str) -> Self {
        Self::with_grammar(response, |request| Grammar::resumed_after(request, last))
    }

    fn with_grammar(response: reqwest::Response, grammar: impl FnOnce(&str) -> Grammar) -> Self {
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
        assert_eq!(header("content-type"), "text/event-stream; charset=utf-8");
        assert_eq!(header("cache-control"), "no-store, no-transform");
        let request = header("x-request-id").to_owned();
        assert!(!request.is_empty(), "every answer has x-request-id");
        let grammar = grammar(&request);
        Self { response, buffer: Vec::new(), grammar, events: Vec::new() }
    }

    /// The id of the last frame that was read.
    pub fn last_id(&self) -> String {
        self.grammar.last_id()
    }

    /// The next event; `None` at the end, after the terminator and the end of the body.
    pub async fn next(&mut self) -> Option<Value> {
        with_timeout("the next event", self.next_event()).await
    }

    async fn next_event(&mut self) -> Option<Value> {
        loop {
            let Some(frame) = self.next_frame().await else {
                self.grammar.finish();
                return None;
            };
            if let Some(event) = self.grammar.read_frame(&frame) {
                self.events.push(event.clone());
                return Some(event);
            }
        }
    }

    /// Reads up to the next event of this type and returns it; [`EventStream::read_to_end`] returns the others too.
    pub async fn read_until(&mut self, kind: &str) -> Value {
        while let Some(event) = self.next().await {
            if event["type"] == kind {
                return event;
            }
        }
        panic!("the stream ended without {kind}: {:?}", self.events)
    }

    /// Reads one frame, which must be a keep-alive comment; panics when it is an event.
    pub async fn expect_keep_alive(&mut self) {
        assert_eq!(self.next_frame().await.as_deref(), Some(": keep-alive"));
    }

    /// Reads to the end and returns all events, including those already read.
    pub async fn read_to_end(mut self) -> Transcript {
        while self.next().await.is_some() {}
        Transcript(self.events)
    }

    /// The next frame without the blank line that ends it; `None` at the end of the body.
    async fn next_frame(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = self.buffer.drain(..end + 2).take(end).collect();
                return Some(String::from_utf8(frame).expect("frames are UTF-8"));
            }
            let chunk = with_timeout("more of an event stream", self.response.chunk()).await;
            let Some(chunk) = chunk.expect("the body ends cleanly") else {
                assert!(self.buffer.is_empty(), "half a frame at the end: {:?}", self.buffer);
                return None;
            };
            self.buffer.extend_from_slice(&chunk);
        }
    }
}
