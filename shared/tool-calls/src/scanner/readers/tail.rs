//! Reads the text after the JSON of a call, up to the end of its wrapper.

use std::ops::ControlFlow::{self, Break, Continue};

use super::body::{Body, BodyState};
use super::json_text::has_json_signs;
use crate::declared_tools::DeclaredTools;
use crate::markers::{CLOSERS, Match};
use crate::scanner::candidate::{Candidate, Certainty, Step, Verdict};
use crate::scanner::fence::TICKS;
use crate::scanner::name::name_len;
use crate::segment::{JsonFault, MalformedReason};

/// Maximum distance to search for the end of a wrapper with unreadable content, in bytes.
const MAX_SEARCH_BYTES: usize = 4096;

enum TailKind {
    /// The wrapper's end, which ends before this position.
    Close(usize),
    /// Another value begins at this position.
    Value(usize),
    /// Residue up to this position; scan again there.
    Residue(usize),
    Other,
}

impl Body {
    pub(super) fn read_tail(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        if let Some((name, at)) = self.match_next_python(candidate, text, declared).or_wait(Verdict::NeedMore)? {
            candidate.name = Some(name.to_owned());
            candidate.at = at;
            return Continue(self.python.map(|begin| begin(at)));
        }
        match self.classify_tail(candidate, text)? {
            TailKind::Close(end) => Break(Verdict::Calls(std::mem::take(&mut candidate.calls), end)),
            TailKind::Value(at) => candidate.read_with(at, Self::json(at, false, false)),
            TailKind::Residue(at) => {
                candidate.at = at;
                Continue(None)
            }
            TailKind::Other => Break(candidate.take_possible_calls(candidate.at)),
        }
    }

