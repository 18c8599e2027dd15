use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use aside::Alarm;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use tokio::time::Instant;

use crate::read_ahead::{Pace, ReadAhead};
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
    source: Source,
    pace: Pace,
    taking: Taking,
    alarm: Alarm,
}

/// Where the pieces come from.
enum Source {
    Connection(reqwest::Response),
    Ahead(ReadAhead),
    /// For no longer than the change from one to the other takes.
    Neither,
}

impl Source {
    async fn next(&mut self) -> Result<Option<Bytes>, AttemptEnd> {
        match self {
            Self::Connection(response) => response.chunk().await.map_err(|_| AttemptEnd::Cut),
            Self::Ahead(ahead) => ahead.next().await.map_err(|_| AttemptEnd::Cut),
            Self::Neither => Err(AttemptEnd::Cut),
        }
    }

    /// Has the rest read ahead.
    fn hurry(&mut self) {
        *self = match std::mem::replace(self, Self::Neither) {
            Self::Connection(response) => Self::Ahead(ReadAhead::new(response)),
            other => other,
        };
    }
}

impl Body {
    /// The body of a response that asks to be left alone for `retry_after`, if it does.
    pub(crate) fn new(response: reqwest::Response, retry_after: Option<Duration>, taking: Taking) -> Self {
        if let Some(tape) = &taking.0 {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            tape.response(response.status().as_u16(), kind.unwrap_or_default(), retry_after);
        }
        Self { source: Source::Connection(response), pace: Pace::default(), taking, alarm: Alarm::default() }
    }

    /// The next piece, `None` after the last one, or why there was none until `until`.
    pub(crate) async fn piece(&mut self, until: Instant) -> Result<Option<Bytes>, AttemptEnd> {
        let piece = tokio::select! {
            biased;
            piece = self.source.next() => piece?,
            () = poll_fn(|context| self.alarm.poll(until, context)) => return Err(AttemptEnd::Silent),
        };
        match &piece {
            Some(bytes) => self.taking.0.iter().for_each(|tape| tape.body(bytes)),
            None => self.end(AttemptEnd::Whole),
        }
        if matches!(self.source, Source::Connection(_)) && self.pace.is_fast(Instant::now()) {
            self.source.hurry();
        }
        Ok(piece)
    }

    /// Tells how the attempt ended; what is told later counts no more.
    pub(crate) fn end(&mut self, end: AttemptEnd) {
        self.taking.end(end);
    }
}
