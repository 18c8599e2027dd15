use std::borrow::Cow;

use serde_json::{Map, Value};

use super::attributes::{TAG_END, TOKEN_END, read_attributes, read_name, space_len};
use super::element_stage::{ElementStage, ElementStep, MAX_KEY_BYTES};
use super::markup_end::find_closer_after_markup;
use super::nested_elements;
use super::parameter::{Parameter, TOKEN_PREFIX, element_prefix};
use super::space::SpaceScan;
use crate::declared_tools::DeclaredTools;
use crate::json::ScanStep;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, OPENERS, PARAMETERS};
use crate::parameter_value;
use crate::repair::repair;
use crate::segment::{JsonFault, MalformedReason, ParsedCall};

/// The content of a function written as XML: parameters one by one, or its arguments as one JSON object.
pub(super) struct FunctionElements {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) stage: ElementStage,
    /// Where the last argument ends.
    pub(super) last_argument_end: usize,
    /// Whether a wrapper's end tag closes the function, as in `<tool_call>f<arg_key>…`, instead of its own end tag.
    closed_by_wrapper: bool,
    /// Whether the function may end with a tag that is its name.
    pub(super) has_end_tag: bool,
    /// Whether its name is on a line of its own, without a tag.
    pub(super) is_after_name_line: bool,
    /// Nested parameters have no end before this position.
    nested_from: usize,
    pub(super) space: SpaceScan,
}

impl FunctionElements {
    pub(super) fn new(name: String, closed_by_wrapper: bool) -> Self {
        Self {
            name,
            arguments: Map::new(),
            stage: ElementStage::Between,
            last_argument_end: 0,
            closed_by_wrapper,
            has_end_tag: false,
            is_after_name_line: false,
            nested_from: 0,
            space: SpaceScan::default(),
        }
    }

    /// The content of `<f>`.
    pub(super) fn in_tool_tag(name: String) -> Self {
        Self { has_end_tag: true, ..Self::new(name, false) }
    }

    /// The content after a line with the name.
    pub(super) fn after_name_line(name: String) -> Self {
        Self { is_after_name_line: true, ..Self::in_tool_tag(name) }
    }

    /// The content of a wrapper whose name precedes its elements: `f`, then `<q>a</q>`.
    pub(super) fn after_name(name: String) -> Self {
        Self { closed_by_wrapper: true, ..Self::in_tool_tag(name) }
    }

    /// Whether the tag is the function's name.
    pub(super) fn is_in_tool_tag(&self) -> bool {
        self.has_end_tag && !self.closed_by_wrapper
    }

    /// The function's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether any content after the function's name has been read.
    pub(super) fn has_content(&self) -> bool {
        let is_open = matches!(
            self.stage,
            ElementStage::Between | ElementStage::Unknown { .. } | ElementStage::Yaml { is_certain: false, .. }
        );
        !self.arguments.is_empty() || !is_open
    }

    /// Continues at position `at`.
    pub(super) fn step(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        match &self.stage {
            ElementStage::Between => self.read_between(text, at, declared),
            ElementStage::Tag { .. } => self.read_tag(text, at),
            ElementStage::Key => self.read_key(text, at, declared),
            ElementStage::Value(_) => self.read_value(text, at, declared),
            ElementStage::Named { .. } => self.read_named(text, at, declared),
            ElementStage::Unknown { .. } => self.skip_unknown_element(text, at, declared),
            ElementStage::Yaml { .. } => self.read_yaml(text, at, declared),
            ElementStage::Json { .. } => self.read_json(text, at),
        }
    }

    /// Ends the text: returns a call if everything in it was closed, else the reason why not.
    ///
    /// A value closed only by a wrapper's end tag counts as closed.
    pub(super) fn finish(
        &mut self,
        text: &str,
        declared: &DeclaredTools,
    ) -> Result<(ParsedCall, usize), MalformedReason> {
        match &self.stage {
            ElementStage::Between | ElementStage::Unknown { .. } if self.may_end_unclosed(declared) => {
                Ok((self.take_call(), self.last_argument_end))
            }
            ElementStage::Value(parameter) => match CLOSERS.find(text, parameter.start) {
                Ok((end, _, _)) if !parameter.is_in_string() => {
                    let start = parameter.start;
                    self.set_argument(&text[start..end], declared);
                    Ok((self.take_call(), end))
                }
                _ => Err(MalformedReason::NotParameters),
            },
            ElementStage::Named { .. } => self.finish_named(text, declared),
            ElementStage::Yaml { .. } => self.finish_yaml(text, declared),
            ElementStage::Between | ElementStage::Unknown { .. } | ElementStage::Tag { .. } | ElementStage::Key => {
                Err(MalformedReason::NotParameters)
            }
            ElementStage::Json { .. } => Err(MalformedReason::NotJson(JsonFault::Incomplete)),
        }
    }

