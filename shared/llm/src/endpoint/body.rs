use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{AttemptEnd, ResponseRecorder};

/// The recorder of one attempt, if there is one. It receives the end of the attempt once, at the latest on drop.
pub(crate) struct RecorderGuard(pub(crate) Option<Arc<dyn ResponseRecorder>>);

impl RecorderGuard {
    pub(crate) fn end(&mut self, end: AttemptEnd) {
        if let Some(recorder) = self.0.take() {
            recorder.record_end(end);
        }
    }
}

impl Drop for RecorderGuard {
    fn drop(&mut self) {
        self.end(AttemptEnd::Complete);
    }
}

/// The body of a response: read chunk by chunk, each with a time limit, and recorded as it comes.
pub(crate) struct Body {
    response: reqwest::Response,
    recorder: RecorderGuard,
    /// Kept from chunk to chunk and moved only when it ends too early: a new timer for each chunk costs more.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Body {
    /// Creates the body of a response; the recorder receives its head, including `retry_after`.
    pub(crate) fn new(response: reqwest::Response, retry_after: Option<Duration>, recorder: RecorderGuard) -> Self {
        if let Some(recorder) = &recorder.0 {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            recorder.record_head(response.status().as_u16(), kind.unwrap_or_default(), retry_after);
        }
        Self { response, recorder, timer: None }
    }

    /// The next chunk, `None` after the last one, or why there was none until `until`. Dropping the future loses nothing.
    pub(crate) async fn next_chunk(&mut self, until: Instant) -> Result<Option<Bytes>, AttemptEnd> {
        let chunk = tokio::select! {
            biased;
            chunk = self.response.chunk() => chunk.map_err(|_| AttemptEnd::Disconnected)?,
            () = elapsed(&mut self.timer, until) => return Err(AttemptEnd::TimedOut),
        };
        match &chunk {
            Some(bytes) => self.recorder.0.iter().for_each(|recorder| recorder.record_chunk(bytes)),
            None => self.end(AttemptEnd::Complete),
        }
        Ok(chunk)
    }

    /// Reports how the attempt ended; later reports are ignored.
    pub(crate) fn end(&mut self, end: AttemptEnd) {
        self.recorder.end(end);
    }
}

/// Waits until `until` with a timer that may still be set to an earlier time.
async fn elapsed(timer: &mut Option<Pin<Box<Sleep>>>, until: Instant) {
    let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
    if timer.deadline() > until || timer.is_elapsed() {
        timer.as_mut().reset(until);
    }
    loop {
        timer.as_mut().await;
        if Instant::now() >= until {
            return;
        }
        timer.as_mut().reset(until);
    }
}
