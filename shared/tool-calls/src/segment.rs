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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MalformedReason {
    /// The model's output limit cut the call.
    Truncated,
    /// The call cannot be parsed; the text is sent to the model.
    Unreadable(String),
}

/// How a model's reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyEnd {
    /// The model finished.
    Complete,
    /// The model's output limit cut it.
    Truncated,
}
