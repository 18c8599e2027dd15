//! Reads the text after the JSON of a call, up to the end of its wrapper.

use std::ops::ControlFlow::{Break, Continue};

use super::attributes::space;
use super::body::{Body, Part};
use super::candidate::{Candidate, Stage, Step, Verdict};
use super::fence::TICKS;
use crate::declared::Declared;
use crate::markers::{CLOSERS, Look};

/// Maximum distance to search for the end of a wrapper with unreadable content, in bytes.
const MAX_SEARCH: usize = 4096;

/// The kind of text after a JSON value.
enum Next {
    /// The wrapper's end, which ends before this position.
    Close(usize),
    /// Another value begins at this position.
    Value(usize),
    /// Residue up to this position; scan again there.
    Skip(usize),
    /// More text is needed to decide.
    Short,
    /// Nothing that belongs to the call.
    Other,
}

impl Candidate {
    /// Reads after complete JSON.
    pub(super) fn tail(&mut self, text: &str) -> Step {
        match self.next(text) {
            Next::Close(end) => Break(Verdict::Calls(std::mem::take(&mut self.calls), end)),
            Next::Value(at) => {
                self.at = at;
                self.stage = Stage::Body(Body::json(at, false, false));
                Continue(())
            }
            Next::Skip(at) => {
                self.at = at;
                Continue(())
            }
            Next::Short => Break(Verdict::More),
            Next::Other => Break(Verdict::Calls(std::mem::take(&mut self.calls), self.at)),
        }
    }

    fn next(&mut self, text: &str) -> Next {
        let explicit = !self.bare();
        let Stage::Body(Body { fenced, .. }) = &mut self.stage else { return Next::Other };
        let at = self.at + space(&text[self.at..]);
        let rest = &text[at..];
        match rest.chars().next() {
            None => Next::Short,
            Some('}' | ']') if explicit => Next::Skip(at + 1),
            Some('`') if *fenced && rest.starts_with(TICKS) => {
                *fenced = false;
                Next::Skip(at + TICKS.len())
            }
            Some('`') if *fenced && TICKS.starts_with(rest) => Next::Short,
            Some('{') if explicit => Next::Value(at),
            Some(',' | ';') => match rest[1..].trim_start().chars().next() {
                None => Next::Short,
                Some('{') => Next::Value(at + 1),
                Some(_) => Next::Other,
            },
            Some('<' | '[') if explicit => match CLOSERS.look(rest) {
                Look::Is(_, length) => Next::Close(at + length),
                Look::Short => Next::Short,
                Look::No => Next::Other,
            },
            Some(_) => Next::Other,
        }
    }

    /// Reads after JSON that needs repair: the wrapper's end decides what belongs to the JSON.
    pub(super) fn broken(&mut self, text: &str, end: usize, declared: &Declared) -> Step {
        let from = self.from();
        match self.next(text) {
            Next::Short => return Break(Verdict::More),
            Next::Skip(at) => {
                self.at = at;
                return Continue(());
            }
            Next::Close(_) | Next::Value(_) | Next::Other => {}
        }
        let whole = self.at;
        match self.mend(&text[from..end], declared).or_else(|_| self.mend(&text[from..whole], declared)) {
            Ok(()) => self.set(Part::Tail),
            Err(reason) if text[from..whole].contains([':', '：']) => self.unreadable(&reason, true),
            Err(reason) => self.refuse(text, &reason),
        }
    }

    /// Reads directly after unreadable content.
    pub(super) fn unreadable_tail(&mut self, text: &str) -> Step {
        let end = match self.next(text) {
            Next::Short => return Break(Verdict::More),
            Next::Skip(at) => {
                self.at = at;
                return Continue(());
            }
            Next::Close(end) => end,
            Next::Value(_) | Next::Other => self.at,
        };
        Break(self.give_reason(end))
    }

    /// Searches unreadable content for the wrapper's end, within [`MAX_SEARCH_BYTES`].
    pub(super) fn unreadable_search(&mut self, text: &str) -> Step {
        let Stage::Body(Body { part: Part::Unreadable { search: Some(search), .. }, .. }) = &mut self.stage else {
            return Continue(());
        };
        let limit = text.floor_char_boundary(self.at.saturating_add(MAX_SEARCH));
        let end = match CLOSERS.find(&text[..limit], (*search).max(self.at)) {
            Ok((_, _, end)) => end,
            Err(_) if limit < text.len() => self.at,
            Err(next) => {
                *search = next;
                return Break(Verdict::More);
            }
        };
        Break(self.give_reason(end))
    }

    fn give_reason(&mut self, end: usize) -> Verdict {
        match &mut self.stage {
            Stage::Body(Body { part: Part::Unreadable { reason, .. }, .. }) => {
                Verdict::Unreadable(std::mem::take(reason), end)
            }
            _ => Verdict::Text,
        }
    }

    /// Ends the text in or after JSON.
    pub(super) fn finish_body(&mut self, text: &str, declared: &Declared) -> Verdict {
        let (from, bare) = (self.from(), self.bare());
        let Stage::Body(body) = &mut self.stage else { return Verdict::Text };
        match &body.part {
            Part::Tail => Verdict::Calls(std::mem::take(&mut self.calls), self.at),
            _ if !self.calls.is_empty() => Verdict::Calls(std::mem::take(&mut self.calls), self.settled),
            Part::Json(_) if bare || !text[from..].contains([':', '：']) => Verdict::Text,
            Part::Json(scan) if scan.in_string() => {
                let end = CLOSERS.find(text, from).map_or(text.len(), |(_, _, end)| end);
                Verdict::Unreadable("a string in the JSON is not closed".to_owned(), end)
            }
            Part::Json(_) => Verdict::Unreadable("the JSON ends before it is complete".to_owned(), text.len()),
            Part::Broken { end } => {
                let end = *end;
                match self.mend(&text[from..end], declared) {
                    Ok(()) => Verdict::Calls(std::mem::take(&mut self.calls), self.at),
                    Err(reason) => Verdict::Unreadable(reason, text.len()),
                }
            }
            Part::Unreadable { .. } => {
                let end = self.at;
                self.give_reason(end)
            }
        }
    }
}
