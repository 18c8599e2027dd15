//! OpenAI's chat completions: requests with the whole conversation, streamed chunks or one document, and errors.
//!
//! The formats follow OpenAI's API reference, plus `reasoning_content` for thinking as many endpoints have it. The
//! service's own tools are hidden, because a client would try to run them. Their sources are in `annotations`.

mod annotations;
mod chunks;
mod citation_links;
mod completion;
mod error;
mod messages;
mod pending_results;
mod request;
mod tools;
mod unsupported;

pub use chunks::CompletionChunks;
pub use completion::render_completion;
pub use error::render_error;
pub use request::{ChatRequest, Sampling};

use domain::{FinishReason, ToolCall};
use serde::Serialize;
use serde_json::Value;

/// The fields common to every chunk and document of one answer.
#[derive(Clone, Debug)]
pub struct CompletionMeta {
    /// Begins with `chatcmpl-`.
    pub id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// The model as the request named it.
    pub model: String,
    /// Whether the text ends with link definitions of the cited pages, for clients that ignore annotations.
    pub citation_links: bool,
}

/// Token counts.
#[derive(Clone, Copy, Debug, Serialize)]
struct TokenUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<PromptTokensDetails>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct PromptTokensDetails {
    cached_tokens: u64,
}

impl From<&domain::Usage> for TokenUsage {
    fn from(usage: &domain::Usage) -> Self {
        let (prompt_tokens, completion_tokens) = (usage.input_tokens, usage.output_tokens);
        let total_tokens = prompt_tokens.saturating_add(completion_tokens);
        let cached_tokens = usage.cached_tokens;
        let prompt_tokens_details = (cached_tokens > 0).then_some(PromptTokensDetails { cached_tokens });
        Self { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details }
    }
}

/// A call of a client tool.
#[derive(Serialize)]
struct CallObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    id: &'a str,
    r#type: &'static str,
    function: FunctionObject<'a>,
}

#[derive(Serialize)]
struct FunctionObject<'a> {
    name: &'a str,
    /// JSON in a string; invalid arguments as the model wrote them.
    arguments: String,
}

impl<'a> CallObject<'a> {
    fn new(index: Option<usize>, call: &'a ToolCall) -> Self {
        let arguments = match &call.arguments {
            Value::String(unreadable) => unreadable.clone(),
            arguments => arguments.to_string(),
        };
        Self { index, id: &call.id, r#type: "function", function: FunctionObject { name: &call.name, arguments } }
    }
}

/// The OpenAI name of a finish reason. An answer cut by the deadline counts as cut by its length.
fn finish_reason_name(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop | FinishReason::Stopped | FinishReason::ToolLimit => "stop",
        FinishReason::Length | FinishReason::Deadline => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::ToolCalls => "tool_calls",
    }
}
