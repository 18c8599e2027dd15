//! Reads the text after the JSON of a call, up to the end of its wrapper.

use std::ops::ControlFlow::{Break, Continue};

use super::body::{Body, BodyState};
use super::candidate::{Candidate, CandidateKind, CandidateStage, Certainty, Step, Verdict};
use super::fence::TICKS;
use super::name::is_name;
use crate::declared_tools::DeclaredTools;
use crate::markers::{CLOSERS, Markers, Match, OPENERS};
use crate::segment::{JsonFault, MalformedReason};

/// Maximum distance to search for the end of a wrapper with unreadable content, in bytes.
const MAX_SEARCH_BYTES: usize = 4096;

/// The kind of text after a JSON value.
enum TailKind {
    /// The wrapper's end, which ends before this position.
    Close(usize),
    /// Another value begins at this position.
    Value(usize),
    /// Residue up to this position; scan again there.
    Residue(usize),
    /// More text is needed to decide.
    NeedMore,
    /// Nothing that belongs to the call.
    Other,
}

/// Punctuation that may end the line of a call.
const CLOSING_PUNCTUATION: [char; 5] = ['。', '．', '.', '！', '!'];
/// Maximum length of what may follow a call in its line, in bytes.
const MAX_LINE_END_BYTES: usize = 32;

/// Matches blanks and one closing punctuation mark up to the end of a line, which ends before the line break.
fn match_line_end(text: &str) -> Match<()> {
    let blank = [' ', '\t', '\r'];
    let rest = text.trim_start_matches(blank).strip_prefix(CLOSING_PUNCTUATION).unwrap_or(text);
    let end = text.len() - rest.len();
    match rest.trim_start_matches(blank).chars().next() {
        _ if end > MAX_LINE_END_BYTES => Match::None,
        Some('\n') => Match::Full((), end),
        Some(_) => Match::None,
        None => Match::Partial,
    }
}

/// Where a call ends that another one follows, in the text of one that seemed to contain both: before its end marker, or
/// before the control token that opens the next one.
pub(super) fn end_before_next_call(text: &str) -> Option<usize> {
    let closer = CLOSERS.find(text, 0).ok().and_then(|(at, _, end)| {
        let rest = text[end..].trim_start();
        let follows = |markers: Markers| matches!(markers.match_prefix(rest), Match::Full(..));
        (follows(OPENERS) || follows(CLOSERS)).then_some(at)
    });
    let opener =
        OPENERS.find(text, 0).ok().and_then(|(at, _, end)| text[at..end].contains(['|', '｜', ']']).then_some(at));
    closer.into_iter().chain(opener).min()
}

impl Candidate {
    /// Reads after complete JSON.
    pub(super) fn read_tail(&mut self, text: &str, declared: &DeclaredTools) -> Step {
        match self.match_next_python(text, declared) {
            Match::Full(name, at) => {
                self.name = Some(name);
                return self.begin_python(at);
            }
            Match::Partial => return Break(Verdict::NeedMore),
            Match::None => {}
        }
        match self.classify_tail(text) {
            TailKind::Close(end) => Break(Verdict::Calls(std::mem::take(&mut self.calls), end)),
            TailKind::Value(at) => {
                self.at = at;
                self.stage = CandidateStage::Body(Body::json(at, false, false));
                Continue(())
            }
            TailKind::Residue(at) => {
                self.at = at;
                Continue(())
            }
            TailKind::NeedMore => Break(Verdict::NeedMore),
            TailKind::Other if self.certainty == Certainty::Unchecked && self.is_bare() => Break(Verdict::CheckExample),
            TailKind::Other if self.certainty == Certainty::Exact && self.is_bare() => self.read_line_end(text),
            TailKind::Other => Break(self.take_possible_calls(self.at)),
        }
    }

    /// Matches the name of another call written as Python, in the same wrapper: the match ends before its arguments.
    fn match_next_python(&mut self, text: &str, declared: &DeclaredTools) -> Match<String> {
        let CandidateStage::Body(Body { python: true, .. }) = &self.stage else { return Match::None };
        if self.is_bare() {
            return Match::None;
        }
        let at = self.space.end(text, self.at);
        let rest = &text[at..];
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        match rest[name.len()..].chars().next() {
            None if declared.has_prefix(name) => Match::Partial,
            Some('(') if declared.has(name) => Match::Full(name.to_owned(), at + name.len()),
            _ => Match::None,
        }
    }