    fn read_between(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let at = at + space_len(&text[at..]);
        let rest = &text[at..];
        if rest.starts_with('{') && self.arguments.is_empty() {
            self.stage = ElementStage::Json { scan: Box::default(), start: at };
            return ElementStep::Continue(at);
        }
        if rest.starts_with(nested_elements::TOKEN) && self.arguments.is_empty() {
            return self.read_nested(text, at, declared);
        }
        if nested_elements::TOKEN.starts_with(rest) && !rest.is_empty() {
            return ElementStep::NeedMore(at);
        }
        match PARAMETERS.match_prefix(rest) {
            Match::Full(Role::FunctionEnd, length) => return ElementStep::Call(self.take_call(), at + length),
            Match::Full(Role::ParameterEnd, length) => return ElementStep::Continue(at + length),
            Match::Full(role, length) => {
                self.stage = match role {
                    Role::Key => ElementStage::Key,
                    role => ElementStage::Tag {
                        attributes: role == Role::ParameterWithAttributes,
                        prefix: element_prefix(&rest[..length]).to_owned(),
                    },
                };
                return ElementStep::Continue(at + length);
            }
            Match::Partial => return ElementStep::NeedMore(at),
            Match::None => {}
        }
        if let Some(step) = self.read_own_names(text, at, declared) {
            return step;
        }
        match CLOSERS.match_prefix(rest) {
            Match::Full(_, length) => return ElementStep::Call(self.take_call(), at + length),
            Match::Partial => return ElementStep::NeedMore(at),
            Match::None => {}
        }
        let opener = OPENERS.match_prefix(rest);
        if let (Match::None, Some(step)) = (opener, self.read_unknown_element(text, at)) {
            return step;
        }
        match opener {
            Match::Partial => ElementStep::NeedMore(at),
            Match::Full(..) if !self.arguments.is_empty() => {
                ElementStep::Call(self.take_call(), self.last_argument_end)
            }
            Match::None if self.may_end_unclosed(declared) => match find_closer_after_markup(rest) {
                Match::Full((), _) => ElementStep::Unreadable(MalformedReason::NotParameters, at),
                Match::Partial => ElementStep::NeedMore(at),
                Match::None => ElementStep::Call(self.take_call(), self.last_argument_end),
            },
            _ => ElementStep::Unreadable(MalformedReason::NotParameters, at),
        }
    }

    /// Reads all parameters of the form with nested elements.
    fn read_nested(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let from = at.max(self.nested_from);
        let Some(end) = text[from..].find(nested_elements::END).map(|found| from + found) else {
            self.nested_from = text.floor_char_boundary(text.len().saturating_sub(nested_elements::END.len()));
            return ElementStep::NeedMore(at);
        };
        let after = end + nested_elements::END.len();
        match nested_elements::parse_parameters(&text[at..end], &self.name, declared) {
            Some(arguments) => {
                self.arguments = arguments;
                ElementStep::Call(self.take_call(), after)
            }
            None => ElementStep::Unreadable(MalformedReason::NotParameters, at),
        }
    }

    fn read_tag(&mut self, text: &str, at: usize) -> ElementStep {
        let ElementStage::Tag { attributes: with_attributes, prefix } = &mut self.stage else {
            return ElementStep::Continue(at);
        };
        let rest = &text[at..];
        let (key, string, length) = if *with_attributes {
            let tag_end = if prefix == TOKEN_PREFIX { TOKEN_END } else { TAG_END };
            match read_attributes(rest, tag_end) {
                Match::Full(found, length) => (found.name, found.string, length),
                Match::Partial => return ElementStep::NeedMore(at),
                Match::None => (None, None, 0),
            }
        } else {
            match read_name(rest) {
                Match::Full((found, _), length) => (Some(found), None, length),
                Match::Partial => return ElementStep::NeedMore(at),
                Match::None => (None, None, 0),
            }
        };
        let Some(key) = key else { return ElementStep::Unreadable(MalformedReason::NotParameters, at) };
        let prefix = std::mem::take(prefix);
        self.stage = ElementStage::Value(Parameter::new(key, string, at + length, prefix).that_keeps_line_end());
        ElementStep::Continue(at + length)
    }

