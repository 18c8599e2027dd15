use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use futures_util::future::{BoxFuture, pending};
use futures_util::{FutureExt, poll};
use tokio::sync::oneshot::channel;

use crate::Bell;

/// Where the inmost part of a deep future is polled by itself, without the layers around it, which wait for its end.
///
/// Whoever polls the whole opens the place, polls it each time before the whole ([`Self::poll`]), and the whole only when
/// that was woken itself. Where nobody does, what shall run here runs where it is awaited. What the place stands in is the
/// waker of what runs here, and rings ([`Self::ring`]).
#[derive(Debug)]
pub struct Inmost {
    bell: Bell,
    is_open: AtomicBool,
    work: Mutex<Work>,
}

#[derive(Default)]
struct Work(Option<BoxFuture<'static, ()>>);

impl std::fmt::Debug for Work {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Work").field(&self.0.is_some()).finish()
    }
}

impl Default for Inmost {
    fn default() -> Self {
        Self { bell: Bell::ringing(), is_open: false.into(), work: Mutex::default() }
    }
}

impl Inmost {
    /// Says that somebody polls this place from now on.
    pub fn open(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    /// Has this task woken when there is something to be polled here.
    pub fn attend(&self, task: &Waker) {
        self.bell.attend(task);
    }

    /// Whether there may be something to be polled.
    pub fn rings(&self) -> bool {
        self.bell.rings()
    }

    /// Tells that what runs here can go on.
    pub fn ring(&self) {
        self.bell.ring();
    }

    /// Polls what runs here, if it was woken, to wake `waker`, which rings here. What waits for its end is woken when it
    /// ends, or panics.
    pub fn poll(&self, waker: &Waker) {
        if !self.bell.silence() {
            return;
        }
        let mut work = self.work();
        let polled = work.0.as_mut().map(|work| work.as_mut().poll(&mut Context::from_waker(waker)));
        if polled.is_some_and(|polled| polled.is_ready()) {
            work.0 = None;
        }
    }

    /// Has the future run here, one at a time; it ends where this is dropped, and its panic is a panic here. What it can do
    /// at once it has done when this is polled first.
    pub async fn run<F>(&self, future: F) -> F::Output
    where
        F: Future<Output: Send> + Send + 'static,
    {
        if !self.is_open.load(Ordering::Acquire) {
            return future.await;
        }
        let (sender, receiver) = channel();
        let mut work = AssertUnwindSafe(future).catch_unwind().map(|ended| _ = sender.send(ended)).boxed();
        if poll!(&mut work).is_pending() {
            let before = self.work().0.replace(work);
            debug_assert!(before.is_none(), "one future at a time runs here");
            self.ring();
        }
        let _cleared = Cleared(self);
        match receiver.await {
            Ok(Ok(output)) => output,
            Ok(Err(panic)) => resume_unwind(panic),
            // Something else runs here now, which nobody does.
            Err(_) => pending().await,
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes what runs away when nobody waits for it any more.
struct Cleared<'a>(&'a Inmost);

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        let work = self.0.work().0.take();
        drop(work);
    }
}
