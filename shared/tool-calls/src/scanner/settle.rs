//! Acts on scan results: shows text, emits calls, hides residue, or holds content until more is known.

use std::ops::Range;

use super::candidate::{Candidate, CandidateKind, Certainty, Verdict};
use super::open_candidate::OpenCandidate;
use super::prose::{self, ProseEvent, ScanContext};
use super::readers::recipient::{Recipient, match_recipient};
use super::readers::turn_end::TurnEnd;
use super::residue::match_residue;
use super::tool_tag::match_tool_tag;
use super::{CallScanner, ScannerState};
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, OPENERS};
use crate::result_block;
use crate::segment::{Malformed, MalformedReason, ParsedCall, ReplyEnd, ResultBlocks, Segment};

/// Minimum length of a partial marker that is hidden when the text ends in it, in bytes.
const MIN_PARTIAL_MARKER_BYTES: usize = 5;

impl CallScanner {
    /// Scans ordinary text; returns false if it needs more text.
    pub(super) fn advance_prose(&mut self, end: Option<ReplyEnd>, segments: &mut Vec<Segment>) -> bool {
        if self.is_first {
            return self.advance_first(end);
        }
        if self.after_call && self.code.fence().is_none() {
            match match_residue(&self.buffer[self.start..], self.unclosed, end.is_some()) {
                Match::Full(role, length) => {
                    self.hide_residue(length, segments);
                    self.unclosed &= matches!(role, Role::FunctionEnd | Role::ParameterEnd);
                    return true;
                }
                Match::Partial => return false,
                Match::None => {}
            }
        }
        let context = ScanContext {
            declared: &self.declared,
            allow_actions: self.allow_actions,
            has_unconfirmed: self.output.has_unconfirmed(),
            no_text_shown: self.output.no_text_shown(),
            after_open_call: self.after_call || self.unclosed,
            bare_from: self.bare_from.saturating_sub(self.start),
            results_from: (self.result_blocks != ResultBlocks::Shown)
                .then(|| self.results_from.saturating_sub(self.start)),
            is_end: end.is_some(),
        };
        let (length, found) = prose::scan_text(&mut self.code, &self.buffer[self.start..], &context);
        self.emit_text(length, segments);
        self.apply_event(found, end, segments)
    }

    /// Reads the recipient with which a reply may begin; returns false if it needs more text.
    fn advance_first(&mut self, end: Option<ReplyEnd>) -> bool {
        match match_recipient(&self.buffer[self.start..], &self.declared) {
            Match::Partial if end.is_none() => return false,
            Match::Full(..) => {
                self.open(OpenCandidate::new(CandidateKind::Action, Recipient, 0).into());
            }
            Match::Partial | Match::None => {}
        }
        self.is_first = false;
        true
    }

    /// Acts on what follows the scanned text; returns false if more text is needed.
    fn apply_event(&mut self, event: ProseEvent, end: Option<ReplyEnd>, segments: &mut Vec<Segment>) -> bool {
        match event {
            ProseEvent::Nothing => return false,
            ProseEvent::ContextChanged => {}
            ProseEvent::ResultBlock(block) => self.open_result_block(block, segments),
            ProseEvent::Closer(role, length) => {
                self.hide_residue(length, segments);
                self.unclosed &= role == Role::FunctionEnd;
            }
            // After a blank prose names the token.
            ProseEvent::TurnEnd(length) if self.recent.ends_with_blank() => self.release_text(length, segments),
            ProseEvent::Fence(ticks, length) => {
                self.code.open_fence(ticks);
                self.hold_unconfirmed(length, segments);
            }
            ProseEvent::FenceEnd(length) => {
                self.code.close_fence();
                self.hold_unconfirmed(length, segments);
            }
            ProseEvent::PartialMarker(length) => self.settle_partial_marker(length, end, segments),
            ProseEvent::TurnEnd(length) => {
                self.open(OpenCandidate::new(CandidateKind::TurnEnd, TurnEnd, length).into());
            }
            ProseEvent::Candidate(open) => self.open(open),
            ProseEvent::Opener(role, length) => {
                let marker = &self.buffer[self.start..self.start + length];
                let mut open = OpenCandidate::from_marker(role, marker, self.unclosed);
                open.candidate.begins_line = self.code.is_line_start() || self.after_call;
                self.open(if self.code.is_in_inline_code() { open.in_inline_code() } else { open }.into());
            }
        }
        true
    }

    fn open(&mut self, mut open: Box<OpenCandidate>) {
        let Range { start, end } = self.without_end;
        open.candidate.without_end = start.saturating_sub(self.start)..end.saturating_sub(self.start);
        self.state = ScannerState::Open(open);
    }

    fn emit_text(&mut self, length: usize, segments: &mut Vec<Segment>) {
        let text = &self.buffer[self.start..self.start + length];
        if self.after_call && !text.trim().is_empty() {
            self.after_call = false;
        }
        self.recent.push(text);
        self.output.push_text(text, segments);
        self.start += length;
    }

    /// Shows text that was held as a possible call.
    pub(super) fn release_text(&mut self, length: usize, segments: &mut Vec<Segment>) {
        self.code.advance_text(&self.buffer[self.start..self.start + length]);
        self.emit_text(length, segments);
    }

    fn hold_unconfirmed(&mut self, length: usize, segments: &mut Vec<Segment>) {
        self.output.push_calls(&self.buffer[self.start..self.start + length], Vec::new(), false, segments);
        self.start += length;
    }

