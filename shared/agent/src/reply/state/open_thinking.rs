//! Replies that begin in reasoning: their text only closes it.

use super::ReplyState;
use super::unshown::{UnshownReason, UnshownText};
use crate::reply::ReplyOptions;

/// Whether a reply begins in reasoning that only its end tag shows: by the settings, else by the model's name unless it
/// was observed otherwise.
pub(super) fn opens_in_thinking(options: &ReplyOptions<'_>) -> bool {
    let (config, observed) = (options.model.config(), options.model.observed_thinking_open());
    let by_name = || observed != Some(false) && tool_calls::opens_in_thinking(&config.model);
    config.options.thinking_open.unwrap_or_else(by_name)
}

/// What keeps text of a reply from being shown from the beginning. An observation alone lets no reply begin in reasoning,
/// because any prompt can make a model write the end tag.
pub(super) fn initially_unshown(options: &ReplyOptions<'_>) -> Option<UnshownText> {
    let is_known = options.model.config().options.thinking_open.is_some() || opens_in_thinking(options);
    let may_be_reasoning = !is_known && options.model.observed_thinking_open() == Some(true);
    let reason = may_be_reasoning.then_some(UnshownReason::MayBeReasoning);
    options.unshown.or(reason).map(UnshownText::new)
}

impl ReplyState {
    /// Handles an end of reasoning that had no beginning: the text of this reply was reasoning.
    pub(super) fn reclassify_text(&mut self) {
        let has_calls = !self.calls.is_empty() || !self.client_calls.is_empty() || !self.held.is_empty();
        if has_calls || self.has_native_calls {
            return;
        }
        self.model.record_thinking_open(true);
        let held = self.scanner.as_mut().map(tool_calls::CallScanner::restart).unwrap_or_default();
        if let Some(unshown) = self.take_unshown_reasoning() {
            self.reclassify_shown_text();
            self.think(unshown + &held);
        } else {
            let delta = self.trimmer.push(held);
            self.emit(delta);
            self.reclassify_shown_text();
        }
    }

    /// Ends a reply whose reasoning was not closed, neither the one in which it was to begin nor a thought: that was the answer.
    pub(super) fn show_unclosed_thinking(&mut self, opened_by_prompt: bool) {
        self.events.append_held();
        let (text, thinking) = self.events.turn_state().reply();
        if text.trim().is_empty() && self.unshown.as_ref().is_none_or(UnshownText::is_empty) && !thinking.is_empty() {
            if opened_by_prompt {
                self.model.record_thinking_open(false);
            }
            self.events.turn_state().discard_reply_thinking();
            self.detector = None;
            self.show(thinking);
        }
    }
}
