use std::ops::ControlFlow::Break;

use serde_json::{Map, Value};

use super::body::Body;
use crate::declared_tools::DeclaredTools;
use crate::scanner::attributes::space_len;
use crate::scanner::candidate::{Candidate, Reader, Step, Verdict};
use crate::segment::ParsedCall;

pub(crate) const INPUT: &str = "Action Input:";
/// Maximum size of a call of this form whose input is not JSON, in bytes.
const MAX_PLAIN_BYTES: usize = 4096;

/// Reads the `ReAct` form after `Action:`: the name up to the end of the line, `Action Input:`, and the input.
pub(in crate::scanner) struct Action;

impl Reader for Action {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        read(candidate, text, declared, false)
    }

    /// An input that is not JSON ends at the end of the text.
    fn finish(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Verdict {
        match read(candidate, text, declared, true) {
            Break(verdict @ Verdict::Calls(..)) => verdict,
            _ => Verdict::Text,
        }
    }
}

fn read(candidate: &mut Candidate, text: &str, declared: &DeclaredTools, ended: bool) -> Step {
    let more = || Break(if text.len() > MAX_PLAIN_BYTES { Verdict::Text } else { Verdict::NeedMore });
    let window = &text[..text.floor_char_boundary(MAX_PLAIN_BYTES + 1)];
    let Some(line) = window.get(candidate.at..).and_then(|rest| rest.find('\n')) else { return more() };
    let (name, rest) = text[candidate.at..].split_at(line);
    let name = name.trim();
    if !declared.has(name) {
        return Break(Verdict::Text);
    }
    let rest = &rest[space_len(rest)..];
    let Some(input) = rest.strip_prefix(INPUT) else {
        return if INPUT.starts_with(rest) { more() } else { Break(Verdict::Text) };
    };
    let input = input.trim_start_matches([' ', '\t']);
    let from = text.len() - input.len();
    if input.starts_with('{') {
        candidate.name = Some(name.to_owned());
        return candidate.read_with(from, Body::json(from, false, false));
    }
    let end = match input.find('\n') {
        Some(end) => end,
        None if ended => input.len(),
        None => return more(),
    };
    let Some(parameter) = declared.only_parameter(name).filter(|_| from + end <= MAX_PLAIN_BYTES) else {
        return Break(Verdict::Text);
    };
    let argument = Value::String(input[..end].trim().to_owned());
    let arguments = Value::Object(Map::from_iter([(parameter.to_owned(), argument)]));
    Break(Verdict::Calls(vec![ParsedCall { name: name.to_owned(), arguments }], from + end))
}
