use std::mem::discriminant;

use domain::{FinishReason, Message, ProviderData, ReasoningItem, ToolCall};
use tool_calls::{Malformed, MalformedReason};

use super::{Run, direct_results};
use crate::prompt;
use crate::round::{Correction, Round};

/// Maximum size of the provider data of a reply that later turns receive, in bytes. It is stored with the turn.
const MAX_STORED_DATA_BYTES: usize = 16 * 1024;

/// The part of a reply's provider data that later turns need. Providers with thinking blocks use them only in the turn in
/// which they were made.
fn data_for_later_turns(data: &ProviderData) -> Option<Box<ProviderData>> {
    let mut data = data.clone();
    data.reasoning
        .retain(|item| !matches!(item, ReasoningItem::Thinking { .. } | ReasoningItem::RedactedThinking { .. }));
    Some(Box::new(data)).filter(|data| !data.is_empty() && data.size() <= MAX_STORED_DATA_BYTES)
}

impl Run<'_> {
    /// Records a round with calls; returns how the turn ends if the results are the answer.
    pub(super) fn end_after_calls(&mut self, round: Round) -> Option<FinishReason> {
        let answer = direct_results::answer(&round).filter(|_| !self.formats_last_round());
        let answer = answer.and_then(|answer| self.shown(answer));
        self.record_round(round);
        self.make_space_for_results();
        answer.map(|answer| self.emit_result(&answer))
    }

    /// Adds a round with calls to the messages for the model.
    fn record_round(&mut self, round: Round) {
        let text = self.partial_text();
        self.rounds += 1;
        for call in &round.calls {
            *self.equal_calls.entry(format!("{} {}", call.name, call.arguments)).or_default() += 1;
        }
        let mut calls = round.calls.iter().zip(&round.results);
        let is_invalid = calls.all(|(call, run)| !run.report.ok && self.is_unfit(call));
        self.invalid_rounds = if is_invalid { self.invalid_rounds + 1 } else { 0 };
        let results: Vec<_> = round.results.into_iter().map(|run| run.result).collect();
        let mut state = self.events.turn_state();
        let (_, thinking) = state.current_round();
        let (calls, provider_data) = (round.calls.clone(), round.provider_data);
        let stored = provider_data.as_deref().and_then(data_for_later_turns);
        self.messages.push(Message::Assistant { text, thinking, calls, provider_data });
        self.messages.extend(results.iter().cloned().map(Message::Tool));
        state.close_round(round.calls, results, stored);
        self.text_in_messages = state.answer.content.len();
    }

    /// Whether the arguments do not fit the schema of the tool.
    fn is_unfit(&self, call: &ToolCall) -> bool {
        let spec = self.specs.iter().find(|spec| spec.name == call.name);
        spec.is_some_and(|spec| tool_calls::coerce_arguments(&spec.parameters, call.arguments.clone()).is_err())
    }

    /// Returns a faulty reply to the model.
    pub(super) fn request_correction(&mut self, correction: &Correction) {
        self.corrected.push(discriminant(correction));
        let text = self.partial_text();
        let (_, thinking) = self.events.turn_state().current_round();
        self.text_in_messages = self.events.turn_state().answer.content.len();
        self.events.turn_state().end_paragraph();
        let written = match correction {
            // A truncated call is of no use to the model, and may be long.
            Correction::Malformed(Malformed { reason: MalformedReason::Truncated, .. })
            | Correction::Invention
            | Correction::ToolsOff => text,
            Correction::Malformed(malformed) => format!("{text}{}", malformed.raw),
            Correction::NoCall(unshown) => format!("{text}{unshown}"),
        };
        if !written.is_empty() {
            self.messages.push(Message::Assistant { text: written, thinking, calls: Vec::new(), provider_data: None });
        }
        self.messages.push(prompt::correction(self.texts, correction, &self.turn.tool_choice));
    }
}
