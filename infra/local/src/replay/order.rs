use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use conversation::ToolCall;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};

use super::Speed;
use super::score::{Attempt, Call, Score};

/// How long an input waits for those before it beyond its own time: a turn that goes another way does not take them.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a call looks whether clients have seen what they had seen before it.
const LOOKS: usize = 1000;

/// Gives a turn its inputs in the order in which it took them when it was recorded.
#[derive(Debug)]
pub(super) struct Order {
    speed: Speed,
    began: Instant,
    state: Mutex<State>,
    /// The first input that was not taken.
    next: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<bool>,
    /// Calls of tools and their inputs.
    calls: Vec<(ToolCall, usize)>,
    /// The pieces of the answer that is being read, and how many bytes of each are still to come.
    reading: VecDeque<(usize, usize)>,
    events: usize,
    /// Set when the turn went another way: nothing waits any more.
    lost: bool,
}

impl Order {
    pub(super) fn new(score: &Score, speed: Speed) -> Self {
        let calls = score.calls.iter().map(|call| (call.made.clone(), call.input)).collect();
        let state = State { taken: vec![false; score.inputs], calls, ..State::default() };
        Self { speed, began: Instant::now(), state: Mutex::new(state), next: watch::Sender::new(0) }
    }

    /// Waits until all inputs before this one are taken, and in real time until its own.
    pub(super) async fn due(&self, input: usize, ms: u64) {
        self.time(ms).await;
        let mut next = self.next.subscribe();
        if timeout(PATIENCE, next.wait_for(|next| *next >= input)).await.is_err() {
            self.state().lost = true;
            self.settle();
        }
    }

    /// In real time waits for the time of something.
    pub(super) async fn time(&self, ms: u64) {
        if self.speed == Speed::Real {
            sleep_until(self.began + Duration::from_millis(ms)).await;
        }
    }

    /// Waits until a call may end: it does so between the same two events as it did, if there still are such.
    pub(super) async fn call_due(&self, call: &Call) {
        self.due(call.input, call.ms).await;
        for _ in 0..LOOKS {
            if self.state().events >= call.events {
                return;
            }
            // The rest of the reply is withheld while its calls run, so the other tasks of the turn come to rest.
            yield_now().await;
        }
    }

    /// An answer begins; what is left of the one before will not be read.
    pub(super) fn begin(&self, attempt: &Attempt) {
        self.leave();
        self.state().reading = attempt.pieces.iter().map(|piece| (piece.input, piece.bytes.len())).collect();
    }

    /// The turn has read so many bytes of the answer.
    pub(super) fn read(&self, mut bytes: usize) {
        let mut state = self.state();
        while let Some((input, left)) = state.reading.pop_front() {
            if left > bytes {
                state.reading.push_front((input, left - bytes));
                break;
            }
            bytes -= left;
            state.taken[input] = true;
        }
        drop(state);
        self.settle();
    }

    /// The turn reads no more of the answer.
    pub(super) fn leave(&self) {
        self.read(usize::MAX);
    }

    /// A call came to its end.
    pub(super) fn ran(&self, call: &ToolCall) {
        let mut state = self.state();
        if let Some(at) = state.calls.iter().position(|(known, _)| known.id == call.id) {
            let (_, input) = state.calls.remove(at);
            state.taken[input] = true;
        }
        drop(state);
        self.settle();
    }

    /// Clients saw something.
    pub(super) fn seen(&self) {
        self.state().events += 1;
    }

    fn settle(&self) {
        let state = self.state();
        let first = state.taken.iter().position(|taken| !taken).unwrap_or(usize::MAX);
        let first = if state.lost { usize::MAX } else { first };
        drop(state);
        self.next.send_replace(first);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
