use std::collections::{BTreeSet, VecDeque};
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
    state: watch::Sender<State>,
    stop: watch::Sender<Option<StopReason>>,
}

#[derive(Debug, Default)]
struct State {
    /// Inputs that were not taken yet; none once the turn diverged from the recording, so that nothing waits any more.
    left: BTreeSet<usize>,
    /// Tool calls with the indexes of their inputs.
    calls: Vec<(ToolCall, usize)>,
    /// Pieces of the current response, each with its number of unread bytes.
    reading: VecDeque<(usize, usize)>,
    events: usize,
}

impl Sequencer {
    pub(super) fn new(script: &Script, speed: Speed) -> Self {
        let calls = script.calls.iter().map(|call| (call.tool_call.clone(), call.input)).collect();
        let state = State { left: (0..script.inputs).collect(), calls, ..State::default() };
        let (state, stop) = (watch::Sender::new(state), watch::Sender::new(None));
        Self { speed, cut_off: script.cut_off, began: Instant::now(), state, stop }
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
        let mut state = self.state.subscribe();
        let is_next = |state: &State| state.left.first().is_none_or(|first| *first >= input);
        if timeout(INPUT_TIMEOUT, state.wait_for(is_next)).await.is_err() {
            self.state.send_modify(|state| state.left.clear());
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
            if self.state.borrow().events >= call.events {
                return;
            }
            // The rest of the reply is withheld while its calls run, so the other tasks of the turn come to rest.
            yield_now().await;
        }
    }

    /// Starts a response; the rest of the previous one will not be read.
    pub(super) fn start_response(&self, attempt: &Attempt) {
        self.state.send_modify(|state| {
            state.read(usize::MAX);
            state.reading = attempt.pieces.iter().map(|piece| (piece.input, piece.bytes.len())).collect();
        });
    }

    pub(super) fn record_call_end(&self, call: &ToolCall) {
        self.state.send_modify(|state| {
            if let Some(at) = state.calls.iter().position(|(known, _)| known.id == call.id) {
                let (_, input) = state.calls.remove(at);
                state.left.remove(&input);
            }
        });
    }

    pub(super) fn record_event(&self) {
        self.state.send_modify(|state| state.events += 1);
    }
}

impl State {
    /// Takes the inputs of which the turn has read this many bytes.
    fn read(&mut self, mut bytes: usize) {
        while let Some((input, left)) = self.reading.pop_front() {
            if left > bytes {
                self.reading.push_front((input, left - bytes));
                break;
            }
            bytes -= left;
            self.left.remove(&input);
        }
    }
}

/// Records how much the turn has read of the current response.
impl ResponseRecorder for Sequencer {
    fn record_chunk(&self, bytes: &[u8]) {
        self.state.send_modify(|state| state.read(bytes.len()));
    }

    fn record_end(&self, _: AttemptEnd) {
        self.state.send_modify(|state| state.read(usize::MAX));
    }
}