    fn hide_residue(&mut self, length: usize, segments: &mut Vec<Segment>) {
        if self.output.has_unconfirmed() {
            self.hold_unconfirmed(length, segments);
        } else {
            if self.after_call {
                self.output.drop_gap();
            }
            self.start += length;
        }
        self.code.advance_hidden();
    }

    fn settle_partial_marker(&mut self, length: usize, end: Option<ReplyEnd>, segments: &mut Vec<Segment>) {
        let rest = &self.buffer[self.start..self.start + length];
        let is_token = rest.starts_with('<') && rest.contains(['|', '｜', '‖']) || rest.starts_with("]<]");
        let tag = rest.starts_with(['<', '[']) && length >= MIN_PARTIAL_MARKER_BYTES;
        let opener = OPENERS.match_prefix(rest) == Match::Partial;
        let own_tag = match_tool_tag(rest, &self.declared) == Match::Partial;
        let result =
            self.result_blocks != ResultBlocks::Shown && matches!(result_block::match_opening(rest), Match::Partial);
        let may_close = self.after_call || self.unclosed;
        let closer = may_close && CLOSERS.match_prefix(rest) == Match::Partial;
        let is_cut = end == Some(ReplyEnd::Truncated);
        // Prose and code may end in a piece of a tag.
        let begins_call = (self.code.is_line_start() || self.after_call) && self.code.fence().is_none();
        if !opener && !own_tag && (closer || tag && result) || is_token {
            self.hide_residue(length, segments);
        } else if tag && (opener && (is_cut || begins_call) || own_tag && is_cut) {
            let reason = if is_cut { MalformedReason::Truncated } else { MalformedReason::UnknownFormat };
            self.emit_malformed(length, reason, segments);
        } else {
            self.release_text(length, segments);
        }
    }

    pub(super) fn settle(&mut self, candidate: &Candidate, verdict: Verdict, segments: &mut Vec<Segment>) {
        let Range { start, end } = candidate.without_end;
        self.without_end = self.start + start..self.start + end;
        match verdict {
            Verdict::Calls(calls, length) => self.settle_calls(candidate, calls, length, segments),
            Verdict::Unreadable(reason, length) => self.emit_malformed(length, reason, segments),
            Verdict::Residue if self.code.fence().is_none() && !self.code.is_in_inline_code() => {
                self.hide_residue(self.buffer.len() - self.start, segments);
            }
            Verdict::Text | Verdict::Residue | Verdict::NeedMore | Verdict::CheckExample => {
                if candidate.is_bare() {
                    self.bare_from = self.start + candidate.at.max(1);
                }
                // All tokens of a run are text, so that none is read twice.
                let is_run = candidate.kind == CandidateKind::TurnEnd;
                let length = if is_run { candidate.at } else { candidate.marker_len };
                self.release_text(length.max(1), segments);
            }
        }
    }

    fn settle_calls(
        &mut self,
        candidate: &Candidate,
        calls: Vec<ParsedCall>,
        length: usize,
        segments: &mut Vec<Segment>,
    ) {
        let (raw, rest) = self.buffer[self.start..].split_at(length);
        let quoted = self.code.is_in_inline_code() && rest.starts_with('`');
        let fenced = self.code.fence().is_some();
        if quoted || (fenced && !calls.iter().all(|call| self.declared.accepts(&call.name, &call.arguments))) {
            return self.release_text(length, segments);
        }
        let in_list = self.after_call && self.unclosed;
        if in_list {
            self.output.drop_gap();
        }
        self.unclosed = in_list || (!candidate.is_bare() && (candidate.nested > 0 || !ends_closed(raw)));
        self.after_call = true;
        self.code.advance_hidden();
        let is_certain = candidate.kind != CandidateKind::Json || candidate.certainty == Certainty::Certain;
        let confirmed = is_certain && !fenced;
        self.output.push_calls(raw, calls, confirmed, segments);
        if let Some((reason, at)) = candidate.fault.as_ref().filter(|_| confirmed) {
            let raw = raw.get(at.clone()).unwrap_or_default().to_owned();
            self.output.push_malformed(Malformed { raw, reason: *reason }, segments);
        }
        self.start += length;
    }

    pub(super) fn emit_malformed(&mut self, length: usize, reason: MalformedReason, segments: &mut Vec<Segment>) {
        let quoted =
            self.code.is_in_inline_code() || (self.code.fence().is_some() && reason != MalformedReason::Truncated);
        if quoted {
            return self.release_text(length, segments);
        }
        let raw = &self.buffer[self.start..self.start + length];
        let hides_results = self.result_blocks != ResultBlocks::Shown;
        let length = hides_results.then(|| result_block::find_opening(raw)).flatten().unwrap_or(length);
        let raw = raw[..length].to_owned();
        self.unclosed = !ends_closed(&raw);
        self.after_call = true;
        self.code.advance_hidden();
        self.output.push_malformed(Malformed { raw, reason }, segments);
        self.start += length;
    }
}

/// Whether a call's text includes the end of its wrapper.
fn ends_closed(raw: &str) -> bool {
    let Some(at) = raw.rfind(['<', '[']) else { return false };
    matches!(CLOSERS.match_prefix(&raw[at..]), Match::Full(Role::Close | Role::TurnEnd, length) if length == raw.len() - at)
}
