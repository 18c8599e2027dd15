//! Tool results that are the answer, without a model that rewrites them.

use std::collections::HashSet;

use domain::{Event, FinishReason};
use tools::ToolRun;

use super::Run;
use crate::round::Round;

/// Maximum length of a delta in which a result is sent, in bytes.
const MAX_DELTA_BYTES: usize = 16 * 1024;

/// The answer of a round: the results of its distinct calls in order, if all of them are answers.
///
/// The model answers instead, with all results, if a call failed, has no text for a user, could not be parsed, is the
/// client's to run, or has a result that is only for the model.
pub(super) fn answer(round: &Round) -> Option<String> {
    if round.malformed.is_some() || !round.client_calls.is_empty() || round.results.is_empty() {
        return None;
    }
    let answer_text = |run: &ToolRun| run.answer.clone().filter(|text| !text.trim().is_empty());
    let texts: Option<Vec<String>> = round.results.iter().map(answer_text).collect();
    let mut seen = HashSet::new();
    let calls = round.calls.iter().map(|call| (&call.name, call.arguments.to_string()));
    let distinct = calls.zip(texts?).filter(|(call, _)| seen.insert(call.clone()));
    Some(distinct.map(|(_, text)| text.trim_end().to_owned()).collect::<Vec<_>>().join("\n\n"))
}

impl Run<'_> {
    /// Emits the answer below the text of the model.
    pub(super) fn emit_result(&self, answer: &str) -> FinishReason {
        let separator = self.events.turn_state().separator();
        let mut rest = answer;
        let mut delta = separator.to_owned();
        while !rest.is_empty() {
            let (part, more) = rest.split_at(rest.floor_char_boundary(MAX_DELTA_BYTES));
            delta.push_str(part);
            self.events.send(Event::Text { delta: std::mem::take(&mut delta) });
            rest = more;
        }
        FinishReason::Stop
    }
}
