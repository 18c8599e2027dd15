//! The task that reads a reply.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

use domain::ToolCall;
use llm::{Delta, ModelError, Reply};
use tokio::task::{JoinHandle, yield_now};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::lock;
use super::state::ReplyState;
use crate::EventLog;

/// Length from which reading a text delta takes milliseconds, in bytes; models write shorter ones.
const LONG_DELTA_BYTES: usize = 4 * 1024;

/// Maximum number of deltas that are appended to the log before subscribers are woken.
const MAX_UNSEEN_DELTAS: usize = 64;

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
    stop: CancellationToken,
}

impl ReplyReader {
    pub(super) fn spawn(reply: Reply, state: Arc<Mutex<ReplyState>>, events: EventLog) -> Self {
        let stop = CancellationToken::new();
        let task = read_deltas(reply, Arc::clone(&state), events, stop.clone());
        Self { task: tokio::spawn(task.in_current_span()), state, stop }
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
        self.stop.cancel();
        self.task.abort();
        // On another thread the task may be in the middle of a delta, whose events are sent before this returns.
        drop(lock(&self.state));
    }
}

/// Reads a reply up to the next calls, to its end, or until its rest has no use.
///
/// While several deltas arrive at a time, subscribers are woken one pass of the runtime later: the pass lets the connection
/// deliver one more chunk. A delta that arrives alone wakes them at once.
async fn read_deltas(
    mut reply: Reply,
    state: Arc<Mutex<ReplyState>>,
    events: EventLog,
    stop: CancellationToken,
) -> ReadUpTo {
    if lock(&state).is_over() {
        return ReadUpTo::End(None);
    }
    let (mut unseen, mut is_burst) = (0, false);
    while !stop.is_cancelled() {
        if unseen >= MAX_UNSEEN_DELTAS {
            events.notify();
            unseen = 0;
        }
        let next = tokio::select! {
            biased;
            next = reply.next() => next,
            () = yield_if(is_burst), if unseen > 0 => {
                events.notify();
                (is_burst, unseen) = (unseen > 1, 0);
                continue;
            }
        };
        let delta = match next {
            Some(Ok(delta)) => delta,
            end => {
                events.notify();
                return ReadUpTo::End(end.and_then(Result::err));
            }
        };
        unseen += 1;
        let (calls, is_over) = match split_long(delta) {
            Ok(pieces) => {
                unseen = 0;
                read_pieces(pieces, &state, &events, &stop).await
            }
            Err(delta) => apply(delta, &state, &stop),
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

async fn yield_if(is_burst: bool) {
    if is_burst {
        yield_now().await;
    }
}

/// Reads the pieces of a long delta. Other turns run between them.
async fn read_pieces(
    pieces: Vec<String>,
    state: &Mutex<ReplyState>,
    events: &EventLog,
    stop: &CancellationToken,
) -> (Vec<ToolCall>, bool) {
    let mut calls = Vec::new();
    for piece in pieces {
        let (more, is_over) = apply(Delta::Text(piece), state, stop);
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
fn apply(delta: Delta, state: &Mutex<ReplyState>, stop: &CancellationToken) -> (Vec<ToolCall>, bool) {
    let mut state = lock(state);
    let calls = if stop.is_cancelled() { Vec::new() } else { state.apply(delta) };
    (calls, state.is_over())
}

/// Splits a delta that takes long to read into pieces; a short one is returned as it is.
fn split_long(delta: Delta) -> Result<Vec<String>, Delta> {
    let Delta::Text(text) = delta else { return Err(delta) };
    if text.len() < LONG_DELTA_BYTES {
        return Err(Delta::Text(text));
    }
    let mut pieces = Vec::with_capacity(text.len() / LONG_DELTA_BYTES + 1);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.floor_char_boundary(LONG_DELTA_BYTES));
        pieces.push(piece.to_owned());
        rest = tail;
    }
    Ok(pieces)
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
