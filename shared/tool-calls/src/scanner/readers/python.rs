//! Calls written as Python: a list `[f(q='a'), g(n=1)]`, or arguments after a name.

use std::ops::ControlFlow::Break;

use serde_json::{Map, Value};

use super::body::Body;
use super::cursor::Cursor;
use crate::declared_tools::DeclaredTools;
use crate::json;
use crate::parameter_value::parse_number;
use crate::scanner::candidate::{Candidate, Certainty, Progress, Reader, Step, Verdict};
use crate::segment::{MalformedReason, ParsedCall};

/// Reads a list, or the arguments after a name.
pub(in crate::scanner) struct PythonCalls {
    brackets: BracketTracker,
    start: usize,
}

impl PythonCalls {
    pub(in crate::scanner) fn new(start: usize) -> Self {
        Self { brackets: BracketTracker::default(), start }
    }
}

impl Reader for PythonCalls {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        let end = self.brackets.advance(text, candidate.at);
        candidate.at = end.unwrap_or_else(|at| at);
        let Ok(end) = end else { return Break(Verdict::NeedMore) };
        let (start, bare) = (self.start, candidate.is_bare());
        let calls = match candidate.name.take() {
            Some(name) if text[start..].starts_with('(') => {
                parse_arguments(&text[start..end], name, declared).map(|call| (vec![call], true))
            }
            _ => parse_calls(&text[start..end]),
        };
        match calls {
            Some((calls, is_whole))
                if !bare || calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) =>
            {
                if !is_whole {
                    candidate.record_fault(MalformedReason::NotPython, start..end);
                }
                if !is_whole || !calls.iter().all(|call| declared.fits(&call.name, &call.arguments)) {
                    candidate.certainty = Certainty::Possible;
                }
                candidate.calls.extend(calls);
                candidate.calls_end = end;
            }
            None if !candidate.calls.is_empty() => candidate.record_fault(MalformedReason::NotPython, start..end),
            None if !bare => return candidate.read_with(end, Body::unreadable(MalformedReason::NotPython)),
            _ => return Break(Verdict::Text),
        }
        candidate.read_with(end, Body::after_python(|start| Box::new(PythonCalls::new(start))))
    }

    fn finish(&mut self, candidate: &mut Candidate, text: &str, _declared: &DeclaredTools) -> Verdict {
        if candidate.is_bare() { Verdict::Text } else { Verdict::Unreadable(MalformedReason::NotPython, text.len()) }
    }

    fn progress(&self) -> Progress {
        Progress::Certain
    }
}

#[derive(Default)]
struct BracketTracker {
    depth: usize,
    quote: Option<u8>,
    escaped: bool,
}

impl BracketTracker {
    /// Continues at position `at`; returns the position after the last bracket, or the end of the text.
    fn advance(&mut self, text: &str, at: usize) -> Result<usize, usize> {
        for (offset, &byte) in text.as_bytes()[at..].iter().enumerate() {
            if self.read(byte) && self.depth == 0 {
                return Ok(at + offset + 1);
            }
        }
        Err(text.len())
    }

    /// Reads one byte; whether it is a bracket or a quote outside strings.
    fn read(&mut self, byte: u8) -> bool {
        if self.escaped {
            self.escaped = false;
            return false;
        }
        if let Some(quote) = self.quote {
            self.escaped = byte == b'\\';
            self.quote = (byte != quote).then_some(quote);
            return false;
        }
        match byte {
            b'"' | b'\'' => self.quote = Some(byte),
            b'[' | b'(' | b'{' => self.depth += 1,
            b']' | b')' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => return false,
        }
        true
    }
}

/// Parses a list of calls. Returns those that are readable, and whether all are; `None` if none is.
fn parse_calls(text: &str) -> Option<(Vec<ParsedCall>, bool)> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    let (mut calls, mut is_whole) = (Vec::new(), true);
    for item in split_items(inside) {
        let mut reader = Cursor::new(item);
        match reader.read_call().filter(|_| reader.rest.trim().is_empty()) {
            Some(call) => calls.push(call),
            None => is_whole = false,
        }
    }
    (!calls.is_empty()).then_some((calls, is_whole))
}

/// Splits at the commas outside brackets and strings; an empty last item does not count.
fn split_items(text: &str) -> Vec<&str> {
    let (mut brackets, mut start, mut items) = (BracketTracker::default(), 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        brackets.read(byte);
        if byte == b',' && brackets.depth == 0 && brackets.quote.is_none() {
            items.push(&text[start..at]);
            start = at + 1;
        }
    }
    let last = &text[start..];
    items.extend(Some(last).filter(|last| !last.trim().is_empty()));
    items
}

