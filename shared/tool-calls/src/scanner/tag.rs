//! Reads tags that open a call and carry its name.

use std::ops::ControlFlow::{Break, Continue};

use serde_json::{Map, Value};

use super::attributes::{TAG_END, TOKEN_CALL, TOKEN_END, read_attributes, read_name, space_len};
use super::candidate::{Candidate, CandidateKind, CandidateStage, Step, Verdict};
use super::elements::FunctionElements;
use super::tool_tag::match_tool_tag;
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{Match, PARAMETERS};
use crate::segment::ParsedCall;

impl Candidate {
    /// Reads `<tool_call name="f">`.
    pub(super) fn read_wrapper_tag(&mut self, text: &str) -> Step {
        match read_attributes(&text[self.at..], TAG_END) {
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

    /// Reads `<function=f>` or `<function name="f">`; outside a wrapper the name must be declared, or a parameter must follow.
    pub(super) fn read_function_tag(&mut self, text: &str, with_attributes: bool, declared: &DeclaredTools) -> Step {
        let rest = &text[self.at..];
        let is_token = text[..self.at].ends_with(TOKEN_CALL);
        let tag_end = if is_token { TOKEN_END } else { TAG_END };
        let found = if with_attributes { read_name_attribute(rest, tag_end) } else { read_name(rest) };
        match found.map(|(name, empty)| (declared.undoubled(&name).to_owned(), empty)) {
            Match::Full((name, empty), length) => {
                if self.kind != CandidateKind::Wrapper && !declared.has(&name) {
                    match match_parameter(&rest[length..]) {
                        Match::Full((), _) if !empty => {}
                        Match::Partial if !empty => return Break(Verdict::NeedMore),
                        _ => return Break(Verdict::Text),
                    }
                }
                self.at += length;
                if empty {
                    return without_arguments(name, self.at);
                }
                self.stage = CandidateStage::Elements(Box::new(FunctionElements::new(name, false)));
                Continue(())
            }
            Match::Partial => Break(Verdict::NeedMore),
            Match::None => Break(Verdict::Text),
        }
    }

    /// Reads `<f>` or `<f/>` at `at`.
    pub(super) fn read_tool_tag(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> Step {
        match match_tool_tag(&text[at..], declared) {
            Match::Full(tag, length) if tag.is_empty => {
                let is_call = declared.has_required(tag.name, &Map::new());
                if is_call { without_arguments(tag.name.to_owned(), at + length) } else { Break(Verdict::Text) }
            }
            Match::Full(tag, length) => {
                self.at = at + length;
                self.payload = self.at;
                self.stage = CandidateStage::Elements(Box::new(FunctionElements::in_tool_tag(tag.name.to_owned())));
                Continue(())
            }
            Match::Partial => Break(Verdict::NeedMore),
            Match::None => Break(Verdict::Text),
        }
    }
}

/// Maximum length of white space between a function's tag and its first parameter, in bytes.
const MAX_SPACE_BYTES: usize = 64;

/// Matches the tag of a parameter at the beginning of a text.
pub(super) fn match_parameter(text: &str) -> Match<()> {
    let space = space_len(text);
    match PARAMETERS.match_prefix(&text[space..]) {
        _ if space > MAX_SPACE_BYTES => Match::None,
        Match::Full(Role::Parameter | Role::ParameterWithAttributes | Role::Key, length) => {
            Match::Full((), space + length)
        }
        Match::Partial => Match::Partial,
        _ => Match::None,
    }
}

fn read_name_attribute(text: &str, tag_end: &str) -> Match<(String, bool)> {
    match read_attributes(text, tag_end) {
        Match::Full(found, length) => found.name.map_or(Match::None, |name| Match::Full((name, found.empty), length)),
        Match::Partial => Match::Partial,
        Match::None => Match::None,
    }
}

/// A call that ends here and has no arguments.
pub(super) fn without_arguments(name: String, end: usize) -> Step {
    Break(Verdict::Calls(vec![ParsedCall { name, arguments: Value::Object(Map::new()) }], end))
}
