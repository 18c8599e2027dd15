//! Lists of calls written as Python.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::{Map, Value};

use super::body::Body;
use super::candidate::{Candidate, Stage, Step, Verdict};
use crate::declared::Declared;
use crate::json;
use crate::piece::ParsedCall;

impl Candidate {
    /// Reads a list that began at `start`; `end` is its end, or the position up to which it was read.
    pub(super) fn python(&mut self, text: &str, start: usize, end: Result<usize, usize>, declared: &Declared) -> Step {
        self.at = end.unwrap_or_else(|at| at);
        let Ok(end) = end else { return Break(Verdict::More) };
        match calls(&text[start..end]) {
            Some(calls) if !self.bare() || calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) => {
                self.calls = calls;
                self.settled = end;
                self.stage = Stage::Body(Body::tail());
                Continue(())
            }
            None if !self.bare() => {
                self.stage = Stage::Body(Body::unreadable("the list of calls cannot be read"));
                Continue(())
            }
            _ => Break(Verdict::Text),
        }
    }
}

/// Finds the end of a list of calls written as Python: `[f(q='a'), g(n=1)]`.
#[derive(Default)]
pub(super) struct Brackets {
    depth: usize,
    quote: Option<u8>,
    escaped: bool,
}

impl Brackets {
    /// Continues at position `at`; returns the position after the last bracket, or the end of the text.
    pub(super) fn advance(&mut self, text: &str, at: usize) -> Result<usize, usize> {
        for (offset, &byte) in text.as_bytes()[at..].iter().enumerate() {
            if self.escaped {
                self.escaped = false;
            } else if let Some(quote) = self.quote {
                self.escaped = byte == b'\\';
                self.quote = (byte != quote).then_some(quote);
            } else {
                match byte {
                    b'"' | b'\'' => self.quote = Some(byte),
                    b'[' | b'(' | b'{' => self.depth += 1,
                    b']' | b')' | b'}' => self.depth = self.depth.saturating_sub(1),
                    _ => continue,
                }
                if self.depth == 0 {
                    return Ok(at + offset + 1);
                }
            }
        }
        Err(text.len())
    }
}

/// Parses a whole list of calls; `None` for anything else.
pub(super) fn calls(text: &str) -> Option<Vec<ParsedCall>> {
    let mut reader = Reader { rest: text, depth: 0 };
    let calls = reader.list(b'[', b']', Reader::call)?;
    (reader.rest.trim().is_empty() && !calls.is_empty()).then_some(calls)
}

/// Maximum nesting depth of values.
const MAX_DEPTH: usize = 64;

/// Parses the subset of Python for calls with constant arguments.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.rest.as_bytes().first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    /// Reads items between two brackets, separated by commas, with an optional trailing comma.
    fn list<T>(&mut self, open: u8, close: u8, item: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        if self.depth > MAX_DEPTH || !self.eat(open) {
            return None;
        }
        self.depth += 1;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(b',') && self.rest.trim_start().as_bytes().first() != Some(&close) {
                return None;
            }
        }
        self.depth -= 1;
        Some(items)
    }

    fn call(&mut self) -> Option<ParsedCall> {
        let name = self.word()?.to_owned();
        let arguments = self.list(b'(', b')', Self::argument)?;
        Some(ParsedCall { name, arguments: Value::Object(arguments.into_iter().collect::<Map<_, _>>()) })
    }

    fn argument(&mut self) -> Option<(String, Value)> {
        let name = self.word()?.to_owned();
        if !self.eat(b'=') {
            return None;
        }
        Some((name, self.value()?))
    }

    fn member(&mut self) -> Option<(String, Value)> {
        self.space();
        let name = self.string()?;
        if !self.eat(b':') {
            return None;
        }
        Some((name, self.value()?))
    }

    fn value(&mut self) -> Option<Value> {
        self.space();
        match self.rest.as_bytes().first()? {
            b'"' | b'\'' => self.string().map(Value::String),
            b'[' => self.list(b'[', b']', Self::value).map(Value::Array),
            b'(' => self.list(b'(', b')', Self::value).map(Value::Array),
            b'{' => self.list(b'{', b'}', Self::member).map(|members| Value::Object(members.into_iter().collect())),
            _ => match self.word()? {
                "True" => Some(Value::Bool(true)),
                "False" => Some(Value::Bool(false)),
                "None" => Some(Value::Null),
                word => json::parse(word),
            },
        }
    }

    /// Reads a name, a number or a constant.
    fn word(&mut self) -> Option<&'a str> {
        self.space();
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let mut text = String::new();
        let mut chars = self.rest[1..].chars();
        loop {
            match chars.next()? {
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    '\n' => {}
                    escaped @ ('\\' | '\'' | '"') => text.push(escaped),
                    other => text.extend(['\\', other]),
                },
                end if end == quote => break,
                other => text.push(other),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Brackets, calls};

    fn read(text: &str) -> Option<Vec<Value>> {
        Some(calls(text)?.into_iter().map(|call| json!([call.name, call.arguments])).collect())
    }

    #[test]
    fn calls_with_constant_arguments_are_parsed() {
        assert_eq!(
            read("[f(q='it\\'s', n=-1.5, b=True), g(x=None, l=[1, {'k': (2,)}],)]"),
            Some(vec![
                json!(["f", {"q": "it's", "n": -1.5, "b": true}]),
                json!(["g", {"x": null, "l": [1, {"k": [2]}]}]),
            ])
        );
        assert_eq!(read("[f()]"), Some(vec![json!(["f", {}])]));
    }

    #[test]
    fn expressions_are_rejected() {
        for text in ["[f(x)]", "[f(a=b)]", "[f(a=1+g())]", "[f]", "[]", "[f(a=1)] x", "[f(a='x)]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn list_ends_at_bracket_outside_strings() {
        let text = "[f(a=']', b=\"\\\"]\")] rest";
        for cut in 0..text.len() {
            let mut brackets = Brackets::default();
            let end = match brackets.advance(&text[..cut], 0) {
                Ok(end) => Ok(end),
                Err(at) => brackets.advance(text, at),
            };
            assert_eq!(end, Ok(19), "{cut}");
        }
    }
}