/// Parses the arguments of a call in their round brackets. The only argument may lack its name.
fn parse_arguments(text: &str, name: String, declared: &DeclaredTools) -> Option<ParsedCall> {
    let mut reader = Cursor::new(text);
    let arguments = if let Some(arguments) = reader.read_list(ROUND, true, Cursor::read_argument) {
        arguments
    } else {
        reader = Cursor::new(text);
        let [value] = <[Value; 1]>::try_from(reader.read_list(ROUND, true, Cursor::read_value)?).ok()?;
        vec![(declared.unnamed_parameter(&name)?.to_owned(), value)]
    };
    let arguments = Value::Object(arguments.into_iter().collect());
    reader.rest.trim().is_empty().then_some(ParsedCall { name, arguments })
}

const ROUND: [&[u8]; 2] = [b"(", b")"];
const SQUARE: [&[u8]; 2] = [b"[", b"]"];
const CURLY: [&[u8]; 2] = [b"{", b"}"];

/// The subset of Python for calls with constant arguments.
impl<'a> Cursor<'a> {
    fn read_call(&mut self) -> Option<ParsedCall> {
        let name = self.read_atom()?.to_owned();
        let arguments = self.read_list(ROUND, true, Self::read_argument)?;
        Some(ParsedCall { name, arguments: Value::Object(arguments.into_iter().collect::<Map<_, _>>()) })
    }

    fn read_argument(&mut self) -> Option<(String, Value)> {
        let name = self.read_atom()?.to_owned();
        self.eat(b"=").then(|| self.read_value().map(|value| (name, value)))?
    }

    fn read_member(&mut self) -> Option<(String, Value)> {
        self.skip_space();
        let name = self.read_string()?;
        self.eat(b":").then(|| self.read_value().map(|value| (name, value)))?
    }

    fn read_value(&mut self) -> Option<Value> {
        match self.peek()? {
            b'"' | b'\'' => self.read_string().map(Value::String),
            b'[' => self.read_list(SQUARE, true, Self::read_value).map(Value::Array),
            b'(' => self.read_list(ROUND, true, Self::read_value).map(Value::Array),
            b'{' => self.read_braces(),
            _ => match self.read_atom()? {
                "True" => Some(Value::Bool(true)),
                "False" => Some(Value::Bool(false)),
                "None" => Some(Value::Null),
                atom => json::parse(atom).or_else(|| parse_number(atom)),
            },
        }
    }

    /// Reads a dictionary, or a set as a list.
    fn read_braces(&mut self) -> Option<Value> {
        let (rest, depth) = (self.rest, self.depth);
        if let Some(members) = self.read_list(CURLY, true, Self::read_member) {
            return Some(Value::Object(members.into_iter().collect()));
        }
        (self.rest, self.depth) = (rest, depth);
        self.read_list(CURLY, true, Self::read_value).map(Value::Array)
    }

    /// Reads a name, a number or a constant.
    fn read_atom(&mut self) -> Option<&'a str> {
        self.skip_space();
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let atom = self.take_while(inside);
        (!atom.is_empty()).then_some(atom)
    }

    fn read_string(&mut self) -> Option<String> {
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

    use super::{BracketTracker, parse_calls};

    fn read(text: &str) -> Option<Vec<Value>> {
        let (calls, is_whole) = parse_calls(text)?;
        is_whole.then(|| calls.into_iter().map(|call| json!([call.name, call.arguments])).collect())
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
        assert_eq!(read("[f(s={'a', 'b'}, n=07)]"), Some(vec![json!(["f", {"s": ["a", "b"], "n": 7}])]));
    }

    #[test]
    fn expressions_are_rejected() {
        for text in ["[f(x)]", "[f(a=b)]", "[f(a=1+g())]", "[f]", "[]", "[f(a=1)] x", "[f(a='x)]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn unreadable_item_does_not_lose_the_others() {
        let (calls, is_whole) = parse_calls("[f(a=','), f(x+1), g(b=[1, 2])]").expect("two calls");
        assert_eq!((calls.len(), is_whole), (2, false));
    }

    #[test]
    fn list_ends_at_bracket_outside_strings() {
        let text = "[f(a=']', b=\"\\\"]\")] rest";
        for cut in 0..text.len() {
            let mut brackets = BracketTracker::default();
            let end = match brackets.advance(&text[..cut], 0) {
                Ok(end) => Ok(end),
                Err(at) => brackets.advance(text, at),
            };
            assert_eq!(end, Ok(19), "{cut}");
        }
    }
}