    /// Reads up to the end of the line after JSON that fits its tool exactly: it makes the calls certain.
    fn read_line_end(&mut self, text: &str) -> Step {
        match match_line_end(&text[self.at..]) {
            Match::Full((), length) => {
                self.certainty = Certainty::Certain;
                Break(self.take_possible_calls(self.at + length))
            }
            Match::Partial => Break(Verdict::NeedMore),
            Match::None => Break(self.take_possible_calls(self.at)),
        }
    }

    /// The calls up to `end`. Those in the middle of a line must be certain.
    pub(super) fn take_possible_calls(&mut self, end: usize) -> Verdict {
        if self.kind == CandidateKind::InlineJson && self.certainty != Certainty::Certain {
            return Verdict::Text;
        }
        Verdict::Calls(std::mem::take(&mut self.calls), end)
    }

    /// Ends the text after complete JSON.
    fn finish_tail(&mut self, text: &str) -> Verdict {
        let rest = &text[self.at..];
        let ends_line = self.is_bare() && match_line_end(rest) != Match::None;
        if !ends_line || self.certainty != Certainty::Exact {
            return self.take_possible_calls(self.at);
        }
        self.certainty = Certainty::Certain;
        let closing = rest.trim_end().len();
        self.take_possible_calls(self.at + closing)
    }

    fn classify_tail(&mut self, text: &str) -> TailKind {
        let explicit = !self.is_bare();
        let CandidateStage::Body(Body { fenced, .. }) = &mut self.stage else { return TailKind::Other };
        let at = self.space.end(text, self.at);
        let rest = &text[at..];
        match rest.chars().next() {
            None => TailKind::NeedMore,
            Some('}' | ']') if explicit => TailKind::Residue(at + 1),
            Some('`') if *fenced && rest.starts_with(TICKS) => {
                *fenced = false;
                TailKind::Residue(at + TICKS.len())
            }
            Some('`') if *fenced && TICKS.starts_with(rest) => TailKind::NeedMore,
            Some('{') if explicit => TailKind::Value(at),
            Some(',' | ';') => match text[self.space.end(text, at + 1)..].chars().next() {
                None => TailKind::NeedMore,
                Some('{') => TailKind::Value(at + 1),
                Some(_) => TailKind::Other,
            },
            Some('<' | '[') if explicit => match CLOSERS.match_prefix(rest) {
                Match::Full(_, length) => TailKind::Close(at + length),
                Match::Partial => TailKind::NeedMore,
                Match::None => TailKind::Other,
            },
            Some(_) => TailKind::Other,
        }
    }

    /// Reads after JSON that needs repair: the wrapper's end decides what belongs to the JSON.
    pub(super) fn read_broken_tail(&mut self, text: &str, end: usize, declared: &DeclaredTools) -> Step {
        match self.classify_tail(text) {
            TailKind::NeedMore => return Break(Verdict::NeedMore),
            TailKind::Residue(at) => {
                self.at = at;
                return Continue(());
            }
            TailKind::Close(_) | TailKind::Value(_) | TailKind::Other => {}
        }
        let (from, whole) = (self.json_start(), self.at);
        match self
            .repair_and_accept(&text[from..end], declared)
            .or_else(|_| self.repair_and_accept(&text[from..whole], declared))
        {
            Ok(()) => self.set_state(BodyState::Tail),
            Err(reason) if self.calls.is_empty() && has_json_signs(&text[from..whole]) => {
                self.mark_unreadable(reason, true)
            }
            Err(reason) => self.reject(text, reason),
        }
    }

    /// Reads directly after unreadable content.
    pub(super) fn read_unreadable_tail(&mut self, text: &str) -> Step {
        let end = match self.classify_tail(text) {
            TailKind::NeedMore => return Break(Verdict::NeedMore),
            TailKind::Residue(at) => {
                self.at = at;
                return Continue(());
            }
            TailKind::Close(end) => end,
            TailKind::Value(_) | TailKind::Other => self.at,
        };
        Break(self.take_unreadable(end))
    }

