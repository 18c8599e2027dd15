//! Calls as Gemma 4 and `FunctionGemma` write them: `call:f{city:<|"|>Paris<|"|>,count:2}`.

use std::ops::ControlFlow::Break;

use serde_json::Value;

use super::body::Body;
use super::cursor::Cursor;
use crate::declared_tools::DeclaredTools;
use crate::json;
use crate::parameter_value::{parse_number, parse_parameter, schema_types};
use crate::scanner::candidate::{Candidate, Progress, Reader, Step, Verdict};
use crate::segment::{JsonFault, MalformedReason, ParsedCall};

/// What precedes the name.
pub(super) const CALL: &str = "call:";
/// The end of it, which some replies begin with.
pub(super) const COLON: &str = ":";

const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];
/// How no value is written.
const NO_VALUE: [&str; 3] = ["null", "none", "nil"];

/// Reads the arguments of a call; the name before them has been read.
pub(super) struct GemmaArguments {
    start: usize,
    depth: usize,
    in_string: bool,
}

impl Reader for GemmaArguments {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        let end = self.find_end(text, candidate.at);
        candidate.at = end.unwrap_or_else(|at| at);
        let Ok(end) = end else { return Break(Verdict::NeedMore) };
        let name = candidate.name.take().unwrap_or_default();
        let Some(call) = parse_arguments(&text[self.start..end], name, declared) else {
            let reason = MalformedReason::NotJson(JsonFault::Unreadable);
            return candidate.read_with(end, Body::unreadable(reason));
        };
        candidate.calls.push(call);
        candidate.calls_end = end;
        candidate.read_with(end, Body::tail())
    }

    fn finish(&mut self, _candidate: &mut Candidate, text: &str, _declared: &DeclaredTools) -> Verdict {
        Verdict::Unreadable(MalformedReason::NotJson(JsonFault::Incomplete), text.len())
    }

    fn progress(&self) -> Progress {
        Progress::Certain
    }
}

impl GemmaArguments {
    pub(super) fn new(start: usize) -> Self {
        Self { start, depth: 0, in_string: false }
    }

    /// Continues at position `at`; returns the position after the last bracket, or the one to continue from.
    fn find_end(&mut self, text: &str, at: usize) -> Result<usize, usize> {
        let mut at = at;
        while let Some(found) = text[at..].find(['<', '{', '[', '(', '}', ']', ')']) {
            at += found;
            let rest = &text[at..];
            if let Some(quote) = QUOTES.into_iter().find(|quote| rest.starts_with(quote)) {
                self.in_string = !self.in_string;
                at += quote.len();
                continue;
            }
            if QUOTES.into_iter().any(|quote| quote.starts_with(rest)) {
                return Err(at);
            }
            at += 1;
            match rest.as_bytes()[0] {
                _ if self.in_string => {}
                b'{' | b'[' | b'(' => self.depth += 1,
                b'}' | b']' | b')' => self.depth = self.depth.saturating_sub(1),
                _ => continue,
            }
            if self.depth == 0 && !self.in_string {
                return Ok(at);
            }
        }
        Err(text.len())
    }
}

/// Parses the arguments of a call; `None` for anything else.
fn parse_arguments(text: &str, name: String, declared: &DeclaredTools) -> Option<ParsedCall> {
    let reader = GemmaReader { tool: &name, declared };
    let arguments = reader.read_members(&mut Cursor::new(text)).filter(|_| !name.is_empty())?;
    Some(ParsedCall { name, arguments })
}

/// Parses members with bare keys, and values whose strings are enclosed in tokens.
struct GemmaReader<'a> {
    tool: &'a str,
    declared: &'a DeclaredTools,
}

impl GemmaReader<'_> {
    fn read_members(&self, cursor: &mut Cursor<'_>) -> Option<Value> {
        let members = cursor.read_list([b"{(", b"})"], false, |cursor| {
            cursor.skip_space();
            let key = match read_string(cursor) {
                Some(key) => key,
                None => cursor.take_while(|c| c != ':').trim().trim_matches('"').to_owned(),
            };
            if key.is_empty() || !cursor.eat(b":") {
                return None;
            }
            let schema = if cursor.depth == 1 { self.declared.parameter(self.tool, &key) } else { None };
            Some((key, self.read_value(cursor, schema)?))
        })?;
        Some(Value::Object(members.into_iter().collect()))
    }

    fn read_value(&self, cursor: &mut Cursor<'_>, schema: Option<&Value>) -> Option<Value> {
        cursor.skip_space();
        if let Some(text) = read_string(cursor) {
            return Some(Value::String(text));
        }
        match cursor.peek()? {
            b'{' => self.read_members(cursor),
            b'[' => {
                let items = cursor.read_list([b"[", b"]"], false, |cursor| self.read_value(cursor, None))?;
                Some(Value::Array(items))
            }
            _ => {
                let text = cursor.take_while(|c| !matches!(c, ',' | ']' | '}' | ')')).trim();
                (!text.is_empty()).then(|| parse_bare(text, schema))
            }
        }
    }
}

fn parse_bare(text: &str, schema: Option<&Value>) -> Value {
    let may_be_string = |types: Vec<&str>| types.is_empty() || types.contains(&"string");
    let is_absent = NO_VALUE.into_iter().any(|null| text.eq_ignore_ascii_case(null));
    if is_absent && !schema.map(schema_types).is_some_and(may_be_string) {
        return Value::Null;
    }
    if schema.is_some() {
        return parse_parameter(text, None, schema, false);
    }
    let number = || Some(text).filter(|text| text.contains('.')).and_then(parse_number);
    json::parse(text).or_else(number).unwrap_or_else(|| Value::String(text.to_owned()))
}

fn read_string(cursor: &mut Cursor<'_>) -> Option<String> {
    let quote = QUOTES.into_iter().find(|quote| cursor.rest.starts_with(quote))?;
    let (text, rest) = cursor.rest[quote.len()..].split_once(quote)?;
    cursor.rest = rest;
    Some(text.to_owned())
}
