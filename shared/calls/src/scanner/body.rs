//! JSON of a call: reads it, repairs it, and converts it to calls.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::Value;

use super::candidate::{Candidate, Stage, Step, Verdict};
use crate::declared::Declared;
use crate::json::{Scan, Seen};
use crate::markers::{CLOSERS, Look, OPENERS};
use crate::repair::repair;
use crate::shape;

/// The JSON of a candidate and the text after it.
pub(super) struct Body {
    pub(super) part: Part,
    /// Where the JSON begins.
    pub(super) from: usize,
    /// Whether a code fence inside of the wrapper is open.
    pub(super) fenced: bool,
}

/// The state within a body.
pub(super) enum Part {
    /// In JSON.
    Json(Box<Scan>),
    /// After complete JSON.
    Tail,
    /// After JSON that needs repair, which ends at `end` unless it had a false end of a string.
    Broken { end: usize },
    /// After unreadable content, for this reason; `search` is the position from which to search for the wrapper's end.
    Unreadable { reason: String, search: Option<usize> },
}

impl Body {
    /// JSON that begins here; `early_checks` enables early rejection.
    pub(super) fn json(from: usize, fenced: bool, watched: bool) -> Self {
        let scan = if watched { Scan::watched() } else { Scan::default() };
        Self { part: Part::Json(Box::new(scan)), from, fenced }
    }

    /// After complete calls.
    pub(super) fn tail() -> Self {
        Self { part: Part::Tail, from: 0, fenced: false }
    }

    /// After unreadable content; the wrapper's end is still to be found.
    pub(super) fn unreadable(reason: &str) -> Self {
        Self { part: Part::Unreadable { reason: reason.to_owned(), search: Some(0) }, from: 0, fenced: false }
    }

    /// Whether the JSON has had no deviation.
    pub(super) fn sound(&self) -> bool {
        match &self.part {
            Part::Json(scan) => !scan.broken(),
            Part::Tail => true,
            Part::Broken { .. } | Part::Unreadable { .. } => false,
        }
    }

    /// Whether the current position is in a string of well-formed JSON.
    pub(super) fn in_sound_string(&self) -> bool {
        matches!(&self.part, Part::Json(scan) if scan.in_string() && !scan.broken())
    }

    /// Whether the JSON that is being read names a declared tool.
    pub(super) fn names_declared(&self, declared: &Declared) -> bool {
        let Part::Json(scan) = &self.part else { return false };
        let name = |key| scan.outer()?.get(key)?.as_str();
        shape::NAME_KEYS.into_iter().filter_map(name).any(|name| declared.has(name))
    }

    /// Whether every call in it has been read.
    pub(super) fn complete(&self) -> bool {
        matches!(self.part, Part::Tail)
    }
}

impl Candidate {
    /// Reads JSON or the text after it.
    pub(super) fn body(&mut self, text: &str, declared: &Declared) -> Step {
        let Stage::Body(body) = &mut self.stage else { return Continue(()) };
        match &mut body.part {
            Part::Json(scan) => {
                let seen = scan.advance(text, self.at);
                self.seen(seen, text, declared)
            }
            Part::Tail => self.tail(text),
            Part::Broken { end } => {
                let end = *end;
                self.broken(text, end, declared)
            }
            Part::Unreadable { search: None, .. } => self.unreadable_tail(text),
            Part::Unreadable { search: Some(_), .. } => self.unreadable_search(text),
        }
    }

    /// Changes to another state.
    pub(super) fn set(&mut self, next: Part) -> Step {
        if let Stage::Body(body) = &mut self.stage {
            body.part = next;
        }
        Continue(())
    }

    /// Where the JSON begins.
    pub(super) fn from(&self) -> usize {
        if let Stage::Body(body) = &self.stage { body.from } else { 0 }
    }

    fn seen(&mut self, seen: Seen, text: &str, declared: &Declared) -> Step {
        let bare = self.bare();
        let Stage::Body(Body { part: Part::Json(scan), .. }) = &mut self.stage else { return Continue(()) };
        match seen {
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
                let value = scan.take();
                self.value_ended(value, text, declared)
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

    /// Handles closed brackets; without a value, their content is not well-formed.
    fn value_ended(&mut self, value: Option<Value>, text: &str, declared: &Declared) -> Step {
        let from = self.from();
        match value {
            Some(value) => match self.accept(value, false, declared) {
                Ok(()) => self.set(Part::Tail),
                Err(reason) => self.refuse(text, &reason),
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

    /// Handles a marker where JSON should continue.
    fn cut_short(&mut self, text: &str, declared: &Declared) -> Step {
        let Stage::Body(Body { part: Part::Json(scan), from, .. }) = &mut self.stage else { return Continue(()) };
        let (from, open) = (*from, scan.in_string() || scan.misled());
        if open {
            // More than brackets may be missing: a repair would invent where a string ends.
            return self.unreadable("a string in the JSON is not closed", true);
        }
        match self.mend(&text[from..self.at], declared) {
            Ok(()) => self.set(Part::Tail),
            Err(reason) => self.refuse(text, &reason),
        }
    }

    /// Accepts a value as calls; a repaired one only if its arguments are an object.
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

    /// Repairs JSON and accepts it as calls.
    pub(super) fn mend(&mut self, text: &str, declared: &Declared) -> Result<(), String> {
        let value = repair(text).ok_or("the JSON cannot be read")?;
        self.accept(value, true, declared)
    }

    /// Rejects a value that is not a call.
    pub(super) fn refuse(&mut self, text: &str, reason: &str) -> Step {
        // A placeholder such as {JSON} has no member at all: prose about calls.
        let placeholder = !text[self.from()..self.at].contains([':', '：']);
        if self.calls.is_empty() && (self.bare() || placeholder) {
            return Break(Verdict::Text);
        }
        self.unreadable(reason, false)
    }

    /// Handles an unreadable call: after other calls it becomes text, and those stay.
    pub(super) fn unreadable(&mut self, reason: &str, search: bool) -> Step {
        if self.calls.is_empty() {
            let search = search.then_some(self.at);
            return self.set(Part::Unreadable { reason: reason.to_owned(), search });
        }
        Break(Verdict::Calls(std::mem::take(&mut self.calls), self.settled))
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
