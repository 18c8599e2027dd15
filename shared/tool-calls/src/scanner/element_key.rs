//! Parameters whose name is in an element of its own: `<arg_key>q</arg_key><arg_value>a</arg_value>`.

use super::element_stage::{ElementStage, ElementStep, MAX_KEY_BYTES};
use super::elements::FunctionElements;
use super::parameter::{Parameter, element_prefix};
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{Match, PARAMETERS, VALUES};
use crate::segment::MalformedReason;

impl FunctionElements {
    /// Reads the name and its end, and the beginning of the value.
    pub(super) fn read_key(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let window = &text[at..text.floor_char_boundary(at + MAX_KEY_BYTES)];
        let Some(end) = window.find('<') else {
            let is_too_long = at + window.len() < text.len();
            return if is_too_long {
                ElementStep::Unreadable(MalformedReason::NotParameters, at)
            } else {
                ElementStep::NeedMore(at)
            };
        };
        let key = text[at..at + end].trim().to_owned();
        let at_end = at + end;
        let (role, length) = match PARAMETERS.match_prefix(&text[at_end..]) {
            Match::Full(role, length) => (role, length),
            Match::Partial => return ElementStep::NeedMore(at),
            Match::None => return ElementStep::Unreadable(MalformedReason::NotParameters, at),
        };
        let prefix = element_prefix(&text[at_end..at_end + length]).to_owned();
        let has_any = declared.is_untyped(&self.name) || !declared.has(&self.name);
        let is_known = has_any && !key.contains(char::is_whitespace) || declared.parameter(&self.name, &key).is_some();
        match role {
            Role::KeyEnd => {}
            Role::ParameterEnd if is_known && prefix.is_empty() => {
                let start = at_end + length;
                let parameter = Parameter::new(key, None, start, prefix).following_element();
                self.stage = ElementStage::Value(parameter);
                return ElementStep::Continue(start);
            }
            _ => return ElementStep::Unreadable(MalformedReason::NotParameters, at),
        }
        let after_key = self.space.end(text, at_end + length);
        let (kind, value) = match match_type(&text[after_key..]) {
            Match::Full(kind, length) => (Some(kind), self.space.end(text, after_key + length)),
            Match::Partial => return ElementStep::NeedMore(at),
            Match::None => (None, after_key),
        };
        match VALUES.match_prefix(&text[value..]) {
            Match::Full(_, length) => {
                let string =
                    kind.filter(|_| declared.parameter(&self.name, &key).is_none()).map(|kind| kind == "string");
                let parameter = Parameter::new(key, string, value + length, prefix).that_keeps_line_end();
                self.stage = ElementStage::Value(parameter);
                ElementStep::Continue(value + length)
            }
            Match::Partial => ElementStep::NeedMore(at),
            Match::None => ElementStep::Unreadable(MalformedReason::NotParameters, at),
        }
    }
}

/// Matches the element with which K2 Horizon names the type of a value, before the value.
fn match_type(text: &str) -> Match<&str> {
    const OPEN: &str = "<ifm|arg_type>";
    const CLOSE: &str = "</ifm|arg_type>";
    const MAX_BYTES: usize = 64;
    let Some(inside) = text.strip_prefix(OPEN) else {
        return if OPEN.starts_with(text) { Match::Partial } else { Match::None };
    };
    let window = &inside[..inside.floor_char_boundary(MAX_BYTES)];
    match window.find(CLOSE) {
        Some(end) => Match::Full(inside[..end].trim(), OPEN.len() + end + CLOSE.len()),
        None if window.len() == inside.len() => Match::Partial,
        None => Match::None,
    }
}
