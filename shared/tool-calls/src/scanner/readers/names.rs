use std::ops::ControlFlow::Break;

use serde_json::{Map, Value};

use super::gemma::{CALL, COLON};
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{Match, PARAMETERS};
use crate::scanner::attributes::{read_attributes, space_len};
use crate::scanner::candidate::{Step, Verdict};
use crate::scanner::name::{is_name, name_len};
use crate::segment::ParsedCall;

/// Maximum length of a name before its arguments, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 128;

pub(super) fn begins_with_declared(content: &str, declared: &DeclaredTools) -> bool {
    // Only the white space that reading a payload skips: after any other the name may not have arrived yet.
    let content = &content[space_len(content)..];
    declared.has(undecorated_name(&content[..name_len(content)]).trim_end_matches(':'))
}

/// Elements that hold the tool's name: `<function>f</function>`.
const NAME_ELEMENTS: [[&str; 2]; 3] =
    [["<function>", "</function>"], ["<name>", "</name>"], ["<tool_name>", "</tool_name>"]];

/// Matches an element that holds the tool's name, before a parameter.
pub(super) fn match_name_element(text: &str) -> Match<&str> {
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
pub(super) fn undecorated_name(name: &str) -> &str {
    let name = ["functions.", CALL, COLON].into_iter().find_map(|before| name.strip_prefix(before)).unwrap_or(name);
    match name.rsplit_once(':') {
        Some((name, index)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

const MAX_SPACE_BYTES: usize = 64;

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

pub(super) fn read_name_attribute(text: &str, tag_end: &str) -> Match<(String, bool)> {
    read_attributes(text, tag_end).and_then(|found, length| match found.name {
        Some(name) => Match::Full((name, found.empty), length),
        None => Match::None,
    })
}

pub(super) fn without_arguments(name: String, end: usize) -> Step {
    Break(Verdict::Calls(vec![ParsedCall { name, arguments: Value::Object(Map::new()) }], end))
}
