//! Reads tags that open a call and carry its name.

use std::ops::ControlFlow::Break;

use serde_json::{Map, Value};

use super::elements::FunctionElements;
use super::payload::{Payload, begins_with_declared};
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{Match, PARAMETERS};
use crate::scanner::attributes::{TAG_END, TOKEN_CALL, TOKEN_END, read_attributes, read_name, space_len};
use crate::scanner::candidate::{Candidate, CandidateKind};
use crate::scanner::reader::{Opening, Reader, Step, Verdict};
use crate::scanner::tool_tag::match_tool_tag;
use crate::segment::ParsedCall;

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

/// Reads `<f>` or `<f/>` at `at`.
pub(super) fn read_tool_tag(candidate: &mut Candidate, text: &str, at: usize, declared: &DeclaredTools) -> Step {
    let (tag, length) = match_tool_tag(&text[at..], declared).or_text()?;
    let (name, end) = (tag.name.to_owned(), at + length);
    if !tag.is_empty {
        candidate.payload = end;
        return candidate.read_with(end, FunctionElements::in_tool_tag(name));
    }
    if declared.has_required(&name, &Map::new()) { without_arguments(name, end) } else { Break(Verdict::Text) }
}

/// Maximum length of white space between a function's tag and its first parameter, in bytes.
const MAX_SPACE_BYTES: usize = 64;

/// Matches the tag of a parameter at the beginning of a text.
pub(super) fn match_parameter(text: &str) -> Match<()> {
    let space = space_len(text);
    match PARAMETERS.match_prefix(&text[space..]) {
        _ if space > MAX_SPACE_BYTES => Match::None,
        Match::Full(Role::Parameter | Role::ParameterWithAttributes | Role::Key, length) => {
            Match::Full((), space + length)
        }
        Match::Partial => Match::Partial,
        _ => Match::None,
    }
}

fn read_name_attribute(text: &str, tag_end: &str) -> Match<(String, bool)> {
    read_attributes(text, tag_end).and_then(|found, length| match found.name {
        Some(name) => Match::Full((name, found.empty), length),
        None => Match::None,
    })
}

/// A call that ends here and has no arguments.
pub(super) fn without_arguments(name: String, end: usize) -> Step {
    Break(Verdict::Calls(vec![ParsedCall { name, arguments: Value::Object(Map::new()) }], end))
}
