//! OpenAI's chat completions, and in `responses` its newer API: requests with the whole conversation, streamed chunks or one document, and errors.
//!
//! The formats follow OpenAI's API reference, plus `reasoning_content` for thinking as many endpoints have it. The
//! service's own tools are hidden, because a client would try to run them. Their sources are in `annotations`.

mod annotations;
mod chunks;
mod completion;
mod error;
mod messages;
mod request;
mod responses;
mod tools;

pub use chunks::CompletionChunks;
pub use completion::render_completion;
pub use error::render_error;
pub use request::{ChatRequest, Sampling};
pub use responses::{
    InputItem, ResponseId, ResponseStream, ResponsesRequest, check_calls, deleted_response, request_details,
};

use domain::{FinishReason, ToolCall, Usage};
use serde_json::{Value, json};

use crate::frame::without_nulls;

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

fn token_usage(usage: &Usage) -> Value {
    let Usage { input_tokens, output_tokens, cached_tokens, .. } = *usage;
    without_nulls(json!({
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens.saturating_add(output_tokens),
        "prompt_tokens_details": (cached_tokens > 0).then(|| json!({ "cached_tokens": cached_tokens })),
    }))
}

/// A call; its arguments are JSON in a string, or invalid ones as the model wrote them.
fn call_object(index: Option<usize>, call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": arguments_text(&call.arguments) });
    without_nulls(json!({ "index": index, "id": call.id, "type": "function", "function": function }))
}

fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(unreadable) => unreadable.clone(),
        arguments => arguments.to_string(),
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
