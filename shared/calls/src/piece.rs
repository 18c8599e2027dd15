use serde_json::Value;

/// What the scanner made of a stretch of the model's text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Shown to the user.
    Text(String),
    /// A complete call.
    Call(ParsedCall),
    /// An explicit wrapper whose content is not a call.
    Malformed(Malformed),
}

/// A call as it was written; whether such a tool exists is not this crate's business.
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
    /// What is wrong with it.
    pub defect: Defect,
}

/// What is wrong with a malformed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The text ended by the model's output limit before the call did.
    Cut,
    /// It cannot be read, for this reason (told to the model).
    Unreadable(String),
}

/// How a model's text came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The model was done.
    Complete,
    /// The model's output limit cut it.
    Cut,
}
