//! Reads the content after an opening marker: the content decides how it is read, not the marker.

use std::ops::ControlFlow::{Break, Continue};

use super::body::Body;
use super::candidate::{Candidate, CandidateKind, CandidateStage, Step, Verdict};
use super::elements::FunctionElements;
use super::fence::match_payload_fence;
use super::gemma::{CALL, COLON};
use super::name::is_name;
use super::pythonic::BracketTracker;
use super::tag::{match_parameter, without_arguments};
use super::tool_tag::{match_parameter_tag, match_tool_tag};
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, OPENERS, PARAMETERS, SEPARATORS};
use crate::segment::MalformedReason;

/// Maximum length of a name before its arguments, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 128;

/// What a model writes before a function's name if it leaves out the `<` of the tag.
const FUNCTION: &str = "function";

impl Candidate {
    /// Reads after the opening marker: JSON, a list, a fence around JSON, another marker, parameters, or a name.
    pub(super) fn read_payload(&mut self, text: &str, declared: &DeclaredTools) -> Step {
        let at = self.space.end(text, self.at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Break(Verdict::NeedMore) };
        match first {
            '{' => self.begin_json(at, false),
            '"' if self.name.is_some() => self.begin_json(at, false),
            '[' => self.read_list(text, at, declared),
            '`' => match match_payload_fence(rest) {
                Match::Full((), length) => self.begin_json(at + length, true),
                Match::Partial => Break(Verdict::NeedMore),
                Match::None => Break(Verdict::Text),
            },
            '<' | ']' => self.read_marker(text, at, declared),
            _ if self.name.is_none() && is_name(first) => self.read_name_first(text, at, declared),
            _ => Break(Verdict::Text),
        }
    }

    fn begin_json(&mut self, at: usize, fenced: bool) -> Step {
        self.at = at;
        self.stage = CandidateStage::Body(Body::json(at, fenced, self.is_bare()));
        Continue(())
    }

