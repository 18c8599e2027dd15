use std::future::{pending, poll_fn};
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use domain::{ToolCall, text_pieces};
use llm::{Delta, ModelError, Reply};
use tokio::task::{JoinHandle, yield_now};
use tracing::Instrument;
use work::watch_slow_work;

use super::lock;
use super::state::ReplyState;
use crate::EventLog;

/// Length from which reading a text delta takes milliseconds, in bytes; models write shorter ones.
const LONG_DELTA_BYTES: usize = 4 * 1024;

/// Maximum number of deltas that are appended to the log before subscribers are woken.
const MAX_UNSEEN_DELTAS: usize = 512;

/// Maximum time between two deltas of a burst. The connection delivers one at a time, also if many arrived together;
/// between slower deltas models pause for milliseconds.
const MAX_BURST_GAP: Duration = Duration::from_micros(100);

/// How far a reply was read.
pub(super) enum ReadUpTo {
    /// Up to these calls; the rest of the reply follows.
    Calls(Box<Reply>, Vec<ToolCall>),
    /// Up to its end, or to the error that interrupted it.
    End(Option<ModelError>),
}

/// The task that reads a reply up to its next calls or its end. Dropping this stops the task: it sends no event afterwards.
pub(super) struct ReplyReader {
    task: JoinHandle<ReadUpTo>,
    state: Arc<Mutex<ReplyState>>,
    is_stopped: Arc<AtomicBool>,
}

impl ReplyReader {
    pub(super) fn spawn(reply: Reply, state: Arc<Mutex<ReplyState>>, events: EventLog) -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let task = read_deltas(reply, Arc::clone(&state), events, Arc::clone(&is_stopped));
        let task = watch_slow_work("reply", task);
        Self { task: tokio::spawn(task.in_current_span()), state, is_stopped }
    }

    /// Waits for the end of the task. A panic of the task is resumed in the caller.
    pub(super) async fn wait(&mut self) -> ReadUpTo {
        match (&mut self.task).await {
            Ok(read_up_to) => read_up_to,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime shuts down, and this task with it.
                Err(_) => pending().await,
            },
        }
    }
}

impl Drop for ReplyReader {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.task.abort();
        // On another thread the task may be in the middle of a delta, whose events are sent before this returns.
        drop(lock(&self.state));
    }
}

/// Reads a reply up to the next calls, to its end, or until its rest has no use.
///
/// While deltas follow each other at once, subscribers are woken one pass of the runtime later: the pass lets the connection
/// deliver one more chunk. A delta that arrives alone wakes them at once.
async fn read_deltas(
    mut reply: Reply,
    state: Arc<Mutex<ReplyState>>,
    events: EventLog,
    is_stopped: Arc<AtomicBool>,
) -> ReadUpTo {
    if lock(&state).is_over {
        return ReadUpTo::End(None);
    }
    let mut unseen = Unseen::default();
    while !is_stopped.load(Ordering::SeqCst) {
        if unseen.count >= MAX_UNSEEN_DELTAS {
            unseen.notify(&events);
        }
        let delta = match next_delta(&mut reply, &mut unseen, &events).await {
            Some(Ok(delta)) => delta,
            end => {
                events.notify();
                return ReadUpTo::End(end.and_then(Result::err));
            }
        };
        unseen.add();
        let (calls, is_over) = match split_long(delta) {
            Ok(pieces) => {
                unseen.count = 0;
                read_pieces(pieces, &state, &events, &is_stopped).await
            }
            Err(delta) => apply(delta, &state, &is_stopped),
        };
        if !calls.is_empty() {
            events.notify();
            return ReadUpTo::Calls(Box::new(reply), calls);
        }
        if is_over {
            events.notify();
            break;
        }
    }
    ReadUpTo::End(None)
}

/// The deltas that subscribers were not woken for.
#[derive(Default)]
struct Unseen {
    count: usize,
    /// When subscribers were woken last.
    woken_at: Option<Instant>,
    /// Whether the first of these deltas arrived directly after that.
    is_burst: bool,
}

impl Unseen {
    fn add(&mut self) {
        if self.count == 0 {
            self.is_burst = self.woken_at.is_some_and(|woken_at| woken_at.elapsed() < MAX_BURST_GAP);
        }
        self.count += 1;
    }

    fn notify(&mut self, events: &EventLog) {
        events.notify();
        (self.woken_at, self.count) = (Some(Instant::now()), 0);
    }
}

/// The next delta. Subscribers are woken while it is awaited: polling the reply again only for that would cost as much as
/// reading a delta.
async fn next_delta(reply: &mut Reply, unseen: &mut Unseen, events: &EventLog) -> Option<Result<Delta, ModelError>> {
    let (mut next, mut pass) = (pin!(reply.next()), pin!(yield_now()));
    poll_fn(|context| {
        let polled = next.as_mut().poll(context);
        let must_wake = polled.is_pending() && unseen.count > 0;
        if must_wake && !(unseen.is_burst && pass.as_mut().poll(context).is_pending()) {
            unseen.notify(events);
        }
        polled
    })
    .await
}

/// Reads the pieces of a long delta. Other turns run between them.
async fn read_pieces(
    pieces: Vec<String>,
    state: &Mutex<ReplyState>,
    events: &EventLog,
    is_stopped: &AtomicBool,
) -> (Vec<ToolCall>, bool) {
    let mut calls = Vec::new();
    for piece in pieces {
        let (more, is_over) = apply(Delta::Text(piece), state, is_stopped);
        calls.extend(more);
        events.notify();
        if is_over {
            return (calls, true);
        }
        yield_now().await;
    }
    (calls, false)
}

/// Applies a delta, unless the task is stopped; returns the calls that must run now, and whether the rest has no use.
fn apply(delta: Delta, state: &Mutex<ReplyState>, is_stopped: &AtomicBool) -> (Vec<ToolCall>, bool) {
    let mut state = lock(state);
    let calls = if is_stopped.load(Ordering::SeqCst) { Vec::new() } else { state.apply(delta) };
    (calls, state.is_over)
}

/// Splits a delta that takes long to read into pieces; a short one is returned as it is.
fn split_long(delta: Delta) -> Result<Vec<String>, Delta> {
    let Delta::Text(text) = delta else { return Err(delta) };
    if text.len() < LONG_DELTA_BYTES {
        return Err(Delta::Text(text));
    }
    Ok(text_pieces(&text, LONG_DELTA_BYTES).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_deltas_split_between_characters() {
        let text = "汉字".repeat(LONG_DELTA_BYTES);
        let pieces = split_long(Delta::Text(text.clone())).unwrap();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= LONG_DELTA_BYTES));
    }

    #[test]
    fn short_deltas_stay_whole() {
        let short = "x".repeat(LONG_DELTA_BYTES - 1);
        assert_eq!(split_long(Delta::Text(short.clone())).unwrap_err(), Delta::Text(short));
    }
}
