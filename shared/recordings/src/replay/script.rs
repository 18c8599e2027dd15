use std::collections::{HashMap, VecDeque};

use domain::ToolCall;
use llm::{AttemptEnd, ToolMode};
use serde_json::Value;

use crate::recording::{AttemptId, Entry, Line, RecordedResult, RecordedTurn};

/// Limit of a client's own attempts at one reply; a further attempt only replaced a dead connection.
const MAX_ATTEMPTS: usize = 3;

/// Inputs of a recorded turn. They are numbered from 0 in the order in which the turn took them.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The attempts of each model by its name, in order.
    pub(super) attempts: HashMap<String, VecDeque<Attempt>>,
    /// The tool calls, in the order of their ends.
    pub(super) calls: Vec<ScriptedCall>,
    /// Tool mode of each model at its first call.
    pub(super) paths: HashMap<String, ToolMode>,
    pub(super) inputs: usize,
    /// Whether a crash, a shutdown or a deletion cut the turn off.
    pub(super) cut_off: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Attempt {
    id: AttemptId,
    pub(super) response: Option<Response>,
    pub(super) pieces: Vec<Piece>,
    /// Time in milliseconds and kind of its end, if it ended before the recording.
    pub(super) end: Option<(u64, AttemptEnd)>,
    /// Whether another attempt followed.
    pub(super) retried: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) ms: u64,
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after_ms: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) input: usize,
    pub(super) ms: u64,
    pub(super) bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(super) struct ScriptedCall {
    pub(super) input: usize,
    pub(super) ms: u64,
    /// Number of events that clients had received before.
    pub(super) events: usize,
    pub(super) tool_call: ToolCall,
    pub(super) result: Option<Box<RecordedResult>>,
}

#[derive(Default)]
struct ScriptBuilder {
    script: Script,
    models: HashMap<usize, String>,
    attempts: Vec<Attempt>,
    events: usize,
}

impl From<&RecordedTurn> for Script {
    fn from(recorded: &RecordedTurn) -> Self {
        let mut builder = ScriptBuilder::default();
        recorded.lines.iter().for_each(|line| builder.add_line(line));
        let ScriptBuilder { mut script, models, attempts, .. } = builder;
        for attempt in mark_retries(attempts) {
            let Some(model) = models.get(&attempt.id.model_call) else { continue };
            script.attempts.entry(model.clone()).or_default().push_back(attempt);
        }
        script.cut_off = recorded.events().last().is_none_or(is_cut_off);
        script
    }
}

impl Script {
    /// Whether every call of this model made only one attempt.
    pub(super) fn is_attempted_once(&self, model: &str) -> bool {
        self.attempts.get(model).is_none_or(|attempts| attempts.iter().all(|one| one.id.attempt == 1 && !one.retried))
    }
}

/// Whether the last event shows that the turn was cut off.
fn is_cut_off(last: &Value) -> bool {
    let ended = last["type"] == "done" || last["type"] == "error";
    !ended || last["finishReason"] == "stopped" || last["code"] == "interrupted"
}

impl ScriptBuilder {
    fn add_line(&mut self, Line { ms, entry }: &Line) {
        let ms = *ms;
        match entry {
            Entry::ModelCall { model_call, model, path } => {
                self.models.insert(*model_call, model.clone());
                self.script.paths.entry(model.clone()).or_insert(*path);
            }
            Entry::Response { id, status, content_type, retry_after_ms } => {
                let (status, content_type, retry_after_ms) = (*status, content_type.clone(), *retry_after_ms);
                self.attempt(*id).response = Some(Response { ms, status, content_type, retry_after_ms });
            }
            Entry::Body { id, bytes } => {
                let piece = Piece { input: self.input(), ms, bytes: bytes.decode().unwrap_or_default() };
                self.attempt(*id).pieces.push(piece);
            }
            Entry::End { id, how } => self.attempt(*id).end = Some((ms, *how)),
            Entry::Tool { call, result } => {
                let (tool_call, result) = (call.clone(), result.clone());
                let call = ScriptedCall { input: self.input(), ms, events: self.events, tool_call, result };
                self.script.calls.push(call);
            }
            Entry::Event { .. } => self.events += 1,
        }
    }

    fn input(&mut self) -> usize {
        self.script.inputs += 1;
        self.script.inputs - 1
    }

    fn attempt(&mut self, id: AttemptId) -> &mut Attempt {
        let at = self.attempts.iter().position(|known| known.id == id).unwrap_or_else(|| {
            self.attempts.push(Attempt { id, response: None, pieces: Vec::new(), end: None, retried: false });
            self.attempts.len() - 1
        });
        &mut self.attempts[at]
    }
}

/// Marks attempts that were retried, and drops those that a replaying client does not repeat.
fn mark_retries(attempts: Vec<Attempt>) -> Vec<Attempt> {
    let last: HashMap<usize, usize> = attempts.iter().map(|one| (one.id.model_call, one.id.attempt)).collect();
    let marked = attempts.into_iter().filter_map(|attempt| {
        let attempts_of_call = last.get(&attempt.id.model_call).copied().unwrap_or_default();
        let marked = Attempt { retried: attempt.id.attempt < attempts_of_call, ..attempt };
        (!is_skipped_in_replay(&marked, attempts_of_call)).then_some(marked)
    });
    marked.collect()
}

/// Whether a replaying client skips an attempt: it has no key to re-read, and no old connection that may be dead.
fn is_skipped_in_replay(attempt: &Attempt, attempts_of_call: usize) -> bool {
    let refused = attempt.response.as_ref().is_some_and(|response| matches!(response.status, 401 | 403));
    let dead = attempt.response.is_none()
        && attempts_of_call > MAX_ATTEMPTS
        && matches!(attempt.end, Some((_, AttemptEnd::Disconnected)));
    attempt.retried && (refused || dead)
}
