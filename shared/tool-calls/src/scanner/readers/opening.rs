//! Reads an opening marker and what follows it: the content decides how it is read, not the marker (R3).

use std::ops::ControlFlow::{Break, Continue};

use serde_json::Map;

use super::body::Body;
use super::elements::FunctionElements;
use super::gemma::{CALL, COLON, GemmaArguments};
use super::names::{
    MAX_NAME_BYTES, begins_with_declared, match_name_element, match_parameter, read_name_attribute, undecorated_name,
    without_arguments,
};
use super::python::PythonCalls;
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, OPENERS, PARAMETERS, SEPARATORS};
use crate::scanner::attributes::{TAG_END, TOKEN_CALL, TOKEN_END, read_attributes, read_name};
use crate::scanner::candidate::{Candidate, CandidateKind, Opening, Reader, Step, Verdict};
use crate::scanner::fence::match_payload_fence;
use crate::scanner::name::{is_name, name_len};
use crate::scanner::tool_tag::{match_parameter_tag, match_tool_tag};
use crate::segment::MalformedReason;

/// Maximum number of markers between the opening one and the call; each may have to be scanned again as text.
const MAX_NESTED: usize = 8;

pub(in crate::scanner) fn open_marker(role: Role, marker: &str, in_wrapper: bool) -> (Candidate, Box<dyn Reader>) {
    let function = if in_wrapper { CandidateKind::Wrapper } else { CandidateKind::Function };
    let (kind, reader): (_, Box<dyn Reader>) = match role {
        Role::WrapperWithAttributes => (CandidateKind::Wrapper, Box::new(WrapperTag)),
        Role::Function | Role::FunctionWithAttributes => (function, Box::new(FunctionTag)),
        _ => (CandidateKind::Wrapper, Box::new(Payload)),
    };
    let is_control_token = is_control_token(marker);
    (Candidate { is_control_token, ..Candidate::new(kind, marker.len()) }, reader)
}

/// Whether a marker has a bar, in one form or the other, or begins with a bracket that no prose has.
fn is_control_token(marker: &str) -> bool {
    const WIDE_BAR: u8 = "｜".as_bytes()[0];
    marker.starts_with(']') || marker.bytes().any(|byte| matches!(byte, b'|' | WIDE_BAR))
}

/// Continues with the marker at `at`, which directly follows the opening one.
pub(super) fn nest(candidate: &mut Candidate, role: Role, marker: &str, at: usize) -> Step {
    if candidate.nested == MAX_NESTED {
        return Break(Verdict::Text);
    }
    let (inner, reader) = open_marker(role, marker, true);
    *candidate = Candidate {
        marker_len: candidate.marker_len,
        is_control_token: candidate.is_control_token && inner.is_control_token,
        begins_line: candidate.begins_line,
        nested: candidate.nested + 1,
        payload: at + marker.len(),
        at: at + marker.len(),
        ..inner
    };
    Continue(Some(reader))
}

/// Reads `<tool_call name="f">`.
pub(in crate::scanner) struct WrapperTag;

impl Reader for WrapperTag {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, _declared: &DeclaredTools) -> Step {
        let (found, length) = read_attributes(&text[candidate.at..], TAG_END).or_text()?;
        let at = candidate.at + length;
        candidate.payload = at;
        if found.empty {
            return found.name.map_or(Break(Verdict::Text), |name| without_arguments(name, at));
        }
        candidate.name = found.name;
        candidate.read_with(at, Payload)
    }

    fn opening(&self) -> Option<Opening> {
        Some(Opening::WrapperTag)
    }
}

/// Reads `<function=f>` or `<function name="f">`; outside a wrapper the name must be declared, or a parameter must follow.
pub(in crate::scanner) struct FunctionTag;

impl Reader for FunctionTag {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        let (marker, rest) = text.split_at(candidate.at);
        let tag_end = if marker.ends_with(TOKEN_CALL) { TOKEN_END } else { TAG_END };
        // After a blank the name is an attribute.
        let found = if marker.ends_with(' ') { read_name_attribute(rest, tag_end) } else { read_name(rest) };
        let ((name, empty), length) = found.or_text()?;
        let name = declared.undoubled(&name).to_owned();
        if candidate.kind != CandidateKind::Wrapper && !declared.has(&name) {
            if empty { Match::None } else { match_parameter(&rest[length..]) }.or_text()?;
        }
        let at = candidate.at + length;
        if empty { without_arguments(name, at) } else { candidate.read_with(at, FunctionElements::new(name, false)) }
    }

    fn opening(&self) -> Option<Opening> {
        Some(Opening::FunctionTag)
    }

    fn names_declared(&self, candidate: &Candidate, text: &str, declared: &DeclaredTools) -> bool {
        begins_with_declared(&text[candidate.payload..], declared)
    }
}

/// Reads `<f>` or `<f/>` at the beginning of the candidate.
pub(in crate::scanner) struct ToolTag;

impl Reader for ToolTag {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        read_tool_tag(candidate, text, 0, declared)
    }
}

pub(super) fn read_tool_tag(candidate: &mut Candidate, text: &str, at: usize, declared: &DeclaredTools) -> Step {
    let (tag, length) = match_tool_tag(&text[at..], declared).or_text()?;
    let (name, end) = (tag.name.to_owned(), at + length);
    if !tag.is_empty {
        candidate.payload = end;
        return candidate.read_with(end, FunctionElements::in_tool_tag(name));
    }
    if declared.has_required(&name, &Map::new()) { without_arguments(name, end) } else { Break(Verdict::Text) }
}

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
        return nest(candidate, role, &text[at..at + length], at);
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
            return nest(candidate, role, &rest[..length], at);
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
        return nest(candidate, Role::Function, &rest[..=name.len()], at);
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
            return nest(candidate, role, &rest[..length], at);
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
