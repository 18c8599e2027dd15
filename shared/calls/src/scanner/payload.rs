//! Reads the content after an opening marker: the content decides how it is read, not the marker.

use std::ops::ControlFlow::{Break, Continue};

use super::attributes::space;
use super::body::Body;
use super::candidate::{Candidate, Kind, Stage, Step, Verdict};
use super::elements::Elements;
use super::fence::payload_fence;
use super::pythonic::Brackets;
use super::tag::without_arguments;
use crate::declared::Declared;
use crate::markers::{CLOSERS, Look, OPENERS, PARAMETERS, Role, SEPARATORS};

/// Maximum length of a name before its arguments, in bytes.
const MAX_NAME: usize = 128;

impl Candidate {
    /// Reads after the opening marker: JSON, a list, a fence around JSON, another marker, parameters, or a name.
    pub(super) fn payload(&mut self, text: &str, declared: &Declared) -> Step {
        let at = self.at + space(&text[self.at..]);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Break(Verdict::More) };
        match first {
            '{' => self.json(at, false),
            '"' if self.name.is_some() => self.json(at, false),
            '[' => self.list(text, at, declared),
            '`' => match payload_fence(rest) {
                Look::Is((), length) => self.json(at + length, true),
                Look::Short => Break(Verdict::More),
                Look::No => Break(Verdict::Text),
            },
            '<' => self.marker(rest, at),
            _ if self.name.is_none() && is_name(first) => self.name_first(text, at, declared),
            _ => Break(Verdict::Text),
        }
    }

    fn json(&mut self, at: usize, fenced: bool) -> Step {
        self.at = at;
        self.stage = Stage::Body(Body::json(at, fenced, self.bare()));
        Continue(())
    }

    fn list(&mut self, text: &str, at: usize, declared: &Declared) -> Step {
        let inside = &text[at + 1..];
        let inside = &inside[space(inside)..];
        let Some(first) = inside.chars().next() else { return Break(Verdict::More) };
        if first == '{' {
            if self.kind == Kind::List {
                self.kind = Kind::Json;
            }
            return self.json(at, false);
        }
        let end = inside.find(|c| !is_name(c));
        let name = &inside[..end.unwrap_or(inside.len())];
        let known = self.kind == Kind::Wrapper || declared.has_prefix(name);
        match inside[name.len()..].chars().next() {
            _ if name.is_empty() || name.len() > MAX_NAME || !known || self.kind == Kind::Json => Break(Verdict::Text),
            None => Break(Verdict::More),
            Some('(') if self.kind == Kind::Wrapper || declared.has(name) => {
                self.at = at;
                self.stage = Stage::Python { brackets: Brackets::default(), start: at };
                Continue(())
            }
            Some(_) => Break(Verdict::Text),
        }
    }

    /// Reads a marker directly after the opening one: a wrapper in a wrapper, a function, or parameters of a named
    /// call.
    fn marker(&mut self, rest: &str, at: usize) -> Step {
        match OPENERS.look(rest) {
            Look::Is(role, length) if self.name.is_none() => {
                return self.nest(Self::opened(role, &rest[..length], true), at + length);
            }
            Look::Short => return Break(Verdict::More),
            _ => {}
        }
        let Some(name) = self.name.clone() else { return Break(Verdict::Text) };
        match (PARAMETERS.look(rest), CLOSERS.look(rest)) {
            (_, Look::Is(_, length)) => without_arguments(name, at + length),
            (Look::Is(..), _) => {
                self.at = at;
                self.stage = Stage::Elements(Elements::new(name, true));
                Continue(())
            }
            (Look::Short, _) | (_, Look::Short) => Break(Verdict::More),
            (Look::No, Look::No) => Break(Verdict::Text),
        }
    }

    /// Reads a name before its arguments. After a blank the name must be declared, because it may be prose.
    fn name_first(&mut self, text: &str, at: usize, declared: &Declared) -> Step {
        let rest = &text[at..];
        let end = rest.find(|c| !is_name(c));
        let name = &rest[..end.unwrap_or(rest.len())];
        if name.len() > MAX_NAME {
            return Break(Verdict::Text);
        }
        if end.is_none() {
            return Break(Verdict::More);
        }
        let space = &text[self.at..at];
        let prose = !space.is_empty() && !space.contains('\n') && text.starts_with('<') && !self.control;
        if prose && !declared.has(bare_name(name)) {
            return Break(Verdict::Text);
        }
        self.name = Some(bare_name(name).to_owned());
        self.at = at + name.len();
        self.stage = Stage::Named { separated: false };
        Continue(())
    }

    /// Reads after a name: a separator, JSON, parameters, or the wrapper's end.
    pub(super) fn named(&mut self, text: &str, separated: bool, declared: &Declared) -> Step {
        let at = self.at + space(&text[self.at..]);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Break(Verdict::More) };
        match SEPARATORS.look(rest) {
            Look::Is(role, length) => {
                if role == Role::CallId {
                    return self.call_id(text, at + length);
                }
                self.at = at + length;
                self.stage = Stage::Named { separated: true };
                return Continue(());
            }
            Look::Short => return Break(Verdict::More),
            Look::No => {}
        }
        match first {
            '{' => self.json(at, false),
            '`' if separated || text[self.at..at].contains('\n') => match payload_fence(rest) {
                Look::Is((), length) => self.json(at + length, true),
                Look::Short => Break(Verdict::More),
                Look::No => Break(Verdict::Text),
            },
            '<' => self.named_marker(rest, at, declared),
            _ if separated && is_name(first) => {
                // DeepSeek V3 writes the kind of call first; the name follows.
                self.at = at;
                self.name = None;
                self.stage = Stage::Payload;
                Continue(())
            }
            _ => Break(Verdict::Text),
        }
    }

    /// Reads a marker after a name. Without arguments only a declared name is a call, because a tag may be prose.
    fn named_marker(&mut self, rest: &str, at: usize, declared: &Declared) -> Step {
        let name = self.name.clone().unwrap_or_default();
        match (PARAMETERS.look(rest), CLOSERS.look(rest)) {
            (Look::Is(Role::Key | Role::Parameter | Role::ParameterWithAttributes, _), _) => {
                self.at = at;
                self.stage = Stage::Elements(Elements::new(name, true));
                Continue(())
            }
            (_, Look::Is(_, length)) if declared.has(&name) => without_arguments(name, at + length),
            (Look::Short, _) | (_, Look::Short) => Break(Verdict::More),
            _ => Break(Verdict::Text),
        }
    }

    fn call_id(&mut self, text: &str, at: usize) -> Step {
        let rest = &text[at..];
        match rest.find(|c| !is_name(c)) {
            Some(end) if end <= MAX_NAME => {
                self.at = at + end;
                Continue(())
            }
            None if rest.len() <= MAX_NAME => Break(Verdict::More),
            _ => Break(Verdict::Text),
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/')
}

/// A name without the decoration of Kimi K2 and harmony: `functions.f:0`.
fn bare_name(name: &str) -> &str {
    let name = name.strip_prefix("functions.").unwrap_or(name);
    match name.rsplit_once(':') {
        Some((name, index)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}
