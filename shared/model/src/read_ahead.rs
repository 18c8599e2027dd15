//! Reading a response ahead of whoever uses it.
//!
//! The task of a connection hands on a piece of a body only when the one before was taken. Where pieces come one upon the
//! other, their reader would be run for each, with all that lies between it and its own client. So a small task takes
//! them, and the reader is woken once whoever can run has run and nothing came of it, or a few times in a row: then it finds
//! all that there is, and nothing waited for what was not there yet. What comes alone again is told at once.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use tokio::task::{AbortHandle, yield_now};
use tokio::time::Instant;

/// Pieces come one upon the other when they follow sooner than this, so many in a row.
const SOON: Duration = Duration::from_micros(500);
const ROW: u32 = 8;

/// The most pieces that are read ahead, and the bytes that are enough.
const MOST: usize = 64;
const MUCH: usize = 256 * 1024;

/// How often in a row whoever can run is let pass: on a busy thread each time may take milliseconds.
const PASSES: u32 = 8;

/// Tells whether pieces come one upon the other.
#[derive(Default)]
pub(crate) struct Pace {
    last: Option<Instant>,
    soon: u32,
}

impl Pace {
    /// Takes note of a piece that came now; true once so many came that more are to be expected.
    pub(crate) fn is_fast(&mut self, now: Instant) -> bool {
        let soon = self.last.replace(now).is_some_and(|last| now - last < SOON);
        self.soon = if soon { self.soon + 1 } else { 0 };
        self.soon >= ROW
    }
}

/// The response broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// What is left of a response, read ahead; the connection closes when this is dropped before the end.
pub(crate) struct ReadAhead {
    shared: Shared,
    task: AbortHandle,
}

/// Cloned for the task that reads.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    pieces: VecDeque<Bytes>,
    /// How many bytes they have.
    bytes: usize,
    /// When the last one came, and whether it came upon the one before.
    last: Option<Instant>,
    soon: bool,
    /// How the response ended, behind the pieces.
    end: Option<Result<(), Broken>>,
    /// Who waits for a piece.
    reader: Option<Waker>,
    /// The task, while it waits for room.
    task: Option<Waker>,
    /// How many pieces there were when whoever could run was let pass, while they are.
    before: Option<usize>,
    /// Whether they have passed, and how often.
    passed: bool,
    passes: u32,
}

impl ReadAhead {
    /// Reads on from here.
    pub(crate) fn new(response: Response) -> Self {
        let shared = Shared::default();
        let task = tokio::spawn(fill(response, Filling(shared.clone()))).abort_handle();
        Self { shared, task }
    }

    /// The next piece, `None` after the last one; losing the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        std::future::poll_fn(|context| self.shared.poll_taken(context)).await
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll_taken(&self, context: &Context<'_>) -> Poll<Result<Option<Bytes>, Broken>> {
        let mut state = self.state();
        if let Some(piece) = state.pieces.pop_front() {
            state.bytes -= piece.len();
            if state.pieces.is_empty() {
                wake(state.task.take());
            }
            return Poll::Ready(Ok(Some(piece)));
        }
        if let Some(end) = state.end {
            return Poll::Ready(end.map(|()| None));
        }
        state.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// The next piece of the response; where there is none yet, the reader learns of those before.
    fn poll_piece(&self, response: &mut Response, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Broken>> {
        let polled = pin!(response.chunk()).poll(context);
        if polled.is_pending() && self.state().lets_pass() {
            let passed = Arc::new(Passed { shared: self.clone(), task: context.waker().clone() });
            // The runtime wakes whoever yields behind all others.
            let _yielded = pin!(yield_now()).poll(&mut Context::from_waker(&passed.into()));
        }
        polled.map_err(|_| Broken)
    }

    fn add(&self, piece: Bytes) {
        let (mut state, now) = (self.state(), Instant::now());
        state.soon = state.last.replace(now).is_none_or(|last| now - last < SOON);
        state.bytes += piece.len();
        state.pieces.push_back(piece);
        if state.is_full() {
            state.tell();
        }
    }

    fn poll_room(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.is_full() {
            return Poll::Ready(());
        }
        state.task = Some(context.waker().clone());
        Poll::Pending
    }

    fn end(&self, end: Result<(), Broken>) {
        let mut state = self.state();
        state.end.get_or_insert(end);
        state.tell();
    }
}

impl State {
    /// Whether whoever can run shall run before the reader is woken; if not, it is woken as soon as that is right.
    fn lets_pass(&mut self) -> bool {
        let ready = self.pieces.len();
        if ready == 0 || self.reader.is_none() || (self.before.is_some() && !self.passed) {
            return false;
        }
        self.passed = false;
        let came = self.before.replace(ready).is_none_or(|before| before < ready);
        if came && self.soon && self.passes < PASSES {
            self.passes += 1;
            return true;
        }
        self.tell();
        false
    }

    fn is_full(&self) -> bool {
        self.pieces.len() >= MOST || self.bytes >= MUCH
    }

    fn tell(&mut self) {
        (self.before, self.passes) = (None, 0);
        wake(self.reader.take());
    }
}

/// Woken when whoever could run has run.
struct Passed {
    shared: Shared,
    task: Waker,
}

impl Wake for Passed {
    fn wake(self: Arc<Self>) {
        self.shared.state().passed = true;
        self.task.wake_by_ref();
    }
}

/// The task's part: however it ends, the reader is told.
struct Filling(Shared);

impl Drop for Filling {
    fn drop(&mut self) {
        self.0.end(Err(Broken));
    }
}

async fn fill(mut response: Response, filling: Filling) {
    let Filling(shared) = &filling;
    let end = loop {
        match std::future::poll_fn(|context| shared.poll_piece(&mut response, context)).await {
            Ok(Some(piece)) => shared.add(piece),
            Ok(None) => break Ok(()),
            Err(broken) => break Err(broken),
        }
        std::future::poll_fn(|context| shared.poll_room(context)).await;
    };
    shared.end(end);
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests;
