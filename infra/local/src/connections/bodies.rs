//! Request bodies: their timeouts, their limit in memory, and the draining of rejected ones.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use web::BodyError;

use super::slots::BodyWait;

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

/// The bytes in memory of all bodies that are being read.
pub(super) type BytesHeld = Arc<AtomicUsize>;

/// A body as its handler reads it; clones read the same one.
pub(super) struct RequestBody<B>(Arc<Mutex<BodyState<B>>>);

struct BodyState<B> {
    body: B,
    limits: BodyLimits,
    bytes_held: BytesHeld,
    wait: BodyWait,
    /// This body's share of the held bytes.
    own_bytes: usize,
    begun: Option<Instant>,
    /// Fires when the body is given up unless bytes arrive.
    timer: Option<Pin<Box<Sleep>>>,
    over: bool,
}

impl<B> Clone for RequestBody<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B: Body<Data = Bytes> + Unpin> RequestBody<B> {
    pub(super) fn new(body: B, limits: BodyLimits, bytes_held: BytesHeld, wait: BodyWait) -> Self {
        let over = body.is_end_stream();
        Self(Arc::new(Mutex::new(BodyState {
            body,
            limits,
            bytes_held,
            wait,
            own_bytes: 0,
            begun: None,
            timer: None,
            over,
        })))
    }

    fn state(&self) -> MutexGuard<'_, BodyState<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads and discards the rest of a body, within [`MAX_DRAINED_BYTES`] and [`DRAIN_TIMEOUT`].
    pub(super) async fn drain(&self) {
        let mut body = self.clone();
        let rest = async {
            let mut read = 0;
            while read < MAX_DRAINED_BYTES {
                match body.frame().await {
                    Some(Ok(frame)) => read += frame.data_ref().map_or(0, Bytes::len),
                    Some(Err(_)) | None => break,
                }
                self.state().release();
            }
        };
        self.state().release();
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
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.wait.set(false);
                self.timer = None;
                let received = frame.data_ref().map_or(0, Bytes::len);
                self.own_bytes += received;
                let bytes_held = self.bytes_held.fetch_add(received, Ordering::Relaxed) + received;
                let fits = bytes_held <= self.limits.bytes;
                Poll::Ready(Some(if fits { Ok(frame) } else { Err(BodyError::TooMany) }))
            }
            Poll::Ready(end) => {
                self.wait.set(false);
                self.over = true;
                Poll::Ready(end.map(|_| Err(BodyError::Incomplete)))
            }
            Poll::Pending => {
                self.wait.set(true);
                ready!(self.poll_due(context));
                self.wait.set(false);
                self.over = true;
                Poll::Ready(Some(Err(BodyError::TooSlow)))
            }
        }
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        let end = *self.begun.get_or_insert(now) + self.limits.total;
        let idle_until = now + self.limits.idle;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end.min(idle_until))));
        timer.as_mut().poll(context)
    }
}

impl<B> BodyState<B> {
    /// Records that the bytes received so far are no longer in memory.
    fn release(&mut self) {
        self.bytes_held.fetch_sub(std::mem::take(&mut self.own_bytes), Ordering::Relaxed);
    }
}

impl<B> Drop for BodyState<B> {
    fn drop(&mut self) {
        self.release();
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