    /// Matches the name of another call written as Python, in the same wrapper: the match ends before its arguments.
    fn match_next_python<'a>(
        &self,
        candidate: &mut Candidate,
        text: &'a str,
        declared: &DeclaredTools,
    ) -> Match<&'a str> {
        if self.python.is_none() || candidate.is_bare() {
            return Match::None;
        }
        let at = candidate.space.end(text, candidate.at);
        let (name, after) = text[at..].split_at(name_len(&text[at..]));
        match after.chars().next() {
            None if declared.has_prefix(name) => Match::Partial,
            Some('(') if declared.has(name) => Match::Full(name, at + name.len()),
            _ => Match::None,
        }
    }

    fn classify_tail(&mut self, candidate: &mut Candidate, text: &str) -> ControlFlow<Verdict, TailKind> {
        let explicit = !candidate.is_bare();
        let at = candidate.space.end(text, candidate.at);
        let rest = &text[at..];
        let wait = Break(Verdict::NeedMore);
        Continue(match rest.chars().next() {
            None => return wait,
            Some('}' | ']') if explicit => TailKind::Residue(at + 1),
            Some('`') if self.fenced && rest.starts_with(TICKS) => {
                self.fenced = false;
                TailKind::Residue(at + TICKS.len())
            }
            Some('`') if self.fenced && TICKS.starts_with(rest) => return wait,
            Some('{') if explicit => TailKind::Value(at),
            Some(',' | ';') => match text[candidate.space.end(text, at + 1)..].chars().next() {
                None => return wait,
                Some('{') => TailKind::Value(at + 1),
                Some(_) => TailKind::Other,
            },
            Some('<' | '[') if explicit => {
                let close = CLOSERS.match_prefix(rest).or_wait(Verdict::NeedMore)?;
                close.map_or(TailKind::Other, |(_, length)| TailKind::Close(at + length))
            }
            Some(_) => TailKind::Other,
        })
    }

    /// Reads after JSON that needs repair: the wrapper's end decides what belongs to the JSON.
    pub(super) fn read_broken_tail(
        &mut self,
        candidate: &mut Candidate,
        text: &str,
        end: usize,
        declared: &DeclaredTools,
    ) -> Step {
        if let TailKind::Residue(at) = self.classify_tail(candidate, text)? {
            candidate.at = at;
            return Continue(None);
        }
        let whole = &text[self.from..candidate.at];
        match self
            .repair_and_accept(&text[self.from..end], candidate, declared)
            .or_else(|_| self.repair_and_accept(whole, candidate, declared))
        {
            Ok(()) => self.set_state(BodyState::Tail),
            Err(reason) if candidate.calls.is_empty() && has_json_signs(whole) => {
                self.mark_unreadable(candidate, reason, true)
            }
            Err(reason) => self.reject(candidate, text, reason),
        }
    }

    pub(super) fn read_unreadable_tail(
        &mut self,
        candidate: &mut Candidate,
        text: &str,
        reason: MalformedReason,
    ) -> Step {
        let end = match self.classify_tail(candidate, text)? {
            TailKind::Residue(at) => {
                candidate.at = at;
                return Continue(None);
            }
            TailKind::Close(end) => end,
            TailKind::Value(_) | TailKind::Other => candidate.at,
        };
        Break(take_unreadable(candidate, reason, end))
    }

    pub(super) fn finish_body(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Verdict {
        let (at, bare, has_calls) = (candidate.at, candidate.is_bare(), !candidate.calls.is_empty());
        let is_prose = !candidate.begins_line && !has_json_signs(&text[self.from..]);
        let incomplete = MalformedReason::NotJson(JsonFault::Incomplete);
        match &self.state {
            BodyState::Tail => {
                if candidate.certainty == Certainty::Exact {
                    candidate.certainty = Certainty::Certain;
                }
                candidate.take_possible_calls(at)
            }
            _ if has_calls && bare => candidate.take_possible_calls(candidate.calls_end),
            BodyState::Broken { end } => match self.repair_and_accept(&text[self.from..*end], candidate, declared) {
                Ok(()) => candidate.take_possible_calls(candidate.at),
                Err(_) if has_calls => self.finish_after_calls(candidate, text),
                Err(reason) => Verdict::Unreadable(reason, text.len()),
            },
            _ if has_calls => self.finish_after_calls(candidate, text),
            BodyState::Json(_) if bare || is_prose => Verdict::Text,
            BodyState::Json(scan) if scan.is_in_string() => {
                let end = end_of_wrapper(text, self.from);
                Verdict::Unreadable(MalformedReason::NotJson(JsonFault::OpenString), end)
            }
            BodyState::Json(_) => Verdict::Unreadable(incomplete, text.len()),
            BodyState::Unreadable { reason, .. } => take_unreadable(candidate, *reason, at),
        }
    }

    /// Searches unreadable content for the wrapper's end, within [`MAX_SEARCH_BYTES`].
    pub(super) fn search_wrapper_end(&self, candidate: &mut Candidate, text: &str) -> Step {
        let BodyState::Unreadable { reason, .. } = self.state else { return Continue(None) };
        let (at, known) = (candidate.at, &mut candidate.without_end);
        let limit = text.floor_char_boundary(at.saturating_add(MAX_SEARCH_BYTES));
        // What an earlier candidate searched in vain is not searched again: otherwise each short one costs this many bytes.
        if !(known.start..=known.end).contains(&at) {
            *known = at..at;
        }
        let end = match CLOSERS.find(&text[..limit], known.end.min(limit)) {
            Ok((_, _, end)) => end,
            Err(next) => {
                known.end = known.end.max(next);
                if limit == text.len() {
                    return Break(Verdict::NeedMore);
                }
                at
            }
        };
        Break(take_unreadable(candidate, reason, end))
    }

    /// Ends the text in an unfinished call of a wrapper that has other calls: only the unfinished one is lost.
    fn finish_after_calls(&self, candidate: &mut Candidate, text: &str) -> Verdict {
        if !has_json_signs(&text[self.from..]) {
            return candidate.take_possible_calls(candidate.calls_end);
        }
        let end = end_of_wrapper(text, self.from);
        candidate.record_fault(MalformedReason::NotJson(JsonFault::Incomplete), self.from..end);
        candidate.take_possible_calls(end)
    }
}

fn take_unreadable(candidate: &mut Candidate, reason: MalformedReason, end: usize) -> Verdict {
    let Some((_, at)) = candidate.fault.as_mut().filter(|_| !candidate.calls.is_empty()) else {
        return Verdict::Unreadable(reason, end);
    };
    at.end = end;
    candidate.take_possible_calls(end)
}

/// The end of the first end marker after `from`, or of the text.
fn end_of_wrapper(text: &str, from: usize) -> usize {
    CLOSERS.find(text, from).map_or(text.len(), |(_, _, end)| end)
}
