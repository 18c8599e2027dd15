use serde_json::{Map, Value};

use super::attributes::{read_attributes, read_name, space_len};
use super::parameter::{GLM_PREFIX, Parameter, element_prefix};
use super::space::SpaceScan;
use crate::declared_tools::DeclaredTools;
use crate::json::{JsonScan, ScanStep};
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, OPENERS, PARAMETERS};
use crate::parameter_value;
use crate::repair::repair;
use crate::segment::{JsonFault, MalformedReason, ParsedCall};

/// The content of a function written as XML: parameters one by one, or its arguments as one JSON object.
pub(super) struct FunctionElements {
    name: String,
    arguments: Map<String, Value>,
    stage: ElementStage,
    /// Where the last argument ends.
    last_argument_end: usize,
    /// Whether a wrapper's end tag closes the function, as in `<tool_call>f<arg_key>…`, instead of its own end tag.
    closed_by_wrapper: bool,
    space: SpaceScan,
}

enum ElementStage {
    /// Before a parameter or the end.
    Between,
    /// In the tag of a parameter whose element has this prefix.
    Tag { attributes: bool, prefix: String },
    /// In the text between `<arg_key>` and `</arg_key>`.
    Key,
    /// In a value.
    Value(Parameter),
    /// In a JSON object that began at `start`.
    Json { scan: Box<JsonScan>, start: usize },
}

/// The result of [`FunctionElements::step`].
pub(super) enum ElementStep {
    /// Continue from this position.
    Continue(usize),
    /// More text is needed; then continue from this position.
    NeedMore(usize),
    /// The call is complete and ends before this position.
    Call(ParsedCall, usize),
    /// From this position on the text is not a valid function.
    Unreadable(MalformedReason, usize),
}

impl FunctionElements {
    pub(super) fn new(name: String, closed_by_wrapper: bool) -> Self {
        Self {
            name,
            arguments: Map::new(),
            stage: ElementStage::Between,
            last_argument_end: 0,
            closed_by_wrapper,
            space: SpaceScan::default(),
        }
    }

    /// Whether any content after the function's name has been read.
    pub(super) fn has_content(&self) -> bool {
        !self.arguments.is_empty() || !matches!(self.stage, ElementStage::Between)
    }

    /// Continues at position `at`.
    pub(super) fn step(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        match &self.stage {
            ElementStage::Between => self.read_between(text, at, declared),
            ElementStage::Tag { .. } => self.read_tag(text, at),
            ElementStage::Key => self.read_key(text, at),
            ElementStage::Value(_) => self.read_value(text, at, declared),
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
            ElementStage::Between if self.may_end_unclosed(declared) => Ok((self.take_call(), self.last_argument_end)),
            ElementStage::Value(parameter) => match CLOSERS.find(text, parameter.start) {
                Ok((end, _, _)) if !parameter.is_in_string() => {
                    let start = parameter.start;
                    self.set_argument(&text[start..end], declared);
                    Ok((self.take_call(), end))
                }
                _ => Err(MalformedReason::NotParameters),
            },
            ElementStage::Between | ElementStage::Tag { .. } | ElementStage::Key => Err(MalformedReason::NotParameters),
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
        match CLOSERS.match_prefix(rest) {
            Match::Full(_, length) => return ElementStep::Call(self.take_call(), at + length),
            Match::Partial => return ElementStep::NeedMore(at),
            Match::None => {}
        }
        match OPENERS.match_prefix(rest) {
            Match::Partial => ElementStep::NeedMore(at),
            Match::Full(..) if !self.arguments.is_empty() => {
                ElementStep::Call(self.take_call(), self.last_argument_end)
            }
            Match::None if self.may_end_unclosed(declared) => {
                ElementStep::Call(self.take_call(), self.last_argument_end)
            }
            _ => ElementStep::Unreadable(MalformedReason::NotParameters, at),
        }
    }

    fn read_tag(&mut self, text: &str, at: usize) -> ElementStep {
        let ElementStage::Tag { attributes: with_attributes, prefix } = &mut self.stage else {
            return ElementStep::Continue(at);
        };
        let rest = &text[at..];
        let (key, string, length) = if *with_attributes {
            match read_attributes(rest) {
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
        self.stage = ElementStage::Value(Parameter::new(key, string, at + length, prefix));
        ElementStep::Continue(at + length)
    }

    fn read_key(&mut self, text: &str, at: usize) -> ElementStep {
        const VALUE: &str = "<arg_value>";
        let Some(end) = text[at..].find('<') else { return ElementStep::NeedMore(at) };
        let key = text[at..at + end].trim().to_owned();
        let at_end = at + end;
        let Match::Full(Role::KeyEnd, length) = PARAMETERS.match_prefix(&text[at_end..]) else {
            let short = PARAMETERS.match_prefix(&text[at_end..]) == Match::Partial;
            return if short {
                ElementStep::NeedMore(at)
            } else {
                ElementStep::Unreadable(MalformedReason::NotParameters, at)
            };
        };
        let value = self.space.end(text, at_end + length);
        let rest = &text[value..];
        if let Some(inside) = rest.strip_prefix(VALUE) {
            let start = text.len() - inside.len();
            self.stage = ElementStage::Value(Parameter::new(key, None, start, GLM_PREFIX.to_owned()));
            return ElementStep::Continue(start);
        }
        if VALUE.starts_with(rest) {
            ElementStep::NeedMore(at)
        } else {
            ElementStep::Unreadable(MalformedReason::NotParameters, at)
        }
    }

    fn read_value(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let ElementStage::Value(parameter) = &mut self.stage else { return ElementStep::Continue(at) };
        match PARAMETERS.find(text, at) {
            Ok((end, _, after)) if element_prefix(&text[end..after]) != parameter.prefix => {
                ElementStep::Continue(after)
            }
            Ok((end, _, after)) if parameter.ends_in_json_string(&text[..end], &self.name, declared) => {
                ElementStep::Continue(after)
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
    fn may_end_unclosed(&self, declared: &DeclaredTools) -> bool {
        !self.arguments.is_empty() && (self.closed_by_wrapper || declared.has_required(&self.name, &self.arguments))
    }

    fn set_argument(&mut self, text: &str, declared: &DeclaredTools) {
        let ElementStage::Value(parameter) = std::mem::replace(&mut self.stage, ElementStage::Between) else { return };
        let Parameter { key, string, .. } = parameter;
        let schema = declared.parameter(&self.name, &key);
        let value = parameter_value::parse_parameter(text, string, schema, declared.is_untyped(&self.name));
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

    fn take_call(&mut self) -> ParsedCall {
        ParsedCall {
            name: std::mem::take(&mut self.name),
            arguments: Value::Object(std::mem::take(&mut self.arguments)),
        }
    }
}
