//! JSON of a call, and what may follow it up to the end of its wrapper.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::Value;

use super::attributes::space;
use super::candidate::{Candidate, Kind, MAX_UNCERTAIN, Stage, Step, Verdict};
use super::fence::TICKS;
use crate::declared::Declared;
use crate::json::{Scan, Seen};
use crate::markers::{CLOSERS, Look, OPENERS};
use crate::repair::repair;
use crate::shape;

/// JSON and what follows it.
pub(super) struct Body {
    part: Part,
    /// Where the JSON begins.
    from: usize,
    /// Whether a code fence inside of the wrapper is open.
    fenced: bool,
}

enum Part {
    Json(Box<Scan>),
    /// Behind JSON that was read.
    Tail,
    /// Behind JSON that needs mending, which ends at `end` unless its quotes misled.
    Broken {
        end: usize,
    },
    /// Behind what cannot be read, for this reason; `search` looks for the wrapper's end however far it is.
    Unreadable {
        reason: String,
        search: Option<usize>,
    },
}

/// What follows the place behind a JSON value.
enum Next {
    /// The wrapper's end, which ends before this position.
    Close(usize),
    /// Another value begins at this position.
    Value(usize),
    /// Residue up to this position; look again.
    Skip(usize),
    /// Too little text to tell.
    Short,
    /// Nothing that belongs to the call.
    Other,
}

impl Body {
    pub(super) fn json(from: usize, fenced: bool, bare: bool) -> Self {
        let scan = if bare { Scan::watched() } else { Scan::default() };
        Self { part: Part::Json(Box::new(scan)), from, fenced }
    }

    pub(super) fn tail(fenced: bool) -> Self {
        Self { part: Part::Tail, from: 0, fenced }
    }

    pub(super) fn unreadable(reason: &str) -> Self {
        Self { part: Part::Unreadable { reason: reason.to_owned(), search: Some(0) }, from: 0, fenced: false }
    }

    /// Whether the JSON that is being read names a declared tool.
    pub(super) fn names_declared(&self, declared: &Declared) -> bool {
        let Part::Json(scan) = &self.part else { return false };
        let name = |key| scan.outer()?.get(key)?.as_str();
        shape::NAME_KEYS.into_iter().filter_map(name).any(|name| declared.has(name))
    }

    /// Whether every call in it has been read as it stands.
    pub(super) fn complete(&self) -> bool {
        matches!(self.part, Part::Tail)
    }
}

impl Candidate {
    /// Whether only a declared tool makes it a call.
    pub(super) fn bare(&self) -> bool {
        matches!(self.kind, Kind::Json | Kind::List | Kind::Action)
    }

    pub(super) fn body(&mut self, text: &str, declared: &Declared) -> Step {
        let Stage::Body(body) = &mut self.stage else { return Continue(()) };
        match &mut body.part {
            Part::Json(_) => self.json_step(text, declared),
            Part::Tail => self.tail(text),
            Part::Broken { end } => {
                let end = *end;
                self.broken(text, end, declared)
            }
            Part::Unreadable { search: None, .. } => self.unreadable_tail(text),
            Part::Unreadable { search: Some(_), .. } => self.unreadable_search(text),
        }
    }

    fn set(&mut self, next: Part) -> Step {
        if let Stage::Body(body) = &mut self.stage {
            body.part = next;
        }
        Continue(())
    }

    fn from(&self) -> usize {
        if let Stage::Body(body) = &self.stage { body.from } else { 0 }
    }

