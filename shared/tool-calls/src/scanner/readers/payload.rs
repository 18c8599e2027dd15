//! Reads the content after an opening marker: the content decides how it is read, not the marker (R3).

use std::ops::ControlFlow::{Break, Continue};

use super::body::Body;
use super::elements::FunctionElements;
use super::gemma::{CALL, COLON, GemmaArguments};
use super::python::PythonCalls;
use super::tag::{match_parameter, read_tool_tag, without_arguments};
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, OPENERS, PARAMETERS, SEPARATORS};
use crate::scanner::attributes::space_len;
use crate::scanner::candidate::{Candidate, CandidateKind};
use crate::scanner::fence::match_payload_fence;
use crate::scanner::name::{is_name, name_len};
use crate::scanner::reader::{Opening, Reader, Step, Verdict};
use crate::scanner::tool_tag::{match_parameter_tag, match_tool_tag};
use crate::segment::MalformedReason;

/// Maximum length of a name before its arguments, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 128;

/// What a model writes before a function's name if it leaves out the `<` of the tag.
const FUNCTION: &str = "function";

/// Reads after the opening marker: JSON, a list, a fence around JSON, another marker, parameters, or a name.
pub(in crate::scanner) struct Payload;

impl Reader for Payload {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        let at = candidate.space.end(text, candidate.at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Break(Verdict::NeedMore) };
        match first {
            '{' => begin_json(candidate, at, false),
            '"' if candidate.name.is_some() => begin_json(candidate, at, false),
            '[' => read_list(candidate, text, at, declared),
            '`' => begin_fence(candidate, rest, at),
            '<' | ']' => read_marker(candidate, text, at, declared),
            _ if candidate.name.is_none() && is_name(first) => read_name_first(candidate, text, at, declared),
            _ => Break(Verdict::Text),
        }
    }

    fn opening(&self) -> Option<Opening> {
        Some(Opening::Payload)
    }

    fn names_declared(&self, candidate: &Candidate, text: &str, declared: &DeclaredTools) -> bool {
        match &candidate.name {
            Some(name) => declared.has(name),
            None => begins_with_declared(&text[candidate.payload..], declared),
        }
    }
}

/// Whether content begins with the name of a declared tool.
pub(super) fn begins_with_declared(content: &str, declared: &DeclaredTools) -> bool {
    // Only the white space that reading a payload skips: after any other the name may not have arrived yet.
    let content = &content[space_len(content)..];
    declared.has(undecorated_name(&content[..name_len(content)]).trim_end_matches(':'))
}

fn begin_json(candidate: &mut Candidate, at: usize, fenced: bool) -> Step {
    let body = Body::json(at, fenced, candidate.is_bare());
    candidate.read_with(at, body)
}

fn begin_fence(candidate: &mut Candidate, rest: &str, at: usize) -> Step {
    let ((), length) = match_payload_fence(rest).or_text()?;
    begin_json(candidate, at + length, true)
}

fn read_list(candidate: &mut Candidate, text: &str, at: usize, declared: &DeclaredTools) -> Step {
    let is_wrapper = candidate.kind == CandidateKind::Wrapper;
    if is_wrapper
        && candidate.name.is_none()
        && let Some((role, length)) = OPENERS.match_prefix(&text[at..]).or_wait(Verdict::NeedMore)?
    {
        return candidate.nest(role, &text[at..at + length], at);
    }
    let inside = &text[candidate.space.end(text, at + 1)..];
    let Some(first) = inside.chars().next() else { return Break(Verdict::NeedMore) };
    if first == '{' {
        if candidate.kind == CandidateKind::List {
            candidate.kind = CandidateKind::Json;
        }
        return begin_json(candidate, at, false);
    }
    let name = &inside[..name_len(inside)];
    match inside[name.len()..].chars().next() {
        _ if name.is_empty() || name.len() > MAX_NAME_BYTES => Break(Verdict::Text),
        _ if !is_wrapper && !declared.has_prefix(name) => Break(Verdict::Text),
        None => Break(Verdict::NeedMore),
        Some('(') if is_wrapper || declared.has(name) => candidate.read_with(at, PythonCalls::new(at)),
        Some(_) => Break(Verdict::Text),
    }
}