    fn read_list(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> Step {
        if self.kind == CandidateKind::Wrapper && self.name.is_none() {
            match OPENERS.match_prefix(&text[at..]) {
                Match::Full(role, length) => {
                    return self.nest(Self::from_marker(role, &text[at..at + length], true), at + length);
                }
                Match::Partial => return Break(Verdict::NeedMore),
                Match::None => {}
            }
        }
        let inside = &text[self.space.end(text, at + 1)..];
        let Some(first) = inside.chars().next() else { return Break(Verdict::NeedMore) };
        if first == '{' {
            if self.kind == CandidateKind::List {
                self.kind = CandidateKind::Json;
            }
            return self.begin_json(at, false);
        }
        let end = inside.find(|c| !is_name(c));
        let name = &inside[..end.unwrap_or(inside.len())];
        let known = self.kind == CandidateKind::Wrapper || declared.has_prefix(name);
        match inside[name.len()..].chars().next() {
            _ if name.is_empty() || name.len() > MAX_NAME_BYTES || !known => Break(Verdict::Text),
            None => Break(Verdict::NeedMore),
            Some('(') if self.kind == CandidateKind::Wrapper || declared.has(name) => {
                self.at = at;
                self.stage = CandidateStage::Python { brackets: BracketTracker::default(), start: at };
                Continue(())
            }
            Some(_) => Break(Verdict::Text),
        }
    }

    /// Reads a marker directly after the opening one: a wrapper in a wrapper, a function, or parameters of a named
    /// call.
    fn read_marker(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> Step {
        let rest = &text[at..];
        match OPENERS.match_prefix(rest) {
            Match::Full(role, length) if self.name.is_none() => {
                return self.nest(Self::from_marker(role, &rest[..length], true), at + length);
            }
            Match::Partial => return Break(Verdict::NeedMore),
            _ => {}
        }
        let Some(name) = self.name.clone() else {
            match match_name_element(rest) {
                Match::Full(name, length) => {
                    self.at = at + length;
                    self.stage = CandidateStage::Elements(Box::new(FunctionElements::new(name.to_owned(), true)));
                    return Continue(());
                }
                Match::Partial => return Break(Verdict::NeedMore),
                Match::None => {}
            }
            return match match_tool_tag(rest, declared) {
                Match::Full(..) => self.read_tool_tag(text, at, declared),
                Match::Partial => Break(Verdict::NeedMore),
                Match::None => read_empty(rest, at),
            };
        };
        match (PARAMETERS.match_prefix(rest), CLOSERS.match_prefix(rest)) {
            (_, Match::Full(_, length)) => without_arguments(name, at + length),
            (Match::Full(..), _) => {
                self.at = at;
                self.stage = CandidateStage::Elements(Box::new(FunctionElements::new(name, true)));
                Continue(())
            }
            (Match::Partial, _) | (_, Match::Partial) => Break(Verdict::NeedMore),
            (Match::None, Match::None) => Break(Verdict::Text),
        }
    }

    /// Reads a name before its arguments. After a blank the name must be declared, because it may be prose.
    fn read_name_first(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> Step {
        let rest = &text[at..];
        let end = rest.find(|c| !is_name(c));
        let name = &rest[..end.unwrap_or(rest.len())];
        if name.len() > MAX_NAME_BYTES {
            return Break(Verdict::Text);
        }
        if end.is_none() {
            return Break(Verdict::NeedMore);
        }
        if name == FUNCTION && rest[name.len()..].starts_with('=') {
            let length = name.len() + 1;
            return self.nest(Self::from_marker(Role::Function, &rest[..length], true), at + length);
        }
        let space = &text[self.at..at];
        let prose = !space.is_empty() && !space.contains('\n') && text.starts_with('<') && !self.is_control_token;
        if prose && !declared.has(undecorated_name(name)) {
            return Break(Verdict::Text);
        }
        self.is_gemma = name.starts_with(CALL) || name.starts_with(COLON);
        self.name = Some(undecorated_name(name).to_owned());
        self.at = at + name.len();
        self.stage = CandidateStage::Named { separated: false };
        Continue(())
    }

    /// Reads after a name: a separator, JSON, parameters, or the wrapper's end.
    pub(super) fn read_after_name(&mut self, text: &str, separated: bool, declared: &DeclaredTools) -> Step {
        let at = self.space.end(text, self.at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Break(Verdict::NeedMore) };
        let name = self.name.clone().unwrap_or_default();
        match SEPARATORS.match_prefix(rest) {
            Match::Full(role, length) => {
                if role == Role::CallId {
                    return self.skip_call_id(text, at + length);
                }
                self.at = at + length;
                self.stage = CandidateStage::Named { separated: true };
                return Continue(());
            }
            Match::Partial => return Break(Verdict::NeedMore),
            Match::None => {}
        }
        match first {
            '{' | '(' if self.is_gemma => self.begin_gemma(at),
            '{' => self.begin_json(at, false),
            '(' if !separated && self.kind == CandidateKind::Wrapper && declared.has(&name) => self.begin_python(at),
            '`' if separated || text[self.at..at].contains('\n') => match match_payload_fence(rest) {
                Match::Full((), length) => self.begin_json(at + length, true),
                Match::Partial => Break(Verdict::NeedMore),
                Match::None => Break(Verdict::Text),
            },
            '<' => self.read_marker_after_name(rest, at, separated, declared),
            _ if separated && is_name(first) => {
                // DeepSeek V3 writes the kind of call first; the name follows.
                self.at = at;
                self.name = None;
                self.stage = CandidateStage::Payload;
                Continue(())
            }
            _ => Break(Verdict::Text),
        }
    }

    /// Reads a marker after a name. Without arguments only a declared name is a call, because a tag may be prose.
    fn read_marker_after_name(&mut self, rest: &str, at: usize, separated: bool, declared: &DeclaredTools) -> Step {
        match OPENERS.match_prefix(rest) {
            // The wrapper or the function names the tool again.
            Match::Full(role, length) if separated => {
                self.name = None;
                return self.nest(Self::from_marker(role, &rest[..length], true), at + length);
            }
            Match::Partial if separated => return Break(Verdict::NeedMore),
            _ => {}
        }
        let name = self.name.clone().unwrap_or_default();
        match match_parameter_tag(rest, &name, declared) {
            Match::Full(..) => {
                self.at = at;
                self.stage = CandidateStage::Elements(Box::new(FunctionElements::after_name(name)));
                return Continue(());
            }
            Match::Partial => return Break(Verdict::NeedMore),
            Match::None => {}
        }
        match (PARAMETERS.match_prefix(rest), CLOSERS.match_prefix(rest)) {
            (Match::Full(Role::Key | Role::Parameter | Role::ParameterWithAttributes, _), _) => {
                self.at = at;
                self.stage = CandidateStage::Elements(Box::new(FunctionElements::new(name, true)));
                Continue(())
            }
            (_, Match::Full(_, length)) if declared.has(&name) => without_arguments(name, at + length),
            (Match::Partial, _) | (_, Match::Partial) => Break(Verdict::NeedMore),
            _ => Break(Verdict::Text),
        }
    }

    /// Reads the arguments of a call written as Python; the name before them has been read.
    pub(super) fn begin_python(&mut self, at: usize) -> Step {
        self.at = at;
        self.stage = CandidateStage::Python { brackets: BracketTracker::default(), start: at };
        Continue(())
    }

    fn skip_call_id(&mut self, text: &str, at: usize) -> Step {
        let rest = &text[at..];
        match rest.find(|c| !is_name(c)) {
            Some(end) if end <= MAX_NAME_BYTES => {
                self.at = at + end;
                Continue(())
            }
            None if rest.len() <= MAX_NAME_BYTES => Break(Verdict::NeedMore),
            _ => Break(Verdict::Text),
        }
    }
}

/// Elements that hold the tool's name: `<function>f</function>`.
const NAME_ELEMENTS: [[&str; 2]; 3] =
    [["<function>", "</function>"], ["<name>", "</name>"], ["<tool_name>", "</tool_name>"]];

/// Matches an element that holds the tool's name, before a parameter.
fn match_name_element(text: &str) -> Match<&str> {
    let is_open = |[open, _]: &[&str; 2]| text.starts_with(open) || open.starts_with(text);
    let Some([open, close]) = NAME_ELEMENTS.into_iter().find(is_open) else { return Match::None };
    let Some(inside) = text.strip_prefix(open) else { return Match::Partial };
    let name = &inside[..inside.find('<').unwrap_or(inside.len())];
    let after = &inside[name.len()..];
    if name.len() > MAX_NAME_BYTES || !name.trim().chars().all(is_name) {
        return Match::None;
    }
    let Some(parameter) = after.strip_prefix(close) else {
        return if close.starts_with(after) { Match::Partial } else { Match::None };
    };
    match match_parameter(parameter) {
        Match::Full((), _) if !name.trim().is_empty() => Match::Full(name.trim(), text.len() - parameter.len()),
        Match::Partial => Match::Partial,
        _ => Match::None,
    }
}

/// Reads a wrapper's end directly after its opening marker.
fn read_empty(rest: &str, at: usize) -> Step {
    match CLOSERS.match_prefix(rest) {
        Match::Full(_, length) => Break(Verdict::Unreadable(MalformedReason::Empty, at + length)),
        Match::Partial => Break(Verdict::NeedMore),
        Match::None => Break(Verdict::Text),
    }
}

/// A name without the decoration of Kimi K2, Harmony and Gemma: `functions.f:0`, `call:f`, `:f`.
pub(super) fn undecorated_name(name: &str) -> &str {
    let name = ["functions.", CALL, COLON].into_iter().find_map(|before| name.strip_prefix(before)).unwrap_or(name);
    match name.rsplit_once(':') {
        Some((name, index)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}
