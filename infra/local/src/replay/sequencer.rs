use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::ToolCall;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};

use super::script::{Attempt, Script, ScriptedCall};
use super::speed::Speed;

/// How long an input waits for earlier inputs: a turn that diverges never takes them.
const INPUT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of polls of a call that waits for its recorded number of events.
const MAX_POLLS: usize = 1000;

/// Delivers the inputs of a turn in their recorded order.
#[derive(Debug)]
pub(super) struct Sequencer {
    speed: Speed,
    began: Instant,
    state: Mutex<State>,
    /// Index of the first input that was not taken.
    next: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<bool>,
    /// Tool calls with the indexes of their inputs.
    calls: Vec<(ToolCall, usize)>,
    /// Pieces of the current response, each with its number of unread bytes.
    reading: VecDeque<(usize, usize)>,
    events: usize,
    /// Set when the turn diverged from the recording: nothing waits any more.
    diverged: bool,
}

impl Sequencer {
    pub(super) fn new(script: &Script, speed: Speed) -> Self {
        let calls = script.calls.iter().map(|call| (call.tool_call.clone(), call.input)).collect();
        let state = State { taken: vec![false; script.inputs], calls, ..State::default() };
        Self { speed, began: Instant::now(), state: Mutex::new(state), next: watch::Sender::new(0) }
    }

    /// Waits until all earlier inputs are taken, and in real time until the input's own time.
    pub(super) async fn wait_for_input(&self, input: usize, ms: u64) {
        self.wait_for_time(ms).await;
        let mut next = self.next.subscribe();
        if timeout(INPUT_TIMEOUT, next.wait_for(|next| *next >= input)).await.is_err() {
            self.state().diverged = true;
            self.advance();
        }
    }

    /// Waits until a recorded time; returns at once unless the speed is real time.
    pub(super) async fn wait_for_time(&self, ms: u64) {
        if self.speed == Speed::Real {
            sleep_until(self.began + Duration::from_millis(ms)).await;
        }
    }

    /// Waits until a call may end: between the same two events as recorded, if they still occur.
    pub(super) async fn wait_for_call(&self, call: &ScriptedCall) {
        self.wait_for_input(call.input, call.ms).await;
        for _ in 0..MAX_POLLS {
            if self.state().events >= call.events {
                return;
            }
            // The rest of the reply is withheld while its calls run, so the other tasks of the turn come to rest.
            yield_now().await;
        }
    }

    /// Starts a response; the rest of the previous one will not be read.
    pub(super) fn start_response(&self, attempt: &Attempt) {
        self.finish_response();
        self.state().reading = attempt.pieces.iter().map(|piece| (piece.input, piece.bytes.len())).collect();
    }

    /// Records that the turn has read this many bytes of the response.
    pub(super) fn record_read(&self, mut bytes: usize) {
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
        self.advance();
    }

    /// Records that the turn stopped reading the response.
    pub(super) fn finish_response(&self) {
        self.record_read(usize::MAX);
    }

    /// Records that a call ended.
    pub(super) fn record_call_end(&self, call: &ToolCall) {
        let mut state = self.state();
        if let Some(at) = state.calls.iter().position(|(known, _)| known.id == call.id) {
            let (_, input) = state.calls.remove(at);
            state.taken[input] = true;
        }
        drop(state);
        self.advance();
    }

    /// Records that clients received an event.
    pub(super) fn record_event(&self) {
        self.state().events += 1;
    }

    fn advance(&self) {
        let state = self.state();
        let first = state.taken.iter().position(|taken| !taken).unwrap_or(usize::MAX);
        let first = if state.diverged { usize::MAX } else { first };
        drop(state);
        self.next.send_replace(first);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
