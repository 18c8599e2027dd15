//! OpenAI's chat completions: requests with the whole conversation, streamed chunks or one document, and errors.
//!
//! The formats follow OpenAI's API reference, plus `reasoning_content` for thinking as many endpoints have it. The
//! service's own tools are hidden, because a client would try to run them. Their sources are in `annotations`.

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

/// The fields common to every chunk and document of one answer.
#[derive(Clone, Debug)]
pub struct Head {
    /// Begins with `chatcmpl-`.
    pub id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// The model as the request named it.
    pub model: String,
}

/// Token counts.
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

/// A call of a client tool.
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
    /// JSON in a string; invalid arguments as the model wrote them.
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

/// The OpenAI name of a finish reason. An answer cut by the deadline counts as cut by its length.
fn word(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop | FinishReason::Stopped | FinishReason::ToolLimit => "stop",
        FinishReason::Length | FinishReason::Deadline => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::ToolCalls => "tool_calls",
    }
}
