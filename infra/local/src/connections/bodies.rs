//! Request bodies: their timeouts, their limit in memory, and the draining of rejected ones.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use web::BodyError;

use super::slots::SlotHandle;

/// Timeouts and memory limit of request bodies.
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

/// A body as its handler reads it; clones read the same one.
pub(super) struct RequestBody<B>(Arc<Mutex<BodyState<B>>>);

struct BodyState<B> {
    body: B,
    limits: BodyLimits,
    /// A permit for each byte of all bodies.
    memory: Arc<Semaphore>,
    /// This body's share of the memory.
    held: Option<OwnedSemaphorePermit>,
    slot: SlotHandle,
    /// When the body must be complete, once it was waited for.
    ends_at: Option<Instant>,
    /// Fires when the body is given up unless bytes arrive; set while it is waited for.
    timer: Option<Pin<Box<Sleep>>>,
    over: bool,
}

impl<B> Clone for RequestBody<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B: Body<Data = Bytes> + Unpin> RequestBody<B> {
    pub(super) fn new(body: B, limits: BodyLimits, memory: Arc<Semaphore>, slot: SlotHandle) -> Self {
        let over = body.is_end_stream();
        let state = BodyState { body, limits, memory, held: None, slot, ends_at: None, timer: None, over };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, BodyState<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads and discards the rest of a body, within [`MAX_DRAINED_BYTES`] and [`DRAIN_TIMEOUT`].
    pub(super) async fn drain(mut self) {
        let rest = async {
            let mut read = 0;
            self.state().held = None;
            while read < MAX_DRAINED_BYTES
                && let Some(Ok(frame)) = self.frame().await
            {
                read += frame.data_ref().map_or(0, Bytes::len);
                self.state().held = None;
            }
        };
        let _late = timeout(DRAIN_TIMEOUT, rest).await;
    }

    /// Whether there is nothing more to read.
    pub(super) fn is_over(&self) -> bool {
        self.state().over
    }
}

impl<B: Body<Data = Bytes> + Unpin> BodyState<B> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let frame = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) if self.hold(frame.data_ref().map_or(0, Bytes::len)) => Some(Ok(frame)),
            Poll::Ready(Some(Ok(_))) => Some(Err(BodyError::TooMany)),
            Poll::Ready(Some(Err(_))) => Some(Err(BodyError::Incomplete)),
            Poll::Ready(None) => None,
            Poll::Pending => {
                ready!(self.poll_timer(context));
                Some(Err(BodyError::TooSlow))
            }
        };
        if self.timer.take().is_some() {
            self.slot.set_busy();
        }
        self.over = !matches!(frame, Some(Ok(_) | Err(BodyError::TooMany)));
        Poll::Ready(frame)
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

    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.timer.is_none() {
            self.slot.set_quiet();
        }
        let now = Instant::now();
        let end = *self.ends_at.get_or_insert(now + self.limits.total);
        let until = end.min(now + self.limits.idle);
        self.timer.get_or_insert_with(|| Box::pin(sleep_until(until))).as_mut().poll(context)
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for RequestBody<B> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.state().poll(context)
    }

    fn is_end_stream(&self) -> bool {
        self.is_over()
    }

    fn size_hint(&self) -> SizeHint {
        self.state().body.size_hint()
    }
}
