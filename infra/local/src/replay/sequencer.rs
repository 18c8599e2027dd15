use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::ToolCall;
use llm::{AttemptEnd, ResponseRecorder};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};

use super::Speed;
use super::script::{Attempt, Script, ScriptedCall};

/// How long an input waits for earlier inputs: a turn that diverges never takes them.
const INPUT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of polls of a call that waits for its recorded number of events.
const MAX_POLLS: usize = 1000;

/// Why a replay stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The recording ends before the next input.
    RecordingEnded,
    /// A model was called more often than recorded.
    ExtraModelCall(String),
}

/// Delivers the inputs of a turn in their recorded order.
#[derive(Debug)]
pub(super) struct Sequencer {
    pub(super) speed: Speed,
    /// Whether the turn was cut off when it was recorded.
    pub(super) cut_off: bool,
    began: Instant,
    state: Mutex<State>,
    stop: watch::Sender<Option<StopReason>>,
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
        let (state, stop, next) = (Mutex::new(state), watch::Sender::new(None), watch::Sender::new(0));
        Self { speed, cut_off: script.cut_off, began: Instant::now(), state, stop, next }
    }

    /// Ends the replay; never returns.
    pub(super) async fn stop<T>(&self, reason: StopReason) -> T {
        self.stop.send_replace(Some(reason));
        std::future::pending().await
    }

    /// Waits for the end of the replay before its turn ends.
    pub(super) async fn stopped(&self) -> Option<StopReason> {
        self.stop.subscribe().wait_for(Option::is_some).await.ok()?.clone()
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
        self.record_read(usize::MAX);
        self.state().reading = attempt.pieces.iter().map(|piece| (piece.input, piece.bytes.len())).collect();
    }

    /// Records that the turn has read this many bytes of the response.
    fn record_read(&self, mut bytes: usize) {
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

/// Records how much the turn has read of the current response.
impl ResponseRecorder for Sequencer {
    fn record_chunk(&self, bytes: &[u8]) {
        self.record_read(bytes.len());
    }

    fn record_end(&self, _: AttemptEnd) {
        self.record_read(usize::MAX);
    }
}
