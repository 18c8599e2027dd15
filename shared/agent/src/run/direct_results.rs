//! Tool results that are the answer, without a model that rewrites them.

use std::collections::HashSet;

use domain::{FinishReason, Language};
use prompts::AgentTexts;
use tools::ToolRun;

use super::Run;
use crate::round::Round;

/// Longest results that are shown as they are, in characters. Of longer ones the model writes a summary.
const MAX_SHOWN_CHARS: usize = 8_000;

/// Maximum length of a delta in which a result is sent, in bytes.
const MAX_DELTA_BYTES: usize = 16 * 1024;

/// The answer of a round: the results of its distinct calls in order, if all of them are answers.
///
/// The model answers instead, with all results, if a call failed, has no text for a user, could not be parsed, is the
/// client's to run, or has a result that is only for the model.
pub(super) fn answer(round: &Round) -> Option<String> {
    if round.correction.is_some() || !round.client_calls.is_empty() || round.results.is_empty() {
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
    /// The answer as it can be shown: whole, or its beginning if no time is left for a summary. `None` for one that the
    /// model must summarise.
    pub(super) fn shown(&self, answer: String) -> Option<String> {
        if answer.chars().nth(MAX_SHOWN_CHARS).is_none() {
            return Some(answer);
        }
        let note = AgentTexts::of(Language::of(&self.turn.text)).truncated;
        self.deadlines.is_closing().then(|| truncate(&answer, note))
    }

    /// Emits the answer below the text of the model. It is data: its brackets are no citations of the model.
    pub(super) fn emit_result(&self, answer: &str) -> FinishReason {
        self.events.discard_held();
        let answer = self.turn.context.redactor.redact_answer(answer);
        let mut rest = answer.as_ref();
        while !rest.is_empty() {
            let (part, more) = rest.split_at(rest.floor_char_boundary(MAX_DELTA_BYTES));
            self.events.send_result(part.to_owned());
            rest = more;
        }
        FinishReason::Stop
    }
}

/// The beginning of an answer and a note that it was cut; a code block in it ends before the note.
fn truncate(answer: &str, note: &str) -> String {
    let shown: String = answer.chars().take(MAX_SHOWN_CHARS).collect();
    let fence = if shown.matches("```").count() % 2 == 1 { "\n```" } else { "" };
    format!("{shown}{fence}\n\n{note}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_answer_ends_its_code_block() {
        let text = "汉".repeat(MAX_SHOWN_CHARS + 1);
        assert_eq!(truncate(&text, "(cut)"), format!("{}\n\n(cut)", "汉".repeat(MAX_SHOWN_CHARS)));
        let code = truncate(&format!("```json\n{text}\n```"), "(cut)");
        assert!(code.ends_with("汉\n```\n\n(cut)"));
    }
}
