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
use crate::result_block::{self, ResultBlock};
use crate::segment::{Malformed, MalformedReason, ParsedCall, ReplyEnd, ResultBlocks, Segment};

/// Minimum length of a partial marker that is hidden when the text ends in it, in bytes.
const MIN_PARTIAL_MARKER_BYTES: usize = 5;

/// Maximum size of a block that does not begin its line, in bytes; without an end tag by then it is text.
const MAX_INLINE_BLOCK_BYTES: usize = 4096;

impl CallScanner {
    /// Scans ordinary text; returns false if it needs more text.
    pub(super) fn advance_prose(&mut self, end: Option<ReplyEnd>) -> bool {
        if self.is_first {
            return self.advance_first(end);
        }
        if self.after_call && self.code.fence().is_none() {
            match match_residue(&self.buffer[self.start..], self.unclosed, end.is_some()) {
                Match::Full(role, length) => {
                    self.hide_residue(length);
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
            no_text_shown: !self.output.text_shown,
            after_open_call: self.after_call || self.unclosed,
            bare_from: self.bare_from.saturating_sub(self.start),
            results_from: (self.result_blocks != ResultBlocks::Shown)
                .then(|| self.results_from.saturating_sub(self.start)),
            is_end: end.is_some(),
        };
        let (length, found) = prose::scan_text(&mut self.code, &self.buffer[self.start..], &context);
        self.emit_text(length);
        self.apply_event(found, end)
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
    fn apply_event(&mut self, event: ProseEvent, end: Option<ReplyEnd>) -> bool {
        match event {
            ProseEvent::Nothing => return false,
            ProseEvent::ContextChanged => {}
            ProseEvent::ResultBlock(block) => self.open_result_block(block),
            ProseEvent::Closer(role, length) => {
                self.hide_residue(length);
                self.unclosed &= role == Role::FunctionEnd;
            }
            // After a blank prose names the token.
            ProseEvent::TurnEnd(length) if self.recent.ends_with_blank() => self.release_text(length),
            ProseEvent::Fence(ticks, length) => {
                self.code.open_fence(ticks);
                self.hold_unconfirmed(length);
            }
            ProseEvent::FenceEnd(length) => {
                self.code.close_fence();
                self.hold_unconfirmed(length);
            }
            ProseEvent::PartialMarker(length) => self.settle_partial_marker(length, end),
            ProseEvent::TurnEnd(length) => {
                self.open(OpenCandidate::new(CandidateKind::TurnEnd, TurnEnd, length).into());
            }
            ProseEvent::Candidate(open) => self.open(open),
            ProseEvent::Opener(role, length) => {
                let marker = &self.buffer[self.start..self.start + length];
                let mut open = OpenCandidate::from_marker(role, marker, self.unclosed);
                open.candidate.begins_line = self.code.is_line_start || self.after_call;
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

    fn emit_text(&mut self, length: usize) {
        let text = &self.buffer[self.start..self.start + length];
        if self.after_call && !text.trim().is_empty() {
            self.after_call = false;
        }
        self.recent.push(text);
        self.output.push_text(text);
        self.start += length;
    }

    pub(super) fn release_text(&mut self, length: usize) {
        self.code.advance_text(&self.buffer[self.start..self.start + length]);
        self.emit_text(length);
    }

    fn hold_unconfirmed(&mut self, length: usize) {
        self.output.push_calls(&self.buffer[self.start..self.start + length], Vec::new(), false);
        self.start += length;
    }

    fn hide_residue(&mut self, length: usize) {
        if self.output.has_unconfirmed() {
            self.hold_unconfirmed(length);
        } else {
            if self.after_call {
                self.output.drop_gap();
            }
            self.start += length;
        }
        self.code.advance_hidden();
    }

    fn settle_partial_marker(&mut self, length: usize, end: Option<ReplyEnd>) {
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
        let begins_call = (self.code.is_line_start || self.after_call) && self.code.fence().is_none();
        if !opener && !own_tag && (closer || tag && result) || is_token {
            self.hide_residue(length);
        } else if tag && (opener && (is_cut || begins_call) || own_tag && is_cut) {
            let reason = if is_cut { MalformedReason::Truncated } else { MalformedReason::UnknownFormat };
            self.emit_malformed(length, reason);
        } else {
            self.release_text(length);
        }
    }

    pub(super) fn settle(&mut self, candidate: &Candidate, verdict: Verdict) {
        let Range { start, end } = candidate.without_end;
        self.without_end = self.start + start..self.start + end;
        match verdict {
            Verdict::Calls(calls, length) => self.settle_calls(candidate, calls, length),
            Verdict::Unreadable(reason, length) => self.emit_malformed(length, reason),
            Verdict::Residue if self.code.fence().is_none() && !self.code.is_in_inline_code() => {
                self.hide_residue(self.buffer.len() - self.start);
            }
            Verdict::Text | Verdict::Residue | Verdict::NeedMore => {
                if candidate.is_bare() {
                    self.bare_from = self.start + candidate.at.max(1);
                }
                // All tokens of a run are text, so that none is read twice.
                let is_run = candidate.kind == CandidateKind::TurnEnd;
                let length = if is_run { candidate.at } else { candidate.marker_len };
                self.release_text(length.max(1));
            }
        }
    }

    fn settle_calls(&mut self, candidate: &Candidate, calls: Vec<ParsedCall>, length: usize) {
        let (raw, rest) = self.buffer[self.start..].split_at(length);
        let quoted = self.code.is_in_inline_code() && rest.starts_with('`');
        let fenced = self.code.fence().is_some();
        if quoted || (fenced && !calls.iter().all(|call| self.declared.accepts(&call.name, &call.arguments))) {
            return self.release_text(length);
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
        self.output.push_calls(raw, calls, confirmed);
        if let Some((reason, at)) = candidate.fault.as_ref().filter(|_| confirmed) {
            let raw = raw.get(at.clone()).unwrap_or_default().to_owned();
            self.output.push_malformed(Malformed { raw, reason: *reason });
        }
        self.start += length;
    }

    pub(super) fn emit_malformed(&mut self, length: usize, reason: MalformedReason) {
        let quoted =
            self.code.is_in_inline_code() || (self.code.fence().is_some() && reason != MalformedReason::Truncated);
        if quoted {
            return self.release_text(length);
        }
        let raw = &self.buffer[self.start..self.start + length];
        let hides_results = self.result_blocks != ResultBlocks::Shown;
        let length = hides_results.then(|| result_block::find_opening(raw)).flatten().unwrap_or(length);
        let raw = raw[..length].to_owned();
        self.unclosed = !ends_closed(&raw);
        self.after_call = true;
        self.code.advance_hidden();
        self.output.push_malformed(Malformed { raw, reason });
        self.start += length;
    }

    fn open_result_block(&mut self, block: ResultBlock) {
        if self.result_blocks == ResultBlocks::EndReply {
            // Calls that waited for the following text were meant: a result follows them.
            self.output.finish();
            self.output.segments.push(Segment::Invention);
            self.state = ScannerState::Ended;
            return;
        }
        let begins_line = self.code.is_line_start || self.after_call;
        self.state = ScannerState::InResult { block, begins_line };
    }

    /// Hides a block up to its end tag; returns false if it needs more text.
    pub(super) fn advance_result_block(&mut self, mut block: ResultBlock, begins_line: bool, is_end: bool) -> bool {
        let text = &self.buffer[self.start..];
        let window = if begins_line { text.len() } else { text.floor_char_boundary(MAX_INLINE_BLOCK_BYTES) };
        if let Some(end) = block.find_end(&text[..window]) {
            self.start += end;
            self.code.advance_hidden();
            return true;
        }
        if !begins_line && (window < text.len() || is_end) {
            self.results_from = self.start + window;
            self.release_text(1);
            return true;
        }
        if begins_line {
            self.start += std::mem::take(&mut block.search);
        }
        if is_end {
            self.start = self.buffer.len();
            return true;
        }
        self.state = ScannerState::InResult { block, begins_line };
        false
    }
}

/// Whether a call's text includes the end of its wrapper.
fn ends_closed(raw: &str) -> bool {
    let Some(at) = raw.rfind(['<', '[']) else { return false };
    matches!(CLOSERS.match_prefix(&raw[at..]), Match::Full(Role::Close | Role::TurnEnd, length) if length == raw.len() - at)
}
