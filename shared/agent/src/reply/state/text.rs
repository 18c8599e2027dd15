//! The text of a reply: what of it is shown, called or dropped.

use domain::{Event, ToolCall};
use llm::{Finish, ToolMode};
use tool_calls::{Malformed, MalformedReason, ReplyPart, Segment};

use super::ReplyState;
use super::after_call::AfterCall;
use crate::round::Correction;

/// Maximum length of text that is held while a required call is missing, in bytes.
const MAX_UNSHOWN_BYTES: usize = 64 * 1024;

/// Maximum length of a draft, in bytes: a model that writes more without a call answers, so that the last round can begin.
const MAX_DRAFT_BYTES: usize = 1024;

impl ReplyState {
    pub(super) fn text(&mut self, text: String) -> Vec<ToolCall> {
        let (Some(filter), Some(scanner)) = (&mut self.filter, &mut self.scanner) else { return Vec::new() };
        let passes = filter.try_passthrough(&text);
        if passes && scanner.try_passthrough(&text) {
            self.show(text);
            return Vec::new();
        }
        let mut parts = std::mem::take(&mut self.parts);
        if passes {
            parts.push(ReplyPart::Text(text));
        } else {
            filter.push_into(&text, &mut parts);
        }
        let calls = self.parts(&mut parts);
        self.parts = parts;
        calls
    }

    pub(super) fn parts(&mut self, parts: &mut Vec<ReplyPart>) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        let mut segments = std::mem::take(&mut self.segments);
        for part in parts.drain(..) {
            match part {
                ReplyPart::Thinking(delta) => self.think(delta),
                ReplyPart::TextWasThinking => self.reclassify_text(),
                ReplyPart::Text(text) => {
                    self.scanner.iter_mut().for_each(|scanner| scanner.push_into(&text, &mut segments));
                    calls.extend(self.segments(&mut segments));
                }
            }
        }
        self.segments = segments;
        calls
    }

    pub(super) fn segments(&mut self, segments: &mut Vec<Segment>) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        for segment in segments.drain(..) {
            match segment {
                _ if self.is_over => {}
                Segment::Text(text) => self.show(text),
                Segment::Call(parsed) if self.tool_mode == ToolMode::Native => self.held.push(parsed),
                Segment::Call(parsed) => calls.extend(self.accept(String::new(), parsed.name, parsed.arguments)),
                Segment::Malformed(malformed) => self.reject(malformed),
                Segment::Invention => self.end_at_invention(),
            }
        }
        calls
    }

    /// Emits reasoning. After a call it is dropped with the text.
    pub(super) fn think(&self, delta: String) {
        if self.after_call.is_none() {
            self.events.append(Event::Thinking { delta });
        }
    }

    /// Emits text, unless it follows a call or must wait for one.
    pub(super) fn show(&mut self, text: String) {
        if let Some(rest) = &mut self.after_call {
            self.is_over = rest.has_no_use_after(&text);
        } else if let Some(unshown) = &mut self.unshown_text {
            if self.is_draft && !self.calls.is_empty() {
                return;
            }
            unshown.push_str(&text);
            if unshown.len() > if self.is_draft { MAX_DRAFT_BYTES } else { MAX_UNSHOWN_BYTES } {
                self.is_over = true;
                self.end_unshown_text(Finish::Stop);
            }
        } else {
            let delta = self.trimmer.push(text);
            self.emit(delta);
        }
    }

    /// Emits all text before a call. With prompted tools the text after it is dropped.
    pub(super) fn show_text_before_call(&mut self) {
        if self.is_draft {
            self.unshown_text = Some(String::new());
        } else if let Some(unshown) = self.unshown_text.take() {
            let delta = self.trimmer.push(unshown);
            self.emit(delta);
        }
        self.emit_held();
        if self.tool_mode == ToolMode::Prompted {
            self.after_call = Some(AfterCall::default());
        }
    }

    /// Ends a reply in which a required call is missing.
    pub(super) fn end_unshown_text(&mut self, finish: Finish) {
        let Some(unshown) = self.unshown_text.take_if(|_| !self.is_draft) else { return };
        if finish == Finish::ContentFilter {
            self.show(unshown);
        } else if self.correction.is_none() {
            self.correction = Some(Correction::NoCall(unshown));
        }
    }

    /// Ends a reply at a made-up result. Without a call before it the model must call the tool or answer.
    fn end_at_invention(&mut self) {
        self.is_over = true;
        self.emit_held();
        if self.may_correct && self.after_call.is_none() {
            self.correction = Some(Correction::Invention);
        }
    }

    fn reject(&mut self, malformed: Malformed) {
        let is_truncated = malformed.reason == MalformedReason::Truncated;
        if is_truncated || (self.may_correct && self.correction.is_none()) {
            self.show_text_before_call();
            self.correction = Some(Correction::Malformed(malformed));
        } else {
            log_dropped(&malformed);
        }
    }
}

/// Logs that a malformed call is dropped; its text never reaches the log.
pub(super) fn log_dropped(malformed: &Malformed) {
    let (characters, reason) = (malformed.raw.chars().count(), malformed.reason);
    tracing::warn!(characters, %reason, "a call could not be parsed and is dropped");
}
