use std::collections::{HashMap, VecDeque};

use conversation::ToolCall;
use serde_json::Value;

use crate::recording::{End, Entry, Line, Path, Recorded, Result};

/// Most attempts at one reply that a client makes by itself; a further one only repaired a dead connection.
const ATTEMPTS: usize = 3;

/// What a recording gives to a turn. Inputs are numbered from 0 in the order in which the turn took them.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// The attempts at each model by its name, in order.
    pub(super) attempts: HashMap<String, VecDeque<Attempt>>,
    /// The calls of tools, in the order of their ends.
    pub(super) calls: Vec<Call>,
    /// How each model was given tools when it was first asked.
    pub(super) paths: HashMap<String, Path>,
    /// How many inputs there are.
    pub(super) inputs: usize,
    /// Whether the turn was cut off: by a crash, a shutdown or a deletion.
    pub(super) cut_off: bool,
}

/// One attempt at a reply.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    place: (usize, usize),
    pub(super) response: Option<Response>,
    pub(super) pieces: Vec<Piece>,
    /// When and how it ended, if it did before the recording.
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

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) input: usize,
    pub(super) ms: u64,
    /// How many events clients had seen before.
    pub(super) events: usize,
    pub(super) made: ToolCall,
    pub(super) result: Option<Box<Result>>,
}

/// A score in the making.
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
    /// Whether every time that this model was asked it was attempted once.
    pub(super) fn is_attempted_once(&self, model: &str) -> bool {
        self.attempts.get(model).is_none_or(|attempts| attempts.iter().all(|one| one.place.1 == 1 && !one.again))
    }
}

/// Whether a turn that ends with this event was cut off.
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

/// The attempts that a client makes again by itself, with what followed each.
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

/// A client without keys reads none again, and one without old connections finds none of them dead.
fn needs_more_than_is_recorded(attempt: &Attempt, of_ask: usize) -> bool {
    let refused = attempt.response.as_ref().is_some_and(|response| matches!(response.status, 401 | 403));
    let dead = attempt.response.is_none() && of_ask > ATTEMPTS && matches!(attempt.end, Some((_, End::Cut)));
    attempt.again && (refused || dead)
}
