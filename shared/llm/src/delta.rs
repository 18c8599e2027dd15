//! The parts of a model's reply.

use domain::ReasoningItem;

/// A part of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// More of the answer, raw: it may contain calls and thinking tags.
    Text(String),
    /// More of the reasoning, from a separate field.
    Thinking(String),
    /// A complete native call.
    Call(NativeCall),
    /// The output limit truncated a native call, which is dropped; comes before `Finish`.
    CutCall,
    /// A part of the reasoning that the provider must receive back with the calls of the reply.
    Reasoning(Box<ReasoningItem>),
    /// The token usage as counted by the provider; the last one is valid.
    Usage(TokenUsage),
    /// The end, always the last delta.
    Finish(Finish),
}

/// A native call as the provider sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeCall {
    /// The provider's id; empty if it gave none.
    pub id: String,
    /// Never empty.
    pub name: String,
    /// JSON text, not yet parsed; `{}` when the provider sent nothing.
    pub arguments: String,
    /// What the provider must receive back with the call; empty if it sent nothing.
    pub signature: String,
}

impl NativeCall {
    /// Creates a call with trimmed fields; missing arguments and `null` become `{}`.
    pub(crate) fn new(id: &str, name: &str, arguments: &str) -> Self {
        let arguments = Some(arguments.trim()).filter(|text| !matches!(*text, "" | "null")).unwrap_or("{}");
        let (id, name, arguments) = (id.to_owned(), name.trim().to_owned(), arguments.to_owned());
        Self { id, name, arguments, signature: String::new() }
    }
}

/// Tokens as counted by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens read.
    pub input: u64,
    /// Input tokens read from the provider's cache; 0 if it does not report them.
    pub cached: u64,
    /// Input tokens written to the provider's cache; 0 if it does not report them.
    pub cache_writes: u64,
    /// Tokens written, reasoning included.
    pub output: u64,
}

impl TokenUsage {
    /// Creates a usage from the tokens read without those of the cache, read from it, written to it, and written as output.
    pub(crate) fn without_cache([input, cached, cache_writes, output]: [u64; 4]) -> Self {
        Self { input: input.saturating_add(cached).saturating_add(cache_writes), cached, cache_writes, output }
    }

    /// Creates a usage from counts of which `input` contains those of the cache.
    pub(crate) fn with_cache(input: u64, cached: u64, cache_writes: u64, output: u64) -> Self {
        let cached = cached.min(input);
        Self { input, cached, cache_writes: cache_writes.min(input - cached), output }
    }
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The reply is complete.
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The output limit was reached.
    Length,
    /// The provider stopped the reply because of its content.
    ContentFilter,
}
