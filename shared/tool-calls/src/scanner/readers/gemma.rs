//! Calls as Gemma 4 and `FunctionGemma` write them: `call:f{city:<|"|>Paris<|"|>,count:2}`.

use std::ops::ControlFlow::Break;

use serde_json::{Map, Value};

use super::body::Body;
use crate::declared_tools::DeclaredTools;
use crate::json;
use crate::parameter_value::{parse_number, parse_parameter, schema_types};
use crate::scanner::candidate::{Candidate, Progress, Reader, Step, Verdict};
use crate::segment::{JsonFault, MalformedReason, ParsedCall};

/// What precedes the name.
pub(super) const CALL: &str = "call:";
/// The end of it, which some replies begin with.
pub(super) const COLON: &str = ":";

/// What encloses a string.
const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];
/// How no value is written.
const NO_VALUE: [&str; 3] = ["null", "none", "nil"];
const MAX_DEPTH: usize = 64;

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
    let mut reader = GemmaReader { rest: text, depth: 0, tool: &name, declared };
    let arguments = reader.read_members().filter(|_| !name.is_empty())?;
    Some(ParsedCall { name, arguments: Value::Object(arguments) })
}

/// Parses members with bare keys, and values whose strings are enclosed in tokens.
struct GemmaReader<'a> {
    rest: &'a str,
    depth: usize,
    tool: &'a str,
    declared: &'a DeclaredTools,
}

impl GemmaReader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, bytes: &[u8]) -> bool {
        self.skip_space();
        let found = self.rest.as_bytes().first().is_some_and(|byte| bytes.contains(byte));
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn read_members(&mut self) -> Option<Map<String, Value>> {
        let mut members = Map::new();
        if self.depth > MAX_DEPTH || !self.eat(b"{(") {
            return None;
        }
        self.depth += 1;
        while !self.eat(b"})") {
            self.skip_space();
            let key = match self.read_string() {
                Some(key) => key,
                None => self.read_bare(":").trim().trim_matches('"').to_owned(),
            };
            if key.is_empty() || !self.eat(b":") {
                return None;
            }
            let schema = if self.depth == 1 { self.declared.parameter(self.tool, &key) } else { None };
            let value = self.read_value(schema)?;
            members.insert(key, value);
            self.eat(b",");
        }
        self.depth -= 1;
        Some(members)
    }

    fn read_items(&mut self) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        if self.depth > MAX_DEPTH || !self.eat(b"[") {
            return None;
        }
        self.depth += 1;
        while !self.eat(b"]") {
            items.push(self.read_value(None)?);
            self.eat(b",");
        }
        self.depth -= 1;
        Some(items)
    }

    fn read_value(&mut self, schema: Option<&Value>) -> Option<Value> {
        self.skip_space();
        if let Some(text) = self.read_string() {
            return Some(Value::String(text));
        }
        match self.rest.as_bytes().first()? {
            b'{' => self.read_members().map(Value::Object),
            b'[' => self.read_items().map(Value::Array),
            _ => {
                let text = self.read_bare(",]})").trim().to_owned();
                let types = schema.map(schema_types).unwrap_or_default();
                let may_be_string = schema.is_some() && (types.is_empty() || types.contains(&"string"));
                let is_absent = NO_VALUE.into_iter().any(|null| text.eq_ignore_ascii_case(null));
                let value = match schema {
                    _ if is_absent && !may_be_string => Value::Null,
                    Some(schema) => parse_parameter(&text, None, Some(schema), false),
                    None => {
                        let number =
                            || Some(&text).filter(|text| text.contains('.')).and_then(|text| parse_number(text));
                        json::parse(&text).or_else(number).unwrap_or(Value::String(text.clone()))
                    }
                };
                (!text.is_empty()).then_some(value)
            }
        }
    }

    /// Reads up to one of these characters.
    fn read_bare(&mut self, ends: &str) -> &str {
        let end = self.rest.find(|c| ends.contains(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text
    }

    fn read_string(&mut self) -> Option<String> {
        let quote = QUOTES.into_iter().find(|quote| self.rest.starts_with(quote))?;
        let inside = &self.rest[quote.len()..];
        let end = inside.find(quote)?;
        self.rest = &inside[end + quote.len()..];
        Some(inside[..end].to_owned())
    }
}
