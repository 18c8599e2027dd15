//! The text of a reply: what of it is shown, called or dropped.

use domain::{AnswerDelta, Event, ToolCall};
use llm::ToolMode;
use tool_calls::{Malformed, MalformedReason, ReplyPart, Segment};

use super::ReplyState;
use super::after_call::AfterCall;
use crate::round::Correction;

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
                ReplyPart::Thinking(delta) => {
                    self.show_possible_reasoning();
                    self.think(delta);
                }
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
                Segment::Invention => {
                    for parsed in std::mem::take(&mut self.held) {
                        calls.extend(self.accept(String::new(), parsed.name, parsed.arguments));
                    }
                    self.end_at_invention();
                }
            }
        }
        calls
    }

    /// Emits reasoning. After a call it is dropped with the text.
    pub(super) fn think(&self, delta: String) {
        if self.after_call.is_none() {
            self.events.append(Event::Delta(AnswerDelta::Thinking(delta)));
        }
    }

    /// Emits text, unless it follows a call or must wait for one.
    pub(super) fn show(&mut self, text: String) {
        if let Some(rest) = &mut self.after_call {
            self.is_over = rest.has_no_use_after(&text);
        } else if self.unshown.is_some() {
            self.hold(&text);
        } else if let Some(detector) = &mut self.detector {
            let (text, invention) = detector.push(&text);
            self.show_up_to_invention(text, invention);
        } else {
            let delta = self.trimmer.push(text);
            self.emit(delta);
        }
    }

    /// Emits all text before a call. With prompted tools the text after it is dropped.
    pub(super) fn show_text_before_call(&mut self) {
        self.show_unshown_before_call();
        self.emit_held();
        if self.tool_mode == ToolMode::Prompted {
            self.after_call = Some(AfterCall::default());
        }
    }

    /// Ends a reply at a made-up result. Without a call before it the model must call the tool or answer.
    fn end_at_invention(&mut self) {
        self.is_over = true;
        self.show_possible_reasoning();
        self.emit_held();
        if self.may_correct(&Correction::Invention) && self.after_call.is_none() && self.calls.is_empty() {
            self.correction = Some(Correction::Invention);
        }
    }

    fn reject(&mut self, malformed: Malformed) {
        let is_truncated = malformed.reason == MalformedReason::Truncated;
        let correction = Correction::Malformed(malformed);
        if is_truncated || (self.may_correct(&correction) && self.correction.is_none()) {
            self.show_text_before_call();
            self.correction = Some(correction);
        } else {
            log_dropped(&correction);
            if !self.tools_on {
                self.correction.get_or_insert(Correction::ToolsOff);
            }
        }
    }
}

/// Logs that a malformed call is dropped; its text never reaches the log.
pub(super) fn log_dropped(correction: &Correction) {
    if let Correction::Malformed(malformed) = correction {
        let (characters, reason) = (malformed.raw.chars().count(), malformed.reason);
        tracing::warn!(characters, %reason, "a call could not be parsed and is dropped");
    }
}
