//! A turn on the task of its first reader.
//!
//! A word that goes from the task of a turn to that of its connection costs a wake-up more than one that stays. So whoever
//! reads a turn first runs it too: each time the reader is asked for more, the turn goes on as far as it can. A reader who
//! leaves, or is not asked although the turn could go on (a client that does not read, a socket that is full), does not
//! hold it up for long: a task that waits for that, the guardian, takes the turn over for good.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use agent::{Events, Follower};
use aside::Bell;
use conversation::Event;
use futures_util::future::{BoxFuture, poll_fn};
use futures_util::stream::Stream;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How often is looked whether the turn waits for its reader.
const LOOK: Duration = Duration::from_millis(250);

/// A turn and its first reader: its events, as a stream that runs it.
pub(crate) struct Reader {
    shared: Arc<Shared>,
    events: Follower,
    /// It ran the turn as far as it went, and has all events.
    is_up_to_date: bool,
}

struct Shared {
    state: Mutex<State>,
    /// Where what the turn waits for tells whoever runs it that it can go on.
    bell: Arc<Bell>,
    /// Rings the bell.
    waker: Waker,
    /// Those of the turn: where its replies are read is polled by itself, since most wake-ups are words.
    events: Events,
    /// How often the turn went on.
    runs: AtomicU64,
    /// The reader has left, or the turn is over.
    released: Notify,
}

struct State {
    /// `None` once it is over.
    turn: Option<BoxFuture<'static, ()>>,
    driver: Driver,
    /// Whom the bells wake, which only who runs the turn lets change: to look here takes no lock of theirs.
    attending: Waker,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    Reader,
    Guardian,
}

/// The reader of a turn, who runs it, and what is to be spawned: it ends with the turn, whatever becomes of the reader.
///
/// Only the turn itself may make events: a reader who runs it is not woken for them.
pub(crate) fn driven(
    turn: impl Future<Output = ()> + Send + 'static,
    events: Follower,
) -> (Reader, impl Future<Output = ()> + Send) {
    let bell = Bell::ringing();
    events.events().inmost().open();
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            turn: Some(Box::pin(turn)),
            driver: Driver::Reader,
            attending: Waker::noop().clone(),
        }),
        waker: Arc::clone(&bell).into(),
        bell,
        events: events.events().clone(),
        runs: AtomicU64::new(0),
        released: Notify::new(),
    });
    let guardian = Guardian(Arc::clone(&shared));
    (Reader { shared, events, is_up_to_date: false }, async move { guardian.watch().await })
}

impl Shared {
    /// Runs the turn as far as it goes, if it can go on; `None` for who does not run it any more.
    fn run(&self, who: Driver, context: &Context<'_>) -> Option<Poll<()>> {
        let mut state = self.state();
        (state.driver == who).then(|| self.go_on(&mut state, context))
    }

    fn go_on(&self, state: &mut State, context: &Context<'_>) -> Poll<()> {
        let Some(turn) = state.turn.as_mut() else { return Poll::Ready(()) };
        if !state.attending.will_wake(context.waker()) {
            state.attending.clone_from(context.waker());
            self.bell.attend(context.waker());
            self.events.inmost().attend(context.waker());
        }
        if self.rings() {
            self.runs.fetch_add(1, Ordering::Relaxed);
            self.events.inmost().poll();
        }
        if !self.bell.silence() {
            return Poll::Pending;
        }
        // A panic ends the turn, as it would end a task, and not the reader's connection.
        let ran = catch_unwind(AssertUnwindSafe(|| turn.as_mut().poll(&mut Context::from_waker(&self.waker))));
        if matches!(ran, Ok(Poll::Pending)) {
            // It may have just begun to read.
            self.events.inmost().poll();
            return Poll::Pending;
        }
        (state.turn, state.attending) = (None, Waker::noop().clone());
        // The events outlive the turn, and shall not keep its task.
        self.events.inmost().attend(Waker::noop());
        Poll::Ready(())
    }

    /// Has the guardian run the turn from here on; the reader is woken, to wait for events instead.
    fn take(&self) {
        self.state().driver = Driver::Guardian;
        self.bell.ring();
    }

    /// Whether the turn, or a part of it, can go on.
    fn rings(&self) -> bool {
        self.bell.rings() || self.events.inmost().rings()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        poll_fn(|context| shared.run(Driver::Guardian, context).unwrap_or(Poll::Ready(()))).await;
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let turn = self.0.state().turn.take();
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
    type Item = Vec<Arc<Event>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // The connection asks three times for each word.
        let shared = &this.shared;
        if this.is_up_to_date && !shared.rings() && shared.bell.is_quiet_for(context.waker()) {
            return Poll::Pending;
        }
        let ran = this.shared.run(Driver::Reader, context);
        this.is_up_to_date = matches!(ran, Some(Poll::Pending));
        match ran {
            None => Pin::new(&mut this.events).poll_next(context),
            Some(Poll::Ready(())) => {
                this.shared.released.notify_one();
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
        self.shared.released.notify_one();
    }
}

#[cfg(test)]
mod tests;
