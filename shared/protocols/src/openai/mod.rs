//! OpenAI's chat completions: a request with the whole conversation in it, chunks or one document, errors in their shape.
//!
//! The shapes are those of OpenAI's API reference, with `reasoning_content` for thinking as many endpoints have it. The
//! product's own tools do not show: a client would try to run them. What they found stands in `annotations`.

mod annotations;
mod chunks;
mod completion;
mod error;
mod messages;
mod refusals;
mod request;
mod results;
mod tools;

pub use chunks::Chunks;
pub use completion::completion;
pub use error::error_body;
pub use request::{ChatRequest, Sampling};

use conversation::{FinishReason, ToolCall};
use serde::Serialize;
use serde_json::Value;

/// What every chunk and document of one answer begins with.
#[derive(Clone, Debug)]
pub struct Head {
    /// Begins with `chatcmpl-`.
    pub id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// The model as the request named it.
    pub model: String,
}

/// What was consumed.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl From<&conversation::Usage> for Usage {
    fn from(usage: &conversation::Usage) -> Self {
        let (prompt_tokens, completion_tokens) = (usage.input_tokens, usage.output_tokens);
        Self { prompt_tokens, completion_tokens, total_tokens: prompt_tokens.saturating_add(completion_tokens) }
    }
}

/// A call of the caller's tool.
#[derive(Serialize)]
struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    /// JSON in a string; what a model wrote instead as it wrote it.
    arguments: String,
}

impl<'a> Call<'a> {
    fn new(index: Option<usize>, call: &'a ToolCall) -> Self {
        let arguments = match &call.arguments {
            Value::String(unreadable) => unreadable.clone(),
            arguments => arguments.to_string(),
        };
        Self { index, id: &call.id, r#type: "function", function: Function { name: &call.name, arguments } }
    }
}

/// An answer that time cut short is told like one that its length did.
fn word(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop | FinishReason::Stopped | FinishReason::ToolLimit => "stop",
        FinishReason::Length | FinishReason::Deadline => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::ToolCalls => "tool_calls",
    }
}