    /// Searches unreadable content for the wrapper's end, within [`MAX_SEARCH_BYTES`].
    pub(super) fn search_wrapper_end(&mut self, text: &str) -> Step {
        let CandidateStage::Body(Body { state: BodyState::Unreadable { search: Some(search), .. }, .. }) =
            &mut self.stage
        else {
            return Continue(());
        };
        let limit = text.floor_char_boundary(self.at.saturating_add(MAX_SEARCH_BYTES));
        let first = (*search).max(self.at);
        let known = &mut self.without_end;
        // What an earlier candidate searched in vain is not searched again: otherwise each short one costs this many bytes.
        let (begin, from) = if known.contains(&first) { (known.start, known.end.min(limit)) } else { (first, first) };
        let end = match CLOSERS.find(&text[..limit], from) {
            Ok((_, _, end)) => end,
            Err(next) if limit < text.len() => {
                *known = begin..next;
                self.at
            }
            Err(next) => {
                *search = next;
                return Break(Verdict::NeedMore);
            }
        };
        Break(self.take_unreadable(end))
    }

    fn take_unreadable(&mut self, end: usize) -> Verdict {
        if let Some((_, at)) = self.fault.as_mut().filter(|_| !self.calls.is_empty()) {
            at.end = end;
            return self.take_possible_calls(end);
        }
        match &mut self.stage {
            CandidateStage::Body(Body { state: BodyState::Unreadable { reason, .. }, .. }) => {
                Verdict::Unreadable(*reason, end)
            }
            _ => Verdict::Text,
        }
    }

    /// Ends the text in an unfinished call of a wrapper that has other calls: only the unfinished one is lost.
    fn finish_after_calls(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        let from = self.json_start();
        if let CandidateStage::Body(Body { state: BodyState::Broken { end }, .. }) = &self.stage {
            let end = *end;
            if self.repair_and_accept(&text[from..end], declared).is_ok() {
                return self.take_possible_calls(self.at);
            }
        }
        if !has_json_signs(&text[from..]) {
            return self.take_possible_calls(self.calls_end);
        }
        let end = CLOSERS.find(text, from).map_or(text.len(), |(_, _, end)| end);
        self.fault.get_or_insert((MalformedReason::NotJson(JsonFault::Incomplete), from..end));
        self.take_possible_calls(end)
    }

    /// Ends the text in or after JSON.
    pub(super) fn finish_body(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        let (from, bare) = (self.json_start(), self.is_bare());
        let is_prose = !self.begins_line() && !has_json_signs(&text[from..]);
        let CandidateStage::Body(body) = &mut self.stage else { return Verdict::Text };
        match &body.state {
            BodyState::Tail => self.finish_tail(text),
            _ if !self.calls.is_empty() && bare => self.take_possible_calls(self.calls_end),
            _ if !self.calls.is_empty() => self.finish_after_calls(text, declared),
            BodyState::Json(_) if bare || is_prose => Verdict::Text,
            BodyState::Json(scan) if scan.is_in_string() => {
                let end = CLOSERS.find(text, from).map_or(text.len(), |(_, _, end)| end);
                Verdict::Unreadable(MalformedReason::NotJson(JsonFault::OpenString), end)
            }
            BodyState::Json(_) => Verdict::Unreadable(MalformedReason::NotJson(JsonFault::Incomplete), text.len()),
            BodyState::Broken { end } => {
                let end = *end;
                match self.repair_and_accept(&text[from..end], declared) {
                    Ok(()) => Verdict::Calls(std::mem::take(&mut self.calls), self.at),
                    Err(reason) => Verdict::Unreadable(reason, text.len()),
                }
            }
            BodyState::Unreadable { .. } => {
                let end = self.at;
                self.take_unreadable(end)
            }
        }
    }
}

/// Whether a text in braces has what JSON is made of.
pub(super) fn has_json_signs(text: &str) -> bool {
    text.contains([':', '：', '"', '“', '\''])
}
