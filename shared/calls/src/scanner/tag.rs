//! Reads tags that open a call and carry its name.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::{Map, Value};

use super::attributes::{attributes, name};
use super::candidate::{Candidate, Kind, Stage, Step, Verdict};
use super::elements::Elements;
use crate::declared::Declared;
use crate::markers::Look;
use crate::piece::ParsedCall;

impl Candidate {
    /// Reads `<tool_call name="f">`.
    pub(super) fn wrapper_tag(&mut self, text: &str) -> Step {
        match attributes(&text[self.at..]) {
            Look::Is(found, length) => {
                let Some(name) = found.name else { return Break(Verdict::Text) };
                self.at += length;
                if found.empty {
                    return without_arguments(name, self.at);
                }
                self.name = Some(name);
                self.stage = Stage::Payload;
                Continue(())
            }
            Look::Short => Break(Verdict::More),
            Look::No => Break(Verdict::Text),
        }
    }

    /// Reads `<function=f>` or `<function name="f">`; outside a wrapper the name must be declared.
    pub(super) fn function_tag(&mut self, text: &str, with_attributes: bool, declared: &Declared) -> Step {
        let rest = &text[self.at..];
        let found = if with_attributes { named_by_attribute(rest) } else { name(rest) };
        match found {
            Look::Is((name, empty), length) if self.kind == Kind::Wrapper || declared.has(&name) => {
                self.at += length;
                if empty {
                    return without_arguments(name, self.at);
                }
                self.stage = Stage::Elements(Elements::new(name, false));
                Continue(())
            }
            Look::Short => Break(Verdict::More),
            _ => Break(Verdict::Text),
        }
    }
}

fn named_by_attribute(text: &str) -> Look<(String, bool)> {
    match attributes(text) {
        Look::Is(found, length) => found.name.map_or(Look::No, |name| Look::Is((name, found.empty), length)),
        Look::Short => Look::Short,
        Look::No => Look::No,
    }
}

/// A call that ends here and has no arguments.
pub(super) fn without_arguments(name: String, end: usize) -> Step {
    Break(Verdict::Calls(vec![ParsedCall { name, arguments: Value::Object(Map::new()) }], end))
}