/// Reads a marker directly after the opening one: a wrapper in a wrapper, a function, or parameters of a named call.
fn read_marker(candidate: &mut Candidate, text: &str, at: usize, declared: &DeclaredTools) -> Step {
    let rest = &text[at..];
    let opener = OPENERS.match_prefix(rest).or_wait(Verdict::NeedMore)?;
    let Some(name) = candidate.name.clone() else {
        if let Some((role, length)) = opener {
            return candidate.nest(role, &rest[..length], at);
        }
        if let Some((name, length)) = match_name_element(rest).or_wait(Verdict::NeedMore)? {
            return candidate.read_with(at + length, FunctionElements::new(name.to_owned(), true));
        }
        if match_tool_tag(rest, declared).or_wait(Verdict::NeedMore)?.is_some() {
            return read_tool_tag(candidate, text, at, declared);
        }
        let (_, length) = CLOSERS.match_prefix(rest).or_text()?;
        return Break(Verdict::Unreadable(MalformedReason::Empty, at + length));
    };
    match (PARAMETERS.match_prefix(rest), CLOSERS.match_prefix(rest)) {
        (_, Match::Full(_, length)) => without_arguments(name, at + length),
        (Match::Full(..), _) => candidate.read_with(at, FunctionElements::new(name, true)),
        (Match::None, Match::None) => Break(Verdict::Text),
        _ => Break(Verdict::NeedMore),
    }
}

/// Reads a name before its arguments. After a blank the name must be declared, because it may be prose.
fn read_name_first(candidate: &mut Candidate, text: &str, at: usize, declared: &DeclaredTools) -> Step {
    let rest = &text[at..];
    let (name, after) = rest.split_at(name_len(rest));
    if name.len() > MAX_NAME_BYTES {
        return Break(Verdict::Text);
    }
    if after.is_empty() {
        return Break(Verdict::NeedMore);
    }
    if name == FUNCTION && after.starts_with('=') {
        return candidate.nest(Role::Function, &rest[..=name.len()], at);
    }
    let space = &text[candidate.at..at];
    let may_be_prose =
        !space.is_empty() && !space.contains('\n') && text.starts_with('<') && !candidate.is_control_token;
    if may_be_prose && !declared.has(undecorated_name(name)) {
        return Break(Verdict::Text);
    }
    candidate.name = Some(undecorated_name(name).to_owned());
    let is_gemma = name.starts_with(CALL) || name.starts_with(COLON);
    candidate.read_with(at + name.len(), AfterName { is_separated: false, is_gemma })
}

/// Reads after a name: a separator, JSON, parameters, or the wrapper's end.
struct AfterName {
    is_separated: bool,
    /// Whether the name was written as Gemma does.
    is_gemma: bool,
}

impl Reader for AfterName {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        let at = candidate.space.end(text, candidate.at);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Break(Verdict::NeedMore) };
        match SEPARATORS.match_prefix(rest).or_wait(Verdict::NeedMore)? {
            Some((Role::CallId, length)) => return skip_call_id(candidate, text, at + length),
            Some((_, length)) => {
                (candidate.at, self.is_separated) = (at + length, true);
                return Continue(None);
            }
            None => {}
        }
        let is_declared = || candidate.name.as_deref().is_some_and(|name| declared.has(name));
        match first {
            '{' | '(' if self.is_gemma => candidate.read_with(at, GemmaArguments::new(at)),
            '{' => begin_json(candidate, at, false),
            '(' if !self.is_separated && candidate.kind == CandidateKind::Wrapper && is_declared() => {
                candidate.read_with(at, PythonCalls::new(at))
            }
            '`' if self.is_separated || text[candidate.at..at].contains('\n') => begin_fence(candidate, rest, at),
            '<' => self.read_marker(candidate, rest, at, declared),
            _ if self.is_separated && is_name(first) => {
                // DeepSeek V3 writes the kind of call first; the name follows.
                candidate.name = None;
                candidate.read_with(at, Payload)
            }
            _ => Break(Verdict::Text),
        }
    }

    fn opening(&self) -> Option<Opening> {
        Some(Opening::AfterName)
    }

    fn names_declared(&self, candidate: &Candidate, text: &str, declared: &DeclaredTools) -> bool {
        begins_with_declared(&text[candidate.payload..], declared)
    }
}

