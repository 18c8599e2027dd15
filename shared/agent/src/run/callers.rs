//! Calls of tools that the caller runs.

use domain::{Event, FinishReason, Message, ToolCall};
use llm::GenerationParams;

use super::Run;

impl Run<'_> {
    /// Ends the turn with calls that the caller shall run.
    ///
    /// Their ids are new: models count theirs anew in every turn, and a caller tells the calls of a whole conversation
    /// apart by them.
    pub(super) fn call_back(&self, calls: Vec<ToolCall>) -> FinishReason {
        let most = if self.turn.caller.as_ref().is_some_and(|caller| caller.one_call) { 1 } else { calls.len() };
        for (number, call) in (1..).zip(calls).take(most) {
            let id = format!("call_{}_{number}", self.turn.id);
            self.events.send(Event::ClientToolCall(Box::new(ToolCall { id, ..call })));
        }
        FinishReason::ToolCalls
    }

    /// What holds over the operator's options.
    pub(super) fn wishes(&self) -> GenerationParams {
        self.turn.caller.as_ref().map(|caller| caller.wishes.clone()).unwrap_or_default()
    }

    /// The messages as they may stand in a prompt that is text alone.
    pub(super) fn guarded(&self, messages: Vec<Message>) -> Vec<Message> {
        let Some(caller) = &self.turn.caller else { return messages };
        messages.into_iter().map(|message| caller.guarded(message, &self.agent.tools)).collect()
    }
}
