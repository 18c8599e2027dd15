use domain::{AnswerDelta, Event};
use llm::Finish;

use super::ReplyState;
use super::invention::Invention;
use crate::round::Correction;

/// Maximum length of text that is not shown, in bytes.
const MAX_UNSHOWN_BYTES: usize = 64 * 1024;

/// Maximum length of a draft, in bytes: a model that writes more without a call answers, so that the last round can begin.
const MAX_DRAFT_BYTES: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnshownReason {
    /// The client requires a call, which a model with prompted tools may ignore. Text is held until there is a call: a reply
    /// without one is not shown, because the request is repeated once. The second reply is shown as it is.
    RequiredCall,
    /// The client wants a format, in which the last round repeats the answer.
    Draft,
    /// An earlier reply of the model began in reasoning that only its end tag showed. This one may do so too.
    MayBeReasoning,
    /// It reports results that no tool returned.
    Invention(Invention),
}

pub(super) struct UnshownText {
    text: String,
    pub(super) reason: UnshownReason,
}

impl UnshownText {
    pub(super) fn new(reason: UnshownReason) -> Self {
        Self { text: String::new(), reason }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl ReplyState {
    pub(super) fn hold(&mut self, text: &str) {
        let Some(unshown) = &mut self.unshown else { return };
        let is_draft = unshown.reason == UnshownReason::Draft;
        if is_draft && !self.calls.is_empty() {
            return;
        }
        unshown.text.push_str(text);
        if unshown.text.len() > if is_draft { MAX_DRAFT_BYTES } else { MAX_UNSHOWN_BYTES } {
            self.is_over = unshown.reason != UnshownReason::MayBeReasoning;
            self.end_unshown(Finish::Stop);
        }
    }

    /// Shows text up to an invention; from there on it is not shown.
    pub(super) fn show_up_to_invention(&mut self, text: String, invention: Option<(Invention, String)>) {
        let delta = self.trimmer.push(text);
        self.emit(delta);
        if let Some((invention, rest)) = invention {
            self.emit_held();
            self.detector = None;
            self.unshown = Some(UnshownText::new(UnshownReason::Invention(invention)));
            self.hold(&rest);
        }
    }

    /// Shows all text before a call; a draft and an invention are dropped.
    pub(super) fn show_unshown_before_call(&mut self) {
        if let Some(draft) = self.unshown.as_mut().filter(|unshown| unshown.reason == UnshownReason::Draft) {
            draft.text.clear();
        } else if let Some(unshown) = self.unshown.take()
            && !matches!(unshown.reason, UnshownReason::Invention(_))
        {
            self.show(unshown.text);
        }
    }

    /// Takes the text as reasoning; only a missing call or a format keeps the rest from being shown.
    pub(super) fn take_unshown_reasoning(&mut self) -> Option<String> {
        let unshown = self.unshown.take()?;
        if matches!(unshown.reason, UnshownReason::RequiredCall | UnshownReason::Draft) {
            self.unshown = Some(UnshownText::new(unshown.reason));
        }
        Some(unshown.text)
    }

    /// Shows text that was no reasoning.
    pub(super) fn show_possible_reasoning(&mut self) {
        if let Some(unshown) = self.unshown.take_if(|unshown| unshown.reason == UnshownReason::MayBeReasoning) {
            self.show(unshown.text);
        }
    }

    /// Ends a reply with text that was not shown: another reply is requested instead, unless it was the answer.
    pub(super) fn end_unshown(&mut self, finish: Finish) {
        let is_answer = |unshown: &mut UnshownText| unshown.reason != UnshownReason::Draft;
        let Some(UnshownText { text, reason }) = self.unshown.take_if(is_answer) else { return };
        if reason == UnshownReason::MayBeReasoning {
            self.model.record_thinking_open(false);
            self.show(text);
        } else if finish == Finish::ContentFilter {
            self.detector = None;
            self.show(text);
        } else if self.correction.is_none() {
            self.correction = Some(match reason {
                UnshownReason::Invention(_) => Correction::Invention,
                _ => Correction::NoCall(text),
            });
            if reason == UnshownReason::Invention(Invention::Citation) {
                self.reclassify_shown_text();
            }
        }
    }

    /// Turns the text of this reply that was shown into reasoning.
    pub(super) fn reclassify_shown_text(&mut self) {
        self.emit_held();
        self.events.append_held();
        let characters = self.events.turn_state().reply().0.chars().count();
        if characters > 0 {
            self.events.append(Event::Delta(AnswerDelta::Reclassified(characters)));
        }
    }
}
