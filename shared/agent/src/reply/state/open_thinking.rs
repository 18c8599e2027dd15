//! Replies that begin in reasoning: their text only closes it.

use domain::Event;

use super::ReplyState;

impl ReplyState {
    /// Handles an end of reasoning that had no beginning: the text of this reply was reasoning.
    pub(super) fn reclassify_text(&mut self) {
        let has_calls = !self.calls.is_empty() || !self.client_calls.is_empty() || !self.held.is_empty();
        if has_calls || self.has_native_calls {
            return;
        }
        self.model.record_thinking_open(true);
        let held = self.scanner.as_mut().map(tool_calls::CallScanner::restart).unwrap_or_default();
        if let Some(unshown) = &mut self.unshown_text {
            let reasoning = std::mem::take(unshown) + &held;
            return self.think(reasoning);
        }
        self.show(held);
        self.emit_held();
        self.events.append_held();
        let characters = self.events.turn_state().reply().0.chars().count();
        if characters > 0 {
            self.events.append(Event::TextReclassified { characters });
        }
    }

    /// Ends a reply whose reasoning was not closed, neither the one in which it was to begin nor a thought: that was the answer.
    pub(super) fn show_unclosed_thinking(&mut self, was_to_begin: bool) {
        self.events.append_held();
        let (text, thinking) = self.events.turn_state().reply();
        if text.trim().is_empty() && self.unshown_text.as_ref().is_none_or(String::is_empty) && !thinking.is_empty() {
            if was_to_begin {
                self.model.record_thinking_open(false);
            }
            self.show(thinking);
        }
    }
}