impl AfterName {
    /// Reads a marker after a name. Without arguments only a declared name is a call, because a tag may be prose.
    fn read_marker(&self, candidate: &mut Candidate, rest: &str, at: usize, declared: &DeclaredTools) -> Step {
        // The wrapper or the function may name the tool again.
        if self.is_separated
            && let Some((role, length)) = OPENERS.match_prefix(rest).or_wait(Verdict::NeedMore)?
        {
            candidate.name = None;
            return candidate.nest(role, &rest[..length], at);
        }
        let name = candidate.name.clone().unwrap_or_default();
        if match_parameter_tag(rest, &name, declared).or_wait(Verdict::NeedMore)?.is_some() {
            return candidate.read_with(at, FunctionElements::after_name(name));
        }
        match (PARAMETERS.match_prefix(rest), CLOSERS.match_prefix(rest)) {
            (Match::Full(Role::Key | Role::Parameter | Role::ParameterWithAttributes, _), _) => {
                candidate.read_with(at, FunctionElements::new(name, true))
            }
            (_, Match::Full(_, length)) if declared.has(&name) => without_arguments(name, at + length),
            (Match::Partial, _) | (_, Match::Partial) => Break(Verdict::NeedMore),
            _ => Break(Verdict::Text),
        }
    }
}

fn skip_call_id(candidate: &mut Candidate, text: &str, at: usize) -> Step {
    let end = at + name_len(&text[at..]);
    if end - at > MAX_NAME_BYTES {
        return Break(Verdict::Text);
    }
    if end == text.len() {
        return Break(Verdict::NeedMore);
    }
    candidate.at = end;
    Continue(None)
}

/// Elements that hold the tool's name: `<function>f</function>`.
const NAME_ELEMENTS: [[&str; 2]; 3] =
    [["<function>", "</function>"], ["<name>", "</name>"], ["<tool_name>", "</tool_name>"]];

/// Matches an element that holds the tool's name, before a parameter.
fn match_name_element(text: &str) -> Match<&str> {
    let is_open = |[open, _]: &[&str; 2]| Match::literal(text, open, ()).is_found();
    let Some([open, close]) = NAME_ELEMENTS.into_iter().find(is_open) else { return Match::None };
    let Some(inside) = text.strip_prefix(open) else { return Match::Partial };
    let (name, after) = inside.split_at(inside.find('<').unwrap_or(inside.len()));
    let trimmed = name.trim();
    if name.len() > MAX_NAME_BYTES || !trimmed.chars().all(is_name) {
        return Match::None;
    }
    let matched = Match::literal(after, close, ()).and_then(|(), length| match_parameter(&after[length..]));
    let length = open.len() + name.len() + close.len();
    matched.and_then(|(), _| if trimmed.is_empty() { Match::None } else { Match::Full(trimmed, length) })
}

/// A name without the decoration of Kimi K2, Harmony and Gemma: `functions.f:0`, `call:f`, `:f`.
fn undecorated_name(name: &str) -> &str {
    let name = ["functions.", CALL, COLON].into_iter().find_map(|before| name.strip_prefix(before)).unwrap_or(name);
    match name.rsplit_once(':') {
        Some((name, index)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}
