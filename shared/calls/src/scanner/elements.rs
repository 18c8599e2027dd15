use serde_json::{Map, Value};

use super::attributes::{attributes, name, space};
use super::parameter::{PAIR, Parameter, prefix};
use crate::declared::Declared;
use crate::json::{Scan, Seen};
use crate::markers::{CLOSERS, Look, OPENERS, PARAMETERS, Role};
use crate::piece::ParsedCall;
use crate::repair::repair;
use crate::typed;

/// The content of a function written as XML: parameters one by one, or its arguments as one JSON object.
pub(super) struct Elements {
    name: String,
    arguments: Map<String, Value>,
    stage: Stage,
    /// Where the last argument ends.
    closed_at: usize,
    /// Whether a wrapper's end tag closes the function, as in `<tool_call>f<arg_key>…`, instead of its own end tag.
    wrapped: bool,
}

enum Stage {
    /// Before a parameter or the end.
    Between,
    /// In the tag of a parameter whose element has this prefix.
    Tag { attributes: bool, prefix: String },
    /// In the text between `<arg_key>` and `</arg_key>`.
    Key,
    /// In a value.
    Value(Parameter),
    /// In a JSON object that began at `start`.
    Json { scan: Box<Scan>, start: usize },
}

/// The result of [`FunctionElements::step`].
pub(super) enum Inside {
    /// Continue from this position.
    On(usize),
    /// More text is needed; then continue from this position.
    More(usize),
    /// The call is complete and ends before this position.
    Call(ParsedCall, usize),
    /// From this position on the text is not a valid function.
    Unreadable(&'static str, usize),
}

impl Elements {
    pub(super) fn new(name: String, wrapped: bool) -> Self {
        Self { name, arguments: Map::new(), stage: Stage::Between, closed_at: 0, wrapped }
    }

    /// Whether any content after the function's name has been read.
    pub(super) fn begun(&self) -> bool {
        !self.arguments.is_empty() || !matches!(self.stage, Stage::Between)
    }

    /// Continues at position `at`.
    pub(super) fn step(&mut self, text: &str, at: usize, declared: &Declared) -> Inside {
        match &self.stage {
            Stage::Between => self.between(text, at, declared),
            Stage::Tag { .. } => self.tag(text, at),
            Stage::Key => self.key(text, at),
            Stage::Value(_) => self.value(text, at, declared),
            Stage::Json { .. } => self.json(text, at),
        }
    }

    /// Ends the text: returns a call if everything in it was closed, else the reason why not.
    ///
    /// A value closed only by a wrapper's end tag counts as closed.
    pub(super) fn finish(&mut self, text: &str, declared: &Declared) -> Result<(ParsedCall, usize), &'static str> {
        match &self.stage {
            Stage::Between if self.closed(declared) => Ok((self.call(), self.closed_at)),
            Stage::Between => Err("the function is not closed"),
            Stage::Value(parameter) => match CLOSERS.find(text, parameter.start) {
                Ok((end, _, _)) if !parameter.in_string() => {
                    let start = parameter.start;
                    self.set(&text[start..end], declared);
                    Ok((self.call(), end))
                }
                _ => Err("a parameter is not closed"),
            },
            Stage::Tag { .. } | Stage::Key => Err("the tag of a parameter is not complete"),
            Stage::Json { .. } => Err("the JSON ends before it is complete"),
        }
    }

    fn between(&mut self, text: &str, at: usize, declared: &Declared) -> Inside {
        let at = at + space(&text[at..]);
        let rest = &text[at..];
        if rest.starts_with('{') && self.arguments.is_empty() {
            self.stage = Stage::Json { scan: Box::default(), start: at };
            return Inside::On(at);
        }
        match PARAMETERS.look(rest) {
            Look::Is(Role::FunctionEnd, length) => return Inside::Call(self.call(), at + length),
            Look::Is(Role::ParameterEnd, length) => return Inside::On(at + length),
            Look::Is(role, length) => {
                self.stage = match role {
                    Role::Key => Stage::Key,
                    role => Stage::Tag {
                        attributes: role == Role::ParameterWithAttributes,
                        prefix: prefix(&rest[..length]).to_owned(),
                    },
                };
                return Inside::On(at + length);
            }
            Look::Short => return Inside::More(at),
            Look::No => {}
        }
        match CLOSERS.look(rest) {
            Look::Is(_, length) => return Inside::Call(self.call(), at + length),
            Look::Short => return Inside::More(at),
            Look::No => {}
        }
        match OPENERS.look(rest) {
            Look::Short => Inside::More(at),
            Look::Is(..) if !self.arguments.is_empty() => Inside::Call(self.call(), self.closed_at),
            Look::No if self.closed(declared) => Inside::Call(self.call(), self.closed_at),
            _ => Inside::Unreadable("a parameter or the end of the function is expected", at),
        }
    }

