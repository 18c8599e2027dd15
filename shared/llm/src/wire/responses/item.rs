//! Parts of the output. They arrive once each, so they are read from untyped JSON: typed ones take more code.

use std::borrow::Cow;

use serde_json::Value;

use crate::TokenUsage;
use crate::wire::counts;

/// Returns a string; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns an array; empty if there is none.
pub(super) fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the text of a message; a refusal is a part of it.
pub(super) fn answer(message: &Value) -> String {
    array(message, "content").iter().flat_map(|part| [text(part, "text"), text(part, "refusal")]).collect()
}

/// Returns the parts of a reasoning summary, else of the reasoning itself.
pub(super) fn thinking(reasoning: &Value) -> &[Value] {
    let summary = array(reasoning, "summary");
    if summary.is_empty() { array(reasoning, "content") } else { summary }
}

pub(super) fn arguments(call: &Value) -> Cow<'_, str> {
    match call.get("arguments") {
        None => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

pub(super) fn usage(usage: &Value) -> TokenUsage {
    let [input, output] = counts(usage, ["/input_tokens", "/output_tokens"]);
    let details = ["/input_tokens_details/cached_tokens", "/input_tokens_details/cache_write_tokens"];
    let [cached, cache_writes] = counts(usage, details);
    TokenUsage::with_cache(input, cached, cache_writes, output)
}
