//! Request bodies: their timeouts, their limit in memory, and the draining of rejected ones.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::FutureExt;
use futures_util::stream::unfold;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use web::BodyError;

use super::slots::SlotHandle;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    /// Timeout without a byte.
    pub(crate) idle: Duration,
    /// Timeout from the first wait to the last byte.
    pub(crate) total: Duration,
    /// Total bytes of all bodies that are being read.
    pub(crate) bytes: usize,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(10), total: Duration::from_mins(1), bytes: 256 << 20 }
    }
}

/// Limits in bytes and time for draining the body of a rejected request.
///
/// Without draining, a client that is still sending would see its connection reset instead of the response.
const MAX_DRAINED_BYTES: usize = 8 << 20;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A body that its handler reads; what the handler leaves can be drained.
pub(super) struct RequestBody(Arc<Mutex<BodyReader>>);

struct BodyReader {
    body: Incoming,
    limits: BodyLimits,
    /// A permit for each byte of all bodies.
    memory: Arc<Semaphore>,
    /// This body's share of the memory.
    held: Option<OwnedSemaphorePermit>,
    slot: SlotHandle,
    /// When the body must be complete, once it was waited for.
    ends_at: Option<Instant>,
    is_over: bool,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, limits: BodyLimits, memory: Arc<Semaphore>, slot: SlotHandle) -> Self {
        let reader = BodyReader { body, limits, memory, held: None, slot, ends_at: None, is_over: false };
        Self(Arc::new(Mutex::new(reader)))
    }

    pub(super) fn for_handler(&self) -> Body {
        Body::from_stream(unfold(Arc::clone(&self.0), |reader| async move {
            let read = reader.lock().await.next().await?;
            Some((read, reader))
        }))
    }

    /// Reads and discards the rest of a body, within [`MAX_DRAINED_BYTES`] and [`DRAIN_TIMEOUT`].
    pub(super) async fn drain(self) {
        let rest = async {
            let (mut reader, mut read) = (self.0.lock().await, 0);
            reader.held = None;
            while read < MAX_DRAINED_BYTES
                && let Some(Ok(bytes)) = reader.next().await
            {
                read += bytes.len();
                reader.held = None;
            }
        };
        let _late = timeout(DRAIN_TIMEOUT, rest).await;
    }
}

impl BodyReader {
    /// The next bytes; `None` after the last ones, and after an error that ended the body.
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        if self.is_over {
            return None;
        }
        let frame = match self.body.frame().now_or_never() {
            Some(frame) => Ok(frame),
            None => self.wait().await,
        };
        let read = match frame {
            Ok(frame) => frame?.map(|frame| frame.into_data().unwrap_or_default()).map_err(|_| BodyError::Incomplete),
            Err(error) => Err(error),
        };
        self.is_over = read.is_err();
        Some(read.and_then(|bytes| if self.hold(bytes.len()) { Ok(bytes) } else { Err(BodyError::TooMany) }))
    }

    /// Waits for the next frame, as a quiet connection.
    async fn wait(&mut self) -> Result<Option<Result<Frame<Bytes>, hyper::Error>>, BodyError> {
        let now = Instant::now();
        let end = *self.ends_at.get_or_insert(now + self.limits.total);
        self.slot.set_quiet();
        let frame = timeout_at(end.min(now + self.limits.idle), self.body.frame()).await;
        self.slot.set_busy();
        frame.map_err(|_elapsed| BodyError::TooSlow)
    }

    /// Counts received bytes until the body is dropped; returns whether they fit.
    fn hold(&mut self, bytes: usize) -> bool {
        let Ok(bytes) = u32::try_from(bytes) else { return false };
        let Ok(permit) = Arc::clone(&self.memory).try_acquire_many_owned(bytes) else { return false };
        match &mut self.held {
            Some(held) => held.merge(permit),
            None => self.held = Some(permit),
        }
        true
    }
}
