//! What comes out of a model.

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// More of the answer, raw: it may hold calls and thinking tags.
    Text(String),
    /// More of the reasoning that came in a field of its own.
    Thinking(String),
    /// A complete native call.
    Call(NativeCall),
    /// The output limit cut a native call, which is not given out; comes before the end.
    CutCall,
    /// What the provider counted; the last one holds.
    Usage(TokenUsage),
    /// The end, always the last delta.
    Finish(Finish),
}

/// A native call as the provider sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeCall {
    /// The provider's id; empty if it gave none.
    pub id: String,
    /// Never empty.
    pub name: String,
    /// JSON text, not yet parsed; `{}` when the provider sent nothing.
    pub arguments: String,
}

/// Tokens as counted by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens read.
    pub input: u64,
    /// How many of those came out of the provider's cache; 0 where it does not say.
    pub cached: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
}

/// Why the model ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It wants its calls answered.
    ToolCalls,
    /// Its output limit was reached.
    Length,
    /// The provider cut it for its content.
    ContentFilter,
}