    fn json_step(&mut self, text: &str, declared: &Declared) -> Step {
        let bare = self.bare();
        let Stage::Body(Body { part: Part::Json(scan), .. }) = &mut self.stage else { return Continue(()) };
        match scan.advance(text, self.at) {
            Seen::More(next) => {
                self.at = next;
                Break(Verdict::More)
            }
            Seen::News(next) => {
                self.at = next;
                if may_be_call(scan, declared) { Continue(()) } else { Break(Verdict::Text) }
            }
            Seen::End(end) => {
                self.at = end;
                self.value_ended(text, declared)
            }
            Seen::Foreign(_) if bare => Break(Verdict::Text),
            Seen::Foreign(place) => {
                self.at = place;
                let rest = &text[place..];
                let opener = if scan.in_string() { Look::No } else { OPENERS.look(rest) };
                match (CLOSERS.look(rest), opener) {
                    (Look::Is(..), _) | (_, Look::Is(..)) => self.cut_short(text, declared),
                    (Look::Short, _) | (_, Look::Short) => Break(Verdict::More),
                    (Look::No, Look::No) => {
                        self.at = scan.pass(place);
                        Continue(())
                    }
                }
            }
        }
    }

    /// The brackets are closed.
    fn value_ended(&mut self, text: &str, declared: &Declared) -> Step {
        let Stage::Body(Body { part: Part::Json(scan), from, .. }) = &mut self.stage else { return Continue(()) };
        let from = *from;
        match scan.take() {
            Some(value) => match self.accept(value, false, declared) {
                Ok(()) => self.set(Part::Tail),
                Err(reason) => self.refuse(text, from, &reason),
            },
            None if self.bare() => match self.mend(&text[from..self.at], declared) {
                Ok(()) => self.set(Part::Tail),
                Err(_) => Break(Verdict::Text),
            },
            None => {
                let end = self.at;
                self.set(Part::Broken { end })
            }
        }
    }

    /// A marker stands where JSON should go on.
    fn cut_short(&mut self, text: &str, declared: &Declared) -> Step {
        let Stage::Body(Body { part: Part::Json(scan), from, .. }) = &mut self.stage else { return Continue(()) };
        let (from, in_string) = (*from, scan.in_string());
        if in_string {
            // What is missing is not only brackets: mending would make up where the string ends.
            return self.unreadable("a string in the JSON is not closed".to_owned(), true);
        }
        match self.mend(&text[from..self.at], declared) {
            Ok(()) => self.set(Part::Tail),
            Err(reason) => self.refuse(text, from, &reason),
        }
    }

