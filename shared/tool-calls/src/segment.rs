use std::fmt;

use serde_json::Value;

/// A segment of the model's text, as the scanner classified it.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// Shown to the user.
    Text(String),
    /// A complete call.
    Call(ParsedCall),
    /// An explicit wrapper whose content is not a call.
    Malformed(Malformed),
    /// The beginning of a result that the model made up; with [`ResultBlocks::EndReply`] nothing follows it.
    Invention,
}

/// What becomes of blocks in the reply that imitate a tool's result, such as `<tool_result …>…</tool_result>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultBlocks {
    /// They are ordinary text.
    #[default]
    Shown,
    /// They are left out. A block ends at its end tag. Without one it extends to the end of the reply if it begins a
    /// line, and is text if it does not.
    Hidden,
    /// The first one ends the reply: [`Segment::Invention`] is the last segment.
    EndReply,
}

/// A call as it was written; this crate does not check whether the tool exists.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedCall {
    /// The tool's name as the model wrote it.
    pub name: String,
    /// An object unless the model wrote something else.
    pub arguments: Value,
}

/// A call that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed {
    /// The text from the opening marker on, exactly as written.
    pub raw: String,
    /// Why it is malformed.
    pub reason: MalformedReason,
}

/// The reason why a call is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedReason {
    /// The model's output limit cut the call.
    Truncated,
    /// The call is longer than a call may be.
    TooLong,
    /// The wrapper is empty.
    Empty,
    /// The content has no known format.
    UnknownFormat,
    /// The content begins like JSON.
    NotJson(JsonFault),
    /// The name of the tool is missing.
    NoName,
    /// The call or its arguments are JSON, but not an object.
    NotAnObject,
    /// A call or a list of calls written as Python cannot be parsed.
    NotPython,
    /// The parameters of a function written as XML cannot be parsed.
    NotParameters,
}

/// The reason why text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// Its structure is wrong.
    Unreadable,
    /// A string has no end.
    OpenString,
    /// It ends too early.
    Incomplete,
}

impl fmt::Display for MalformedReason {
    /// For logs; the model gets a text in the language of its prompt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the output limit cut the call",
            Self::TooLong => "the call is too long",
            Self::Empty => "the call is empty",
            Self::UnknownFormat => "the call has no known format",
            Self::NotJson(JsonFault::Unreadable) => "the JSON cannot be parsed",
            Self::NotJson(JsonFault::OpenString) => "a string in the JSON is not closed",
            Self::NotJson(JsonFault::Incomplete) => "the JSON ends before it is complete",
            Self::NoName => "the name of the tool is missing",
            Self::NotAnObject => "the call or its arguments are not a JSON object",
            Self::NotPython => "the call in Python cannot be parsed",
            Self::NotParameters => "the parameters of the function cannot be parsed",
        })
    }
}

/// How a model's reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyEnd {
    /// The model finished.
    Complete,
    /// The model's output limit cut it.
    Truncated,
}
