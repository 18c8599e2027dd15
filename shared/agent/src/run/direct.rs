//! Results that are the answer: no model is asked to word them anew.

use std::collections::HashSet;

use domain::{Event, FinishReason};
use tools::ToolRun;

use super::Run;
use crate::step::Round;

/// The longest piece in which a result is sent, in bytes.
const PIECE: usize = 16 * 1024;

/// The answer of a round: what its calls gave, in their order and each once, if all of that is the answer.
///
/// A call that failed, that gives a user nothing to read, that could not be read, that is the caller's to run, or whose
/// result is only for the model leaves the answer to the model, which then reads all results.
pub(super) fn answer(round: &Round) -> Option<String> {
    if round.malformed.is_some() || !round.callers.is_empty() || round.results.is_empty() {
        return None;
    }
    let readable = |ran: &ToolRun| ran.answer.clone().filter(|text| !text.trim().is_empty());
    let texts: Option<Vec<String>> = round.results.iter().map(readable).collect();
    let mut seen = HashSet::new();
    let calls = round.calls.iter().map(|call| (&call.name, call.arguments.to_string()));
    let fresh = calls.zip(texts?).filter(|(call, _)| seen.insert(call.clone()));
    Some(fresh.map(|(_, text)| text.trim_end().to_owned()).collect::<Vec<_>>().join("\n\n"))
}

impl Run<'_> {
    /// Gives the answer out, below what the model said.
    pub(super) fn say_directly(&self, answer: &str) -> FinishReason {
        let between = self.events.draft().gap();
        let mut rest = answer;
        let mut delta = between.to_owned();
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
            delta.push_str(piece);
            self.events.send(Event::Text { delta: std::mem::take(&mut delta) });
            rest = more;
        }
        FinishReason::Stop
    }
}
