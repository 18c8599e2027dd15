//! A turn on the task of its first reader.
//!
//! A word that goes from the task of a turn to that of its connection costs a wake-up more than one that stays. So whoever
//! reads a turn first runs it too: each time the reader is asked for more, the turn goes on as far as it can. A reader who
//! leaves, or is not asked although the turn could go on (a client that does not read, a socket that is full), does not
//! hold it up for long: a task that waits for that, the guardian, takes the turn over for good.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use agent::{Events, Follower};
use aside::Bell;
use conversation::Batch;
use futures_util::future::{BoxFuture, poll_fn};
use futures_util::stream::Stream;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How often is looked whether the turn waits for its reader.
const LOOK: Duration = Duration::from_millis(250);

/// A turn and its first reader: its events, as a stream that runs it.
pub(crate) struct Reader {
    driver: Driver,
    events: Follower,
    /// It ran the turn as far as it went, and has all events.
    is_up_to_date: bool,
}

/// A turn, and what whoever runs it and whoever waits for it need of each other.
struct Shared {
    /// Where what the turn waits for tells whoever runs it that it can go on.
    bell: Bell,
    /// Whether the guardian runs the turn; changed under the lock of the turn.
    is_taken: AtomicBool,
    /// `None` once it is over.
    turn: Mutex<Option<BoxFuture<'static, ()>>>,
    /// Those of the turn: where its replies are read is polled by itself, since most wake-ups are words.
    events: Events,
    /// How often the turn went on.
    runs: AtomicU64,
    /// The reader has left, or the turn is over.
    released: Notify,
}

/// Who runs a turn.
struct Driver {
    shared: Arc<Shared>,
    is_guardian: bool,
    /// What the turn, and where its replies are read, are woken by: they ring.
    waker: Waker,
    inmost_waker: Waker,
    /// Whom the bells wake, for as long as this runs the turn: to look here takes no lock of theirs.
    attending: Waker,
}

/// The reader of a turn, who runs it, and what is to be spawned: it ends with the turn, whatever becomes of the reader.
///
/// Only the turn itself may make events: a reader who runs it is not woken for them.
pub(crate) fn driven(
    turn: impl Future<Output = ()> + Send + 'static,
    events: Follower,
) -> (Reader, impl Future<Output = ()> + Send) {
    events.events().inmost().open();
    let shared = Arc::new(Shared {
        bell: Bell::ringing(),
        is_taken: false.into(),
        turn: Mutex::new(Some(Box::pin(turn))),
        events: events.events().clone(),
        runs: AtomicU64::new(0),
        released: Notify::new(),
    });
    let guardian = Guardian(Arc::clone(&shared));
    let driver = Driver::new(&shared, false);
    (Reader { driver, events, is_up_to_date: false }, async move { guardian.watch().await })
}

impl Shared {
    /// Has the guardian run the turn from here on; the reader is woken, to wait for events instead.
    fn take(&self) {
        let turn = self.turn();
        self.is_taken.store(true, Ordering::Release);
        drop(turn);
        self.bell.ring();
    }

    /// Whether the turn, or a part of it, can go on.
    fn rings(&self) -> bool {
        self.bell.rings() || self.events.inmost().rings()
    }

    fn is_taken(&self) -> bool {
        self.is_taken.load(Ordering::Acquire)
    }

    fn turn(&self) -> MutexGuard<'_, Option<BoxFuture<'static, ()>>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the turn waits for has it woken, which is a part of this: a waker of its own would be one more piece of memory that
/// each word needs. The turn goes when it is over, or its guardian, and with it what it waits for.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.bell.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.bell.ring();
    }
}

impl Driver {
    fn new(shared: &Arc<Shared>, is_guardian: bool) -> Self {
        Self {
            shared: Arc::clone(shared),
            is_guardian,
            waker: Arc::clone(shared).into(),
            inmost_waker: shared.events.inmost_waker(),
            attending: Waker::noop().clone(),
        }
    }

    /// Whether this runs the turn, has nothing to do, and has this task woken when it has.
    fn rests(&self, task: &Waker) -> bool {
        !self.shared.rings() && self.shared.is_taken() == self.is_guardian && self.attending.will_wake(task)
    }

    /// Runs the turn as far as it goes, if it can go on; `None` if another runs it.
    fn run(&mut self, context: &Context<'_>) -> Option<Poll<()>> {
        let Self { shared, waker, inmost_waker, attending, .. } = self;
        let mut shared_turn = shared.turn();
        if shared.is_taken() != self.is_guardian {
            return None;
        }
        let Some(turn) = shared_turn.as_mut() else { return Some(Poll::Ready(())) };
        let inmost = shared.events.inmost();
        if !attending.will_wake(context.waker()) {
            attending.clone_from(context.waker());
            shared.bell.attend(context.waker());
            inmost.attend(context.waker());
        }
        if shared.rings() {
            shared.runs.fetch_add(1, Ordering::Relaxed);
            inmost.poll(inmost_waker);
        }
        if !shared.bell.silence() {
            return Some(Poll::Pending);
        }
        // A panic ends the turn, as it would end a task, and not the reader's connection.
        let ran = catch_unwind(AssertUnwindSafe(|| turn.as_mut().poll(&mut Context::from_waker(waker))));
        if matches!(ran, Ok(Poll::Pending)) {
            // It may have just begun to read.
            inmost.poll(inmost_waker);
            return Some(Poll::Pending);
        }
        *shared_turn = None;
        // The events outlive the turn, and who waited for it may: neither shall keep its task.
        inmost.attend(Waker::noop());
        shared.bell.attend(Waker::noop());
        Some(Poll::Ready(()))
    }
}

/// Holds the turn for as long as its task is there: with the runtime the turn ends too.
struct Guardian(Arc<Shared>);

impl Guardian {
    async fn watch(self) {
        let Self(shared) = &self;
        tokio::select! {
            () = shared.released.notified() => {}
            () = stuck(shared) => {}
        }
        shared.take();
        let mut driver = Driver::new(shared, true);
        poll_fn(|context| driver.run(context).unwrap_or(Poll::Ready(()))).await;
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let turn = self.0.turn().take();
        if turn.is_some() {
            drop(turn);
            // The reader would wait for ever for what nobody does any more.
            self.0.bell.ring();
        }
    }
}

/// Ends when the turn was found waiting for its reader twice in a row; a reader who comes by now and then makes no
/// difference.
async fn stuck(shared: &Shared) {
    let mut waited = false;
    loop {
        let runs = shared.runs.load(Ordering::Relaxed);
        sleep(LOOK).await;
        let ran = shared.runs.load(Ordering::Relaxed) - runs;
        let waits = shared.rings() && ran <= 1;
        if waits && waited {
            return;
        }
        waited = waits;
    }
}

impl Stream for Reader {
    type Item = Batch;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // The connection asks three times for each word.
        if this.is_up_to_date && this.driver.rests(context.waker()) {
            return Poll::Pending;
        }
        let ran = this.driver.run(context);
        this.is_up_to_date = matches!(ran, Some(Poll::Pending));
        match ran {
            None => Pin::new(&mut this.events).poll_next(context),
            Some(Poll::Ready(())) => {
                this.driver.shared.released.notify_one();
                // Of a turn that never began nobody closed the events.
                match this.events.poll_ready() {
                    Poll::Pending => Poll::Ready(None),
                    Poll::Ready(batch) => Poll::Ready(batch),
                }
            }
            Some(Poll::Pending) => this.events.poll_ready(),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.driver.shared.released.notify_one();
    }
}

#[cfg(test)]
mod tests;
