use std::fmt;

use serde_json::Value;

use super::sequencer::StopReason;
use crate::recording::RecordedTurn;

/// Fields that differ in each run and are not compared.
const RUN_FIELDS: [&str; 2] = ["durationMs", "requestId"];

/// Fields that depend on the prompt's wording when they are estimated.
const PROMPT_FIELDS: [&str; 2] = ["inputTokens", "costMicros"];

/// Field that includes the credits of a prefetched search, which is not recorded.
const SEARCH_FIELD: &str = "searchCredits";

const END_EVENTS: [&str; 4] = ["title", "usage", "done", "error"];

/// Result of a replay, with its recording.
#[derive(Debug)]
pub struct ReplayReport {
    pub(super) recorded: RecordedTurn,
    /// The events that clients would have received.
    pub(super) events: Vec<Value>,
    /// Tool calls that were not recorded.
    pub(super) unrecorded: Vec<String>,
    /// Why the replay ended before the turn did.
    pub(super) stop_reason: Option<StopReason>,
    /// Whether the turn was cut off when it was recorded.
    pub(super) cut_off: bool,
}

/// Result of comparing a replay with its recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All events are as recorded; holds their number.
    Same(usize),
    /// The recording ends before its turn; holds the number of equal events.
    EndsEarly(usize),
    /// An event differs.
    Differs {
        /// Its number, from 1.
        event: usize,
        /// As recorded; `None` if there is no such event.
        expected: Option<Value>,
        /// As replayed; `None` if there is no such event.
        got: Option<Value>,
    },
}

impl ReplayReport {
    /// The events that clients would have received.
    pub fn events(&self) -> &[Value] {
        &self.events
    }

    /// Compares the replay with the recording.
    pub fn verdict(&self) -> Verdict {
        let masked = self.recorded.head.masked;
        let (recorded, seen) = (self.recorded.events().cloned().collect(), self.events.clone());
        // Masking moves the positions at which a text is split.
        let (recorded, seen) = if masked { (join_texts(recorded), join_texts(seen)) } else { (recorded, seen) };
        let recorded: Vec<&Value> = recorded.iter().collect();
        let ended = recorded.last().is_some_and(|last| last["type"] == "done" || last["type"] == "error");
        let expected = if self.cut_off { before_ending(&recorded) } else { &recorded };
        // The next events of a cut-off turn are unknown.
        let got = &seen[..if self.cut_off { seen.len().min(expected.len()) } else { seen.len() }];
        let pre_search = self.recorded.head.pre_search || self.recorded.head.search_context;
        let comparable = |event: &Value| comparable(event, pre_search, masked);
        let differs = |at: &usize| expected.get(*at).map(|one| comparable(one)) != got.get(*at).map(comparable);
        match (0..expected.len().max(got.len())).find(differs) {
            Some(at) => Verdict::Differs {
                event: at + 1,
                expected: expected.get(at).map(|event| comparable(event)),
                got: got.get(at).map(comparable),
            },
            None if ended => Verdict::Same(recorded.len()),
            None => Verdict::EndsEarly(got.len()),
        }
    }

    /// Further remarks, one line each.
    pub fn remarks(&self) -> Vec<String> {
        let calls = self.unrecorded.iter().map(|call| format!("a call that was not recorded: {call}"));
        let stop = self.stop_reason.iter().map(|stop| match stop {
            StopReason::RecordingEnded => "the turn was ended from outside when it was recorded".to_owned(),
            StopReason::ExtraModelCall(model) => {
                format!("the model {model} gets one more request than when the turn was recorded")
            }
        });
        calls.chain(stop).collect()
    }
}

fn before_ending<'a>(events: &'a [&'a Value]) -> &'a [&'a Value] {
    let is_ending = |event: &&Value| END_EVENTS.iter().any(|kind| event["type"] == *kind);
    let end = events.iter().rposition(|event| !is_ending(event)).map_or(0, |at| at + 1);
    &events[..end]
}

fn join_texts(events: Vec<Value>) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for event in events {
        let field = ["content", "thinking"].into_iter().find(|kind| event["type"] == *kind);
        let more = field.and_then(|field| event[field].as_str());
        match (field, more, joined.last_mut()) {
            (Some(field), Some(more), Some(last)) if last["type"] == field => {
                last[field] = format!("{}{more}", last[field].as_str().unwrap_or_default()).into();
            }
            _ => joined.push(event),
        }
    }
    joined
}

fn comparable(event: &Value, pre_search: bool, masked: bool) -> Value {
    let mut event = event.clone();
    let estimated = event["estimated"] == true;
    if let Some(fields) = event.as_object_mut() {
        fields.retain(|name, _| {
            let is_prompt_field = PROMPT_FIELDS.contains(&&**name) || (masked && name.ends_with("Tokens"));
            !(RUN_FIELDS.contains(&&**name) || (pre_search && name == SEARCH_FIELD) || (estimated && is_prompt_field))
        });
    }
    event
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |event: &Option<Value>| event.as_ref().map_or("nothing more".to_owned(), Value::to_string);
        match self {
            Self::Same(events) => write!(f, "the same as recorded: {events} events"),
            Self::EndsEarly(events) => {
                write!(f, "the recording ends early, before the end of its turn; its {events} events are the same")
            }
            Self::Differs { event, expected, got } => {
                write!(f, "differs at event {event}\n  expected {}\n  got      {}", shown(expected), shown(got))
            }
        }
    }
}