    /// Takes a value as calls.
    fn accept(&mut self, value: Value, mended: bool, declared: &Declared) -> Result<(), String> {
        let calls = shape::calls(value, self.name.as_deref(), declared)?;
        if mended && !calls.iter().all(|call| call.arguments.is_object()) {
            return Err("the arguments must be a JSON object".to_owned());
        }
        if self.bare() && !calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) {
            return Err("no declared tool takes this".to_owned());
        }
        self.calls.extend(calls);
        self.settled = self.at;
        Ok(())
    }

    fn mend(&mut self, text: &str, declared: &Declared) -> Result<(), String> {
        let value = repair(text).ok_or("the JSON cannot be read")?;
        self.accept(value, true, declared)
    }

    /// What was read is no call.
    fn refuse(&mut self, text: &str, from: usize, reason: &str) -> Step {
        // A placeholder such as {JSON} has no member at all: prose about calls.
        if self.calls.is_empty() && (self.bare() || !text[from..self.at].contains([':', '：'])) {
            return Break(Verdict::Text);
        }
        self.unreadable(reason.to_owned(), false)
    }

    /// What was read is meant as a call and is none; calls before it stand, and it becomes text.
    fn unreadable(&mut self, reason: String, search: bool) -> Step {
        if self.calls.is_empty() {
            let search = search.then_some(self.at);
            return self.set(Part::Unreadable { reason, search });
        }
        Break(Verdict::Calls(std::mem::take(&mut self.calls), self.settled))
    }

    fn tail(&mut self, text: &str) -> Step {
        match self.next(text) {
            Next::Close(end) => Break(Verdict::Calls(std::mem::take(&mut self.calls), end)),
            Next::Value(at) => {
                self.at = at;
                if let Stage::Body(body) = &mut self.stage {
                    body.from = at;
                }
                self.set(Part::Json(Box::default()))
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

    /// Behind JSON that needs mending: where the wrapper ends tells what belongs to it.
    fn broken(&mut self, text: &str, end: usize, declared: &Declared) -> Step {
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
            Err(reason) if text[from..whole].contains([':', '：']) => self.unreadable(reason, true),
            Err(reason) => self.refuse(text, from, &reason),
        }
    }

    fn unreadable_tail(&mut self, text: &str) -> Step {
        let end = match self.next(text) {
            Next::Short => return Break(Verdict::More),
            Next::Skip(at) => {
                self.at = at;
                return Continue(());
            }
            Next::Close(end) => end,
            Next::Value(_) | Next::Other => self.at,
        };
        Break(self.verdict(end))
    }

    fn unreadable_search(&mut self, text: &str) -> Step {
        let Stage::Body(Body { part: Part::Unreadable { search: Some(search), .. }, .. }) = &mut self.stage else {
            return Continue(());
        };
        let limit = text.floor_char_boundary(self.at.saturating_add(MAX_UNCERTAIN));
        match CLOSERS.find(&text[..limit], (*search).max(self.at)) {
            Ok((_, _, end)) => Break(self.verdict(end)),
            Err(_) if limit < text.len() => {
                let end = self.at;
                Break(self.verdict(end))
            }
            Err(next) => {
                *search = next;
                Break(Verdict::More)
            }
        }
    }

    fn verdict(&mut self, end: usize) -> Verdict {
        match &mut self.stage {
            Stage::Body(Body { part: Part::Unreadable { reason, .. }, .. }) => {
                Verdict::Unreadable(std::mem::take(reason), end)
            }
            _ => Verdict::Text,
        }
    }

    /// Ends the text in or behind JSON.
    pub(super) fn finish_body(&mut self, text: &str, declared: &Declared) -> Verdict {
        let from = self.from();
        let Stage::Body(body) = &mut self.stage else { return Verdict::Text };
        match &body.part {
            _ if !self.calls.is_empty() && !matches!(body.part, Part::Tail) => {
                Verdict::Calls(std::mem::take(&mut self.calls), self.settled)
            }
            Part::Json(_) if matches!(self.kind, Kind::Json | Kind::List | Kind::Action) => Verdict::Text,
            Part::Json(scan) if scan.in_string() => {
                let end = CLOSERS.find(text, from).map_or(text.len(), |(_, _, end)| end);
                Verdict::Unreadable("a string in the JSON is not closed".to_owned(), end)
            }
            Part::Json(_) if !text[from..].contains([':', '：']) => Verdict::Text,
            Part::Json(_) => Verdict::Unreadable("the JSON ends before it is complete".to_owned(), text.len()),
            Part::Tail => Verdict::Calls(std::mem::take(&mut self.calls), self.at),
            Part::Broken { end } => {
                let end = *end;
                match self.mend(&text[from..end], declared) {
                    Ok(()) => Verdict::Calls(std::mem::take(&mut self.calls), self.at),
                    Err(reason) => Verdict::Unreadable(reason, text.len()),
                }
            }
            Part::Unreadable { .. } => {
                let end = self.at;
                self.verdict(end)
            }
        }
    }
}

/// Whether the JSON read so far can still become a call to a declared tool.
fn may_be_call(scan: &Scan, declared: &Declared) -> bool {
    let Some(members) = scan.outer() else { return !scan.broken() };
    let names = || shape::NAME_KEYS.into_iter().filter_map(|key| Some((key, members.get(key)?.as_str()?)));
    if names().any(|(_, name)| declared.has(name)) {
        return true;
    }
    let possible = |key: &str| shape::is_call_key(key) || declared.any_has_parameter(key);
    !scan.broken() && scan.outer_key().is_none_or(possible) && names().all(|(key, _)| declared.any_has_parameter(key))
}
