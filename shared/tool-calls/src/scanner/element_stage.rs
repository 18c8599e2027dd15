//! The states and the steps of reading a function's content.

use super::end_tag::LiteralSection;
use super::parameter::Parameter;
use crate::json::JsonScan;
use crate::segment::{MalformedReason, ParsedCall};

/// Maximum length of a key between its tags, in bytes.
pub(super) const MAX_KEY_BYTES: usize = 256;

/// Where in a function's content the reader is.
pub(super) enum ElementStage {
    /// Before a parameter or the end.
    Between,
    /// In the tag of a parameter whose element has this prefix.
    Tag { attributes: bool, prefix: String },
    /// In the text between `<arg_key>` and `</arg_key>`.
    Key,
    /// In a value.
    Value(Parameter),
    /// In the value of an element that is named after its parameter, which began at `start`.
    Named { key: String, start: usize, literal: LiteralSection },
    /// In an element that is no parameter; its content began at `start`.
    Unknown { name: String, start: usize },
    /// In parameters written as YAML, which began at `start`; certain if the first of them is known.
    Yaml { start: usize, is_certain: bool },
    /// In a JSON object that began at `start`.
    Json { scan: Box<JsonScan>, start: usize },
}

/// The result of reading a step of it.
pub(super) enum ElementStep {
    /// Continue from this position.
    Continue(usize),
    /// More text is needed; then continue from this position.
    NeedMore(usize),
    /// The call is complete and ends before this position.
    Call(ParsedCall, usize),
    /// From this position on the text is not a valid function.
    Unreadable(MalformedReason, usize),
}
