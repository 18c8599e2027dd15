//! Parameters whose name is in their tag, or in an element of its own: `<arg_key>q</arg_key><arg_value>a</arg_value>`.

use std::borrow::Cow;
use std::ops::ControlFlow::Continue;

use serde_json::Value;

use super::elements::{
    ElementEnd, ElementStage, ElementStep, FunctionElements, MAX_KEY_BYTES, need_more, not_parameters,
};
use super::nested_elements;
use super::parameter::{Parameter, TOKEN_PREFIX, element_prefix};
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{Match, PARAMETERS, VALUES};
use crate::parameter_value;
use crate::scanner::attributes::{TAG_END, TOKEN_END, read_attributes, read_name};

impl FunctionElements {
    pub(super) fn read_tag(&mut self, text: &str, at: usize) -> ElementStep {
        let ElementStage::Tag { attributes: with_attributes, prefix } = &mut self.stage else {
            return Continue(at);
        };
        let rest = &text[at..];
        let tag = if *with_attributes {
            let tag_end = if prefix == TOKEN_PREFIX { TOKEN_END } else { TAG_END };
            read_attributes(rest, tag_end).map(|found| (found.name, found.string))
        } else {
            read_name(rest).map(|(name, _)| (Some(name), None))
        };
        let Some(((Some(key), string), length)) = tag.or_wait(ElementEnd::NeedMore(at))? else {
            return not_parameters(at);
        };
        let prefix = std::mem::take(prefix);
        let start = at + length;
        let parameter = Parameter { key, string, start, prefix, keeps_line_end: true, ..Parameter::default() };
        self.stage = ElementStage::Value(parameter);
        Continue(start)
    }

    pub(super) fn read_value(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let ElementStage::Value(parameter) = &mut self.stage else { return Continue(at) };
        match PARAMETERS.find(text, at) {
            Ok((end, _, after))
                if element_prefix(&text[end..after]) != parameter.prefix
                    || (text[end..after].eq_ignore_ascii_case("<parameter>") && !parameter.follows_element) =>
            {
                Continue(after)
            }
            Ok((end, Role::Key, after)) if !parameter.prefix.is_empty() => {
                let window = &text[..text.floor_char_boundary(after + MAX_KEY_BYTES)];
                match PARAMETERS.find(window, after) {
                    Ok((_, Role::KeyEnd, _)) => {
                        // The value lacks its end tag.
                        let start = parameter.start;
                        self.set_argument(&text[start..end], declared);
                        self.last_argument_end = end;
                        Continue(end)
                    }
                    Err(_) if window.len() == text.len() => need_more(end),
                    _ => Continue(after),
                }
            }
            Ok((end, _, after)) if parameter.literal.is_open_at(text, parameter.start, end) => Continue(after),
            Ok((end, _, after)) if parameter.ends_in_json_string(&text[..end], &self.name, declared) => Continue(after),
            // A parameter without a name.
            Ok((end, role, _))
                if parameter.follows_element
                    && role != Role::ParameterEnd
                    && text[parameter.start..end].trim().is_empty() =>
            {
                not_parameters(end)
            }
            Ok((end, role, after)) => {
                let start = parameter.start;
                self.set_argument(&text[start..end], declared);
                self.last_argument_end = if role == Role::ParameterEnd { after } else { end };
                Continue(self.last_argument_end)
            }
            Err(next) => need_more(next),
        }
    }

    pub(super) fn set_argument(&mut self, text: &str, declared: &DeclaredTools) {
        let stage = std::mem::take(&mut self.stage);
        let is_named = matches!(stage, ElementStage::Named(_));
        let (ElementStage::Value(parameter) | ElementStage::Named(parameter)) = stage else { return };
        let Parameter { key, string, keeps_line_end, .. } = parameter;
        // A line break at the end is markup as if one were at the beginning too.
        let is_open = !keeps_line_end && text.ends_with('\n') && !text.starts_with('\n');
        let text = &*if is_open { Cow::Owned(format!("\n{text}")) } else { Cow::Borrowed(text) };
        let (schema, is_untyped) = (declared.parameter(&self.name, &key), declared.is_untyped(&self.name));
        let nested = if is_named { nested_elements::parse_value(text, schema, is_untyped) } else { None };
        let value = nested.unwrap_or_else(|| parameter_value::parse_parameter(text, string, schema, is_untyped));
        // A repeated parameter extends a list, unless its schema allows no list.
        let list = schema.is_none_or(|schema| parameter_value::schema_types(schema).contains(&"array"));
        match self.arguments.get_mut(&key) {
            Some(Value::Array(values)) if list => values.push(value),
            Some(first) if list => *first = Value::Array(vec![first.take(), value]),
            _ => {
                self.arguments.insert(key, value);
            }
        }
    }

    /// Reads the name and its end, and the beginning of the value.
    pub(super) fn read_key(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let window = &text[at..text.floor_char_boundary(at + MAX_KEY_BYTES)];
        let Some(end) = window.find('<') else {
            let is_too_long = at + window.len() < text.len();
            return if is_too_long { not_parameters(at) } else { need_more(at) };
        };
        let key = text[at..at + end].trim().to_owned();
        let at_end = at + end;
        let Some((role, length)) = PARAMETERS.match_prefix(&text[at_end..]).or_wait(ElementEnd::NeedMore(at))? else {
            return not_parameters(at);
        };
        let prefix = element_prefix(&text[at_end..at_end + length]).to_owned();
        let has_any = declared.is_untyped(&self.name) || !declared.has(&self.name);
        let is_known = has_any && !key.contains(char::is_whitespace) || declared.parameter(&self.name, &key).is_some();
        match role {
            Role::KeyEnd => {}
            Role::ParameterEnd if is_known && prefix.is_empty() => {
                let start = at_end + length;
                let parameter = Parameter { key, start, prefix, follows_element: true, ..Parameter::default() };
                self.stage = ElementStage::Value(parameter);
                return Continue(start);
            }
            _ => return not_parameters(at),
        }
        let after_key = self.space.end(text, at_end + length);
        let kind = match_type(&text[after_key..]).or_wait(ElementEnd::NeedMore(at))?;
        let value = kind.map_or(after_key, |(_, length)| self.space.end(text, after_key + length));
        let Some((_, length)) = VALUES.match_prefix(&text[value..]).or_wait(ElementEnd::NeedMore(at))? else {
            return not_parameters(at);
        };
        let is_known = declared.parameter(&self.name, &key).is_some();
        let string = kind.filter(|_| !is_known).map(|(kind, _)| kind == "string");
        let start = value + length;
        let parameter = Parameter { key, string, start, prefix, keeps_line_end: true, ..Parameter::default() };
        self.stage = ElementStage::Value(parameter);
        Continue(start)
    }
}

/// Matches the element with which K2 Horizon names the type of a value, before the value.
fn match_type(text: &str) -> Match<&str> {
    const OPEN: &str = "<ifm|arg_type>";
    const CLOSE: &str = "</ifm|arg_type>";
    const MAX_BYTES: usize = 64;
    Match::literal(text, OPEN, ()).and_then(|(), length| {
        let inside = &text[length..];
        let window = &inside[..inside.floor_char_boundary(MAX_BYTES)];
        match window.find(CLOSE) {
            Some(end) => Match::Full(inside[..end].trim(), length + end + CLOSE.len()),
            None if window.len() == inside.len() => Match::Partial,
            None => Match::None,
        }
    })
}
