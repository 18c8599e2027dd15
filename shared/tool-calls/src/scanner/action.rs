//! The `ReAct` form: `Action: f`, a line break, `Action Input: …`.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::{Map, Value};

use super::attributes::space_len;
use super::body::Body;
use super::candidate::{Candidate, CandidateStage, Step, Verdict};
use crate::declared_tools::DeclaredTools;
use crate::segment::ParsedCall;

pub(crate) const INPUT: &str = "Action Input:";
/// Maximum size of a call of this form whose input is not JSON, in bytes.
const MAX_PLAIN_BYTES: usize = 4096;

impl Candidate {
    /// Reads after `Action:`: the name up to the end of the line, and the input.
    pub(super) fn read_action(&mut self, text: &str, declared: &DeclaredTools) -> Step {
        self.read_action_up_to(text, declared, false)
    }

    /// Ends the text: an input that is not JSON ends there.
    pub(super) fn finish_action(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        match self.read_action_up_to(text, declared, true) {
            Break(verdict @ Verdict::Calls(..)) => verdict,
            _ => Verdict::Text,
        }
    }

    fn read_action_up_to(&mut self, text: &str, declared: &DeclaredTools, ended: bool) -> Step {
        let more = if text.len() > MAX_PLAIN_BYTES { Break(Verdict::Text) } else { Break(Verdict::NeedMore) };
        let window = &text[..text.floor_char_boundary(MAX_PLAIN_BYTES + 1)];
        let Some(line) = window.get(self.at..).and_then(|rest| rest.find('\n')) else { return more };
        let name = text[self.at..self.at + line].trim();
        if !declared.has(name) {
            return Break(Verdict::Text);
        }
        let at = self.at + line + space_len(&text[self.at + line..]);
        let Some(input) = text[at..].strip_prefix(INPUT) else {
            return if INPUT.starts_with(&text[at..]) { more } else { Break(Verdict::Text) };
        };
        let input = input.trim_start_matches([' ', '\t']);
        let from = text.len() - input.len();
        if input.starts_with('{') {
            self.name = Some(name.to_owned());
            self.at = from;
            self.stage = CandidateStage::Body(Body::json(from, false, false));
            return Continue(());
        }
        let end = match input.find('\n') {
            Some(end) => end,
            None if ended => input.len(),
            None => return more,
        };
        let Some(parameter) = declared.only_parameter(name).filter(|_| from + end <= MAX_PLAIN_BYTES) else {
            return Break(Verdict::Text);
        };
        let argument = Value::String(input[..end].trim().to_owned());
        let arguments = Value::Object(Map::from_iter([(parameter.to_owned(), argument)]));
        Break(Verdict::Calls(vec![ParsedCall { name: name.to_owned(), arguments }], from + end))
    }
}
