//! The size of a prompt, and the usage of its reply.

use llm::Prompt;

use super::Run;
use crate::estimate::{self, TextSize};
use crate::round::Round;
use crate::tokens::Family;

impl Run<'_> {
    /// The size of a prompt of this turn for the current model.
    pub(super) fn prompt_size(&self, prompt: &Prompt) -> TextSize {
        let family = self.family();
        let size = estimate::text(family, &prompt.system) + estimate::messages(family, &prompt.messages);
        if prompt.tools.is_empty() { size } else { size + self.tools_size() }
    }

    /// The size of the tools as they are sent to the endpoint.
    pub(super) fn tools_size(&self) -> TextSize {
        self.agent.prompts.tools(self.family(), &self.specs)
    }

    pub(super) fn family(&self) -> Family {
        Family::of(&self.model().config().model)
    }

    /// Adds the usage of a reply to the draft; of an interrupted reply, an estimate of what was received.
    pub(super) fn record_usage(&self, round: Option<&Round>) {
        let mut state = self.events.turn_state();
        match (round, state.pending) {
            (Some(round), Some(pending)) => {
                let (text, thinking) = state.reply();
                let calls = round.calls.iter().chain(&round.client_calls);
                let usage = pending.usage(estimate::reply(pending.family, &text, &thinking, calls), round.usage);
                state.usage.join(usage);
            }
            _ => state.usage = state.usage_without_prefetch(),
        }
        state.pending = None;
    }
}
