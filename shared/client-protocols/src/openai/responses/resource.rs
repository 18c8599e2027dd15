use domain::{FinishReason, Usage, id_seconds};
use serde_json::{Value, json};

use super::ResponseId;

/// The fields of a request as its response repeats them; absent ones have the defaults. Every field is present, because
/// clients with a schema require that.
pub fn request_details(request: &Value) -> Value {
    let given = |name: &str, default: Value| match &request[name] {
        Value::Null => default,
        value => value.clone(),
    };
    let null = || Value::Null;
    let tools: Vec<Value> = request["tools"].as_array().into_iter().flatten().map(tool_details).collect();
    let reasoning = json!({ "effort": request["reasoning"]["effort"], "summary": request["reasoning"]["summary"] });
    let mut text = given("text", json!({}));
    if text["format"].is_null() {
        text["format"] = json!({ "type": "text" });
    }
    json!({
        "background": given("background", false.into()),
        "frequency_penalty": 0.0,
        "instructions": given("instructions", null()),
        "max_output_tokens": given("max_output_tokens", null()),
        "max_tool_calls": given("max_tool_calls", null()),
        "metadata": given("metadata", json!({})),
        "model": request["model"],
        "parallel_tool_calls": given("parallel_tool_calls", true.into()),
        "presence_penalty": 0.0,
        "previous_response_id": given("previous_response_id", null()),
        "prompt_cache_key": given("prompt_cache_key", null()),
        "reasoning": reasoning,
        "safety_identifier": given("safety_identifier", null()),
        "service_tier": "default",
        "store": given("store", true.into()),
        "temperature": given("temperature", 1.0.into()),
        "text": text,
        "tool_choice": given("tool_choice", "auto".into()),
        "tools": tools,
        "top_logprobs": 0,
        "top_p": given("top_p", 1.0.into()),
        "truncation": given("truncation", "disabled".into()),
        "user": given("user", null()),
    })
}

fn tool_details(tool: &Value) -> Value {
    let mut tool = tool.clone();
    if tool["type"] == "function" {
        for (name, default) in [("description", Value::Null), ("parameters", Value::Null), ("strict", true.into())] {
            if tool[name].is_null() {
                tool[name] = default;
            }
        }
    }
    tool
}

/// How a response is or was written.
pub(super) enum Status {
    InProgress,
    Ended(FinishReason),
    /// With the error's code and message.
    Failed(Value),
}

impl Status {
    fn name(&self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Failed(_) => "failed",
            Self::Ended(FinishReason::Stopped) => "cancelled",
            Self::Ended(FinishReason::Length | FinishReason::Deadline | FinishReason::ContentFilter) => "incomplete",
            Self::Ended(FinishReason::Stop | FinishReason::ToolLimit | FinishReason::ToolCalls) => "completed",
        }
    }

    /// The event that ends a stream. None is of a cancelled response.
    pub(super) fn event(&self) -> &'static str {
        match self.name() {
            "completed" => "response.completed",
            "failed" => "response.failed",
            _ => "response.incomplete",
        }
    }
}

pub(super) fn render_response(
    details: &Value,
    id: &ResponseId,
    (status, ended_secs): (&Status, Option<u64>),
    output: &[Value],
    usage: Option<Usage>,
) -> Value {
    let incomplete = match status {
        Status::Ended(FinishReason::ContentFilter) => json!({ "reason": "content_filter" }),
        Status::Ended(FinishReason::Length | FinishReason::Deadline) => json!({ "reason": "max_output_tokens" }),
        _ => Value::Null,
    };
    let error = if let Status::Failed(error) = status { error.clone() } else { Value::Null };
    let fields = json!({
        "id": id.to_string(),
        "object": "response",
        "created_at": id_seconds(&id.message_id),
        "completed_at": ended_secs.filter(|_| status.name() == "completed"),
        "status": status.name(),
        "error": error,
        "incomplete_details": incomplete,
        "output": output,
        "usage": usage.map(token_usage),
    });
    let mut response = details.clone();
    if let (Some(response), Value::Object(fields)) = (response.as_object_mut(), fields) {
        response.extend(fields);
    }
    response
}

fn token_usage(usage: Usage) -> Value {
    let Usage { input_tokens, output_tokens, cached_tokens, .. } = usage;
    json!({
        "input_tokens": input_tokens,
        "input_tokens_details": { "cached_tokens": cached_tokens },
        "output_tokens": output_tokens,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input_tokens.saturating_add(output_tokens),
    })
}

/// The document for a response that was deleted.
pub fn deleted_response(id: &ResponseId) -> Value {
    json!({ "id": id.to_string(), "object": "response", "deleted": true })
}