    fn tag(&mut self, text: &str, at: usize) -> Inside {
        let Stage::Tag { attributes: with_attributes, prefix } = &mut self.stage else { return Inside::On(at) };
        let rest = &text[at..];
        let (key, string, length) = if *with_attributes {
            match attributes(rest) {
                Look::Is(found, length) => (found.name, found.string, length),
                Look::Short => return Inside::More(at),
                Look::No => (None, None, 0),
            }
        } else {
            match name(rest) {
                Look::Is((found, _), length) => (Some(found), None, length),
                Look::Short => return Inside::More(at),
                Look::No => (None, None, 0),
            }
        };
        let Some(key) = key else { return Inside::Unreadable("a parameter has no name", at) };
        let prefix = std::mem::take(prefix);
        self.stage = Stage::Value(Parameter::new(key, string, at + length, prefix));
        Inside::On(at + length)
    }

    fn key(&mut self, text: &str, at: usize) -> Inside {
        const VALUE: &str = "<arg_value>";
        let Some(end) = text[at..].find('<') else { return Inside::More(at) };
        let key = text[at..at + end].trim().to_owned();
        let at_end = at + end;
        let Look::Is(Role::KeyEnd, length) = PARAMETERS.look(&text[at_end..]) else {
            let short = PARAMETERS.look(&text[at_end..]) == Look::Short;
            return if short { Inside::More(at) } else { Inside::Unreadable("a parameter has no name", at) };
        };
        let value = at_end + length + space(&text[at_end + length..]);
        let rest = &text[value..];
        if let Some(inside) = rest.strip_prefix(VALUE) {
            let start = text.len() - inside.len();
            self.stage = Stage::Value(Parameter::new(key, None, start, PAIR.to_owned()));
            return Inside::On(start);
        }
        if VALUE.starts_with(rest) { Inside::More(at) } else { Inside::Unreadable("a parameter has no value", at) }
    }

    fn value(&mut self, text: &str, at: usize, declared: &Declared) -> Inside {
        let Stage::Value(parameter) = &mut self.stage else { return Inside::On(at) };
        match PARAMETERS.find(text, at) {
            Ok((end, _, after)) if prefix(&text[end..after]) != parameter.prefix => Inside::On(after),
            Ok((end, _, after)) if parameter.in_json_string(&text[..end], &self.name, declared) => Inside::On(after),
            Ok((end, role, after)) => {
                let start = parameter.start;
                self.set(&text[start..end], declared);
                self.closed_at = if role == Role::ParameterEnd { after } else { end };
                Inside::On(self.closed_at)
            }
            Err(next) => Inside::More(next),
        }
    }

    /// Whether a missing end tag is tolerated: no required argument is missing.
    fn closed(&self, declared: &Declared) -> bool {
        !self.arguments.is_empty() && (self.wrapped || declared.requires_no_more(&self.name, &self.arguments))
    }

    fn set(&mut self, text: &str, declared: &Declared) {
        let Stage::Value(parameter) = std::mem::replace(&mut self.stage, Stage::Between) else { return };
        let Parameter { key, string, .. } = parameter;
        let schema = declared.parameter(&self.name, &key);
        let value = typed::value(text, string, schema, declared.untyped(&self.name));
        // A repeated parameter extends a list, unless its schema allows no list.
        let list = schema.is_none_or(|schema| typed::types(schema).contains(&"array"));
        match self.arguments.get_mut(&key) {
            Some(Value::Array(values)) if list => values.push(value),
            Some(first) if list => *first = Value::Array(vec![first.take(), value]),
            _ => {
                self.arguments.insert(key, value);
            }
        }
    }

    fn json(&mut self, text: &str, at: usize) -> Inside {
        let Stage::Json { scan, start } = &mut self.stage else { return Inside::On(at) };
        let end = match scan.advance(text, at) {
            Seen::More(next) | Seen::News(next) => return Inside::More(next),
            Seen::End(end) => end,
            Seen::Foreign(place) => match CLOSERS.look(&text[place..]) {
                Look::Is(..) => place,
                Look::Short => return Inside::More(place),
                Look::No => return Inside::On(scan.pass(place)),
            },
        };
        let value = scan.take().or_else(|| if scan.in_string() { None } else { repair(&text[*start..end]) });
        let Some(Value::Object(arguments)) = value else { return Inside::Unreadable("the JSON cannot be read", end) };
        self.arguments = arguments;
        self.stage = Stage::Between;
        self.closed_at = end;
        Inside::On(end)
    }

    fn call(&mut self) -> ParsedCall {
        ParsedCall {
            name: std::mem::take(&mut self.name),
            arguments: Value::Object(std::mem::take(&mut self.arguments)),
        }
    }
}
