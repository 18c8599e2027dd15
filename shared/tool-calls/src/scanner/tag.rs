//! Reads tags that open a call and carry its name.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::{Map, Value};

use super::attributes::{read_attributes, read_name};
use super::candidate::{Candidate, CandidateKind, CandidateStage, Step, Verdict};
use super::elements::FunctionElements;
use crate::declared_tools::DeclaredTools;
use crate::markers::Match;
use crate::segment::ParsedCall;

impl Candidate {
    /// Reads `<tool_call name="f">`.
    pub(super) fn read_wrapper_tag(&mut self, text: &str) -> Step {
        match read_attributes(&text[self.at..]) {
            Match::Full(found, length) => {
                self.at += length;
                self.payload = self.at;
                if found.empty {
                    return found.name.map_or(Break(Verdict::Text), |name| without_arguments(name, self.at));
                }
                self.name = found.name;
                self.stage = CandidateStage::Payload;
                Continue(())
            }
            Match::Partial => Break(Verdict::NeedMore),
            Match::None => Break(Verdict::Text),
        }
    }

    /// Reads `<function=f>` or `<function name="f">`; outside a wrapper the name must be declared.
    pub(super) fn read_function_tag(&mut self, text: &str, with_attributes: bool, declared: &DeclaredTools) -> Step {
        let rest = &text[self.at..];
        let found = if with_attributes { read_name_attribute(rest) } else { read_name(rest) };
        match found {
            Match::Full((name, empty), length) if self.kind == CandidateKind::Wrapper || declared.has(&name) => {
                self.at += length;
                if empty {
                    return without_arguments(name, self.at);
                }
                self.stage = CandidateStage::Elements(FunctionElements::new(name, false));
                Continue(())
            }
            Match::Partial => Break(Verdict::NeedMore),
            _ => Break(Verdict::Text),
        }
    }
}

fn read_name_attribute(text: &str) -> Match<(String, bool)> {
    match read_attributes(text) {
        Match::Full(found, length) => found.name.map_or(Match::None, |name| Match::Full((name, found.empty), length)),
        Match::Partial => Match::Partial,
        Match::None => Match::None,
    }
}

/// A call that ends here and has no arguments.
pub(super) fn without_arguments(name: String, end: usize) -> Step {
    Break(Verdict::Calls(vec![ParsedCall { name, arguments: Value::Object(Map::new()) }], end))
}