    fn read_value(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let ElementStage::Value(parameter) = &mut self.stage else { return ElementStep::Continue(at) };
        match PARAMETERS.find(text, at) {
            Ok((end, _, after))
                if element_prefix(&text[end..after]) != parameter.prefix
                    || (text[end..after].eq_ignore_ascii_case("<parameter>") && !parameter.follows_element) =>
            {
                ElementStep::Continue(after)
            }
            Ok((end, Role::Key, after)) if !parameter.prefix.is_empty() => {
                let window = &text[..text.floor_char_boundary(after + MAX_KEY_BYTES)];
                match PARAMETERS.find(window, after) {
                    Ok((_, Role::KeyEnd, _)) => {
                        // The value lacks its end tag.
                        let start = parameter.start;
                        self.set_argument(&text[start..end], declared);
                        self.last_argument_end = end;
                        ElementStep::Continue(end)
                    }
                    Err(_) if window.len() == text.len() => ElementStep::NeedMore(end),
                    _ => ElementStep::Continue(after),
                }
            }
            Ok((end, _, after)) if parameter.literal.is_open_at(text, parameter.start, end) => {
                ElementStep::Continue(after)
            }
            Ok((end, _, after)) if parameter.ends_in_json_string(&text[..end], &self.name, declared) => {
                ElementStep::Continue(after)
            }
            // A parameter without a name.
            Ok((end, role, _))
                if parameter.follows_element
                    && role != Role::ParameterEnd
                    && text[parameter.start..end].trim().is_empty() =>
            {
                ElementStep::Unreadable(MalformedReason::NotParameters, end)
            }
            Ok((end, role, after)) => {
                let start = parameter.start;
                self.set_argument(&text[start..end], declared);
                self.last_argument_end = if role == Role::ParameterEnd { after } else { end };
                ElementStep::Continue(self.last_argument_end)
            }
            Err(next) => ElementStep::NeedMore(next),
        }
    }

    /// Whether a missing end tag is tolerated: no required argument is missing.
    pub(super) fn may_end_unclosed(&self, declared: &DeclaredTools) -> bool {
        let is_complete = !declared.has(&self.name) || declared.has_required(&self.name, &self.arguments);
        !self.arguments.is_empty() && (self.closed_by_wrapper || is_complete)
    }

    pub(super) fn set_argument(&mut self, text: &str, declared: &DeclaredTools) {
        let (key, string, is_named, keeps_line_end) = match std::mem::replace(&mut self.stage, ElementStage::Between) {
            ElementStage::Value(parameter) => (parameter.key, parameter.string, false, parameter.keeps_line_end),
            ElementStage::Named { key, .. } => (key, None, true, false),
            _ => return,
        };
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

    fn read_json(&mut self, text: &str, at: usize) -> ElementStep {
        let ElementStage::Json { scan, start } = &mut self.stage else { return ElementStep::Continue(at) };
        let end = match scan.advance(text, at) {
            ScanStep::NeedMore(next) | ScanStep::EarlyCheck(next) => return ElementStep::NeedMore(next),
            ScanStep::End(end) => end,
            ScanStep::Foreign(position) => match CLOSERS.match_prefix(&text[position..]) {
                Match::Full(..) => position,
                Match::Partial => return ElementStep::NeedMore(position),
                Match::None => return ElementStep::Continue(scan.skip_foreign(position)),
            },
        };
        let value = scan.take().or_else(|| if scan.is_in_string() { None } else { repair(&text[*start..end]) });
        let Some(Value::Object(arguments)) = value else {
            return ElementStep::Unreadable(MalformedReason::NotJson(JsonFault::Unreadable), end);
        };
        self.arguments = arguments;
        self.stage = ElementStage::Between;
        self.last_argument_end = end;
        ElementStep::Continue(end)
    }

    pub(super) fn take_call(&mut self) -> ParsedCall {
        ParsedCall {
            name: std::mem::take(&mut self.name),
            arguments: Value::Object(std::mem::take(&mut self.arguments)),
        }
    }
}
