use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use tokio::time::{Instant, timeout_at};

use crate::{AttemptEnd, Tape};

/// What takes one attempt down, if anything does; its end is told once, at the latest when this is dropped.
pub(crate) struct Taking(Option<Arc<dyn Tape>>);

impl Taking {
    pub(crate) fn new(tape: Option<Arc<dyn Tape>>) -> Self {
        Self(tape)
    }

    pub(crate) fn end(&mut self, end: AttemptEnd) {
        if let Some(tape) = self.0.take() {
            tape.end(end);
        }
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.end(AttemptEnd::Whole);
    }
}

/// The body of a response, read piece by piece and taken down as it comes.
pub(crate) struct Body {
    response: reqwest::Response,
    taking: Taking,
}

impl Body {
    /// The body of a response that asks to be left alone for `retry_after`, if it does.
    pub(crate) fn new(response: reqwest::Response, retry_after: Option<Duration>, taking: Taking) -> Self {
        if let Some(tape) = &taking.0 {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            tape.response(response.status().as_u16(), kind.unwrap_or_default(), retry_after);
        }
        Self { response, taking }
    }

    /// The next piece, `None` after the last one, or why there was none until `until`.
    pub(crate) async fn piece(&mut self, until: Instant) -> Result<Option<Bytes>, AttemptEnd> {
        let piece = timeout_at(until, self.response.chunk()).await.map_err(|_| AttemptEnd::Silent)?;
        let piece = piece.map_err(|_| AttemptEnd::Cut)?;
        match &piece {
            Some(bytes) => self.taking.0.iter().for_each(|tape| tape.body(bytes)),
            None => self.end(AttemptEnd::Whole),
        }
        Ok(piece)
    }

    /// Tells how the attempt ended; what is told later counts no more.
    pub(crate) fn end(&mut self, end: AttemptEnd) {
        self.taking.end(end);
    }
}
