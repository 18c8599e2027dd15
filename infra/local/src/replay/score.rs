use std::collections::{HashMap, VecDeque};

use conversation::ToolCall;
use serde_json::Value;

use crate::recording::{End, Entry, Line, Path, Recorded, Result};

/// Limit of a client's own attempts at one reply; a further attempt only replaced a dead connection.
const ATTEMPTS: usize = 3;

/// Inputs of a recorded turn. They are numbered from 0 in the order in which the turn took them.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// The attempts of each model by its name, in order.
    pub(super) attempts: HashMap<String, VecDeque<Attempt>>,
    /// The tool calls, in the order of their ends.
    pub(super) calls: Vec<Call>,
    /// Tool mode of each model at its first call.
    pub(super) paths: HashMap<String, Path>,
    /// Number of inputs.
    pub(super) inputs: usize,
    /// Whether a crash, a shutdown or a deletion cut the turn off.
    pub(super) cut_off: bool,
}

/// One attempt at a reply.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    place: (usize, usize),
    pub(super) response: Option<Response>,
    pub(super) pieces: Vec<Piece>,
    /// Time in milliseconds and kind of its end, if it ended before the recording.
    pub(super) end: Option<(u64, End)>,
    /// Whether another attempt followed.
    pub(super) again: bool,
}

/// The head of a response.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) ms: u64,
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after_ms: Option<u64>,
}

/// A piece of a body.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) input: usize,
    pub(super) ms: u64,
    pub(super) bytes: Vec<u8>,
}

/// A tool call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) input: usize,
    pub(super) ms: u64,
    /// Number of events that clients had received before.
    pub(super) events: usize,
    pub(super) made: ToolCall,
    pub(super) result: Option<Box<Result>>,
}

/// Builder of a script.
#[derive(Default)]
struct Reading {
    score: Score,
    models: HashMap<usize, String>,
    attempts: Vec<Attempt>,
    events: usize,
}

impl From<&Recorded> for Score {
    fn from(recorded: &Recorded) -> Self {
        let mut reading = Reading::default();
        recorded.lines.iter().for_each(|line| reading.take(line));
        let Reading { mut score, models, attempts, .. } = reading;
        for attempt in followed(attempts) {
            let Some(model) = models.get(&attempt.place.0) else { continue };
            score.attempts.entry(model.clone()).or_default().push_back(attempt);
        }
        score.cut_off = recorded.events().last().is_none_or(is_cut_off);
        score
    }
}

impl Score {
    /// Whether every call of this model made only one attempt.
    pub(super) fn is_attempted_once(&self, model: &str) -> bool {
        self.attempts.get(model).is_none_or(|attempts| attempts.iter().all(|one| one.place.1 == 1 && !one.again))
    }
}

/// Whether the last event shows that the turn was cut off.
fn is_cut_off(last: &Value) -> bool {
    let ended = last["type"] == "done" || last["type"] == "error";
    !ended || last["finishReason"] == "stopped" || last["code"] == "interrupted"
}

impl Reading {
    fn take(&mut self, Line { ms, entry }: &Line) {
        let ms = *ms;
        match entry {
            Entry::Ask { ask, model, path } => {
                self.models.insert(*ask, model.clone());
                self.score.paths.entry(model.clone()).or_insert(*path);
            }
            Entry::Response { ask, attempt, status, content_type, retry_after_ms } => {
                let (status, content_type, retry_after_ms) = (*status, content_type.clone(), *retry_after_ms);
                self.attempt(*ask, *attempt).response = Some(Response { ms, status, content_type, retry_after_ms });
            }
            Entry::Body { ask, attempt, bytes } => {
                let piece = Piece { input: self.input(), ms, bytes: bytes.decoded().unwrap_or_default() };
                self.attempt(*ask, *attempt).pieces.push(piece);
            }
            Entry::End { ask, attempt, how } => self.attempt(*ask, *attempt).end = Some((ms, *how)),
            Entry::Tool { call, result } => {
                let (made, result) = (call.clone(), result.clone());
                let call = Call { input: self.input(), ms, events: self.events, made, result };
                self.score.calls.push(call);
            }
            Entry::Event { .. } => self.events += 1,
        }
    }

    fn input(&mut self) -> usize {
        self.score.inputs += 1;
        self.score.inputs - 1
    }

    fn attempt(&mut self, ask: usize, attempt: usize) -> &mut Attempt {
        let place = (ask, attempt);
        let at = self.attempts.iter().position(|known| known.place == place).unwrap_or_else(|| {
            self.attempts.push(Attempt { place, response: None, pieces: Vec::new(), end: None, again: false });
            self.attempts.len() - 1
        });
        &mut self.attempts[at]
    }
}

/// Marks attempts that were retried, and drops those that a replaying client does not repeat.
fn followed(attempts: Vec<Attempt>) -> Vec<Attempt> {
    let mut last: HashMap<usize, usize> = HashMap::new();
    for attempt in &attempts {
        last.insert(attempt.place.0, attempt.place.1);
    }
    let marked = attempts.into_iter().map(|attempt| {
        let of_ask = last.get(&attempt.place.0).copied().unwrap_or_default();
        (of_ask, Attempt { again: attempt.place.1 < of_ask, ..attempt })
    });
    marked.filter(|(of_ask, attempt)| !needs_more_than_is_recorded(attempt, *of_ask)).map(|(_, one)| one).collect()
}

/// Whether a replaying client skips an attempt: it has no key to re-read, and no old connection that may be dead.
fn needs_more_than_is_recorded(attempt: &Attempt, of_ask: usize) -> bool {
    let refused = attempt.response.as_ref().is_some_and(|response| matches!(response.status, 401 | 403));
    let dead = attempt.response.is_none() && of_ask > ATTEMPTS && matches!(attempt.end, Some((_, End::Cut)));
    attempt.again && (refused || dead)
}
