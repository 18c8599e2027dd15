//! Acts on scan results: shows text, emits calls, hides residue, or holds content until more is known.

use super::candidate::{Candidate, Kind, Stage, Verdict};
use super::prose::{self, Around, Found};
use super::{CallScanner, State};
use crate::markers::{CLOSERS, Look, OPENERS, Role};
use crate::piece::{Defect, End, Malformed, ParsedCall, Piece};

/// Minimum length of a partial marker that is hidden when the text ends in it, in bytes.
const MIN_HALF: usize = 6;

impl CallScanner {
    /// Scans ordinary text; returns false if it needs more text.
    pub(super) fn prose(&mut self, end: Option<End>, pieces: &mut Vec<Piece>) -> bool {
        let around = Around {
            tools: !self.declared.is_empty(),
            actions: self.actions,
            waiting: self.output.waiting(),
            fresh: self.output.fresh(),
            residue: self.behind_call || self.unclosed,
            bare_from: self.bare_from.saturating_sub(self.start),
            ended: end.is_some(),
        };
        let (length, found) = prose::scan(&mut self.code, &self.buffer[self.start..], around);
        self.show(length, pieces);
        match found {
            Found::Nothing => return false,
            Found::Text => {}
            Found::Opener(role, length) => {
                let marker = &self.buffer[self.start..self.start + length];
                let candidate = Candidate::opened(role, marker, self.unclosed);
                self.open(if self.code.in_line() { candidate.in_code() } else { candidate });
            }
            Found::Functools(length) => {
                let marker = &self.buffer[self.start..self.start + length];
                self.open(Candidate::opened(Role::Wrapper, marker, false));
            }
            Found::Bracket => {
                let list = self.output.fresh() && self.buffer[self.start..].starts_with('[');
                self.open(Candidate::new(if list { Kind::List } else { Kind::Json }, Stage::Payload, 0));
            }
            Found::Action(length) => self.open(Candidate::new(Kind::Action, Stage::Action, length)),
            Found::Closer(role, length) => {
                self.residue(length, pieces);
                self.unclosed &= role != Role::Close;
            }
            Found::Fence(ticks, length) => {
                self.code.enter_fence(ticks);
                self.unconfirmed(length, Vec::new(), pieces);
            }
            Found::FenceEnd(length) => {
                self.code.leave_fence();
                self.unconfirmed(length, Vec::new(), pieces);
            }
            Found::Half(length) => self.half(length, end, pieces),
        }
        true
    }

    fn open(&mut self, candidate: Candidate) {
        self.state = State::Open(Box::new(candidate));
    }

    /// Shows scanned text.
    fn show(&mut self, length: usize, pieces: &mut Vec<Piece>) {
        let text = &self.buffer[self.start..self.start + length];
        if !text.trim().is_empty() {
            self.behind_call = false;
        }
        self.output.text(text, pieces);
        self.start += length;
    }

    /// Shows text that was held as a possible call.
    fn release(&mut self, length: usize, pieces: &mut Vec<Piece>) {
        self.code.pass_text(&self.buffer[self.start..self.start + length]);
        self.show(length, pieces);
    }

    fn unconfirmed(&mut self, length: usize, calls: Vec<ParsedCall>, pieces: &mut Vec<Piece>) {
        self.output.unconfirmed(&self.buffer[self.start..self.start + length], calls, pieces);
        self.start += length;
    }

    /// Hides the remains of a call.
    fn residue(&mut self, length: usize, pieces: &mut Vec<Piece>) {
        if self.output.waiting() {
            self.output.unconfirmed(&self.buffer[self.start..self.start + length], Vec::new(), pieces);
        } else if self.behind_call {
            self.output.drop_gap();
        }
        self.start += length;
        self.code.pass_hidden();
    }

    /// Handles a partial marker at the end of the text.
    fn half(&mut self, length: usize, end: Option<End>, pieces: &mut Vec<Piece>) {
        let rest = &self.buffer[self.start..self.start + length];
        let tag = rest.starts_with(['<', '[']) && length >= MIN_HALF;
        let opener = OPENERS.look(rest) == Look::Short;
        if !opener && CLOSERS.look(rest) == Look::Short || tag && rest.contains(['|', '｜', '‖']) {
            self.residue(length, pieces);
        } else if tag && opener && end == Some(End::Cut) {
            self.malformed(length, Defect::Cut, pieces);
        } else {
            self.release(length, pieces);
        }
    }

    /// Applies the verdict to a candidate.
    pub(super) fn settle(&mut self, candidate: &Candidate, verdict: Verdict, pieces: &mut Vec<Piece>) {
        match verdict {
            Verdict::Calls(calls, length) => self.calls(candidate, calls, length, pieces),
            Verdict::Unreadable(reason, length) => self.malformed(length, Defect::Unreadable(reason), pieces),
            Verdict::Residue if self.code.fence().is_none() => self.residue(self.buffer.len() - self.start, pieces),
            Verdict::Text | Verdict::Residue | Verdict::More => {
                if candidate.bare() {
                    self.bare_from = self.start + candidate.at.max(1);
                }
                self.release(candidate.marker.max(1), pieces);
            }
        }
    }

    fn calls(&mut self, candidate: &Candidate, calls: Vec<ParsedCall>, length: usize, pieces: &mut Vec<Piece>) {
        let (raw, rest) = self.buffer[self.start..].split_at(length);
        let quoted = self.code.in_line() && rest.starts_with('`');
        let fenced = self.code.fence().is_some();
        if quoted || (fenced && !calls.iter().all(|call| self.declared.accepts(&call.name, &call.arguments))) {
            return self.release(length, pieces);
        }
        let in_list = self.behind_call && self.unclosed;
        if in_list {
            self.output.drop_gap();
        }
        self.unclosed = in_list || (!candidate.bare() && (candidate.nested > 0 || !ends_closed(raw)));
        self.behind_call = true;
        self.code.pass_hidden();
        if fenced || candidate.kind == Kind::Json {
            self.output.unconfirmed(raw, calls, pieces);
        } else {
            self.output.calls(raw, calls, pieces);
        }
        self.start += length;
    }

    /// Emits a malformed call.
    pub(super) fn malformed(&mut self, length: usize, defect: Defect, pieces: &mut Vec<Piece>) {
        let quoted = self.code.in_line() || (self.code.fence().is_some() && defect != Defect::Cut);
        if quoted {
            return self.release(length, pieces);
        }
        let raw = self.buffer[self.start..self.start + length].to_owned();
        self.unclosed = !ends_closed(&raw);
        self.behind_call = true;
        self.code.pass_hidden();
        self.output.malformed(Malformed { raw, defect }, pieces);
        self.start += length;
    }
}

/// Whether a call's text includes the end of its wrapper.
fn ends_closed(raw: &str) -> bool {
    let Some(at) = raw.rfind(['<', '[']) else { return false };
    CLOSERS.look(&raw[at..]) == Look::Is(Role::Close, raw.len() - at)
}
