//! The items of an output. They arrive once each, so they are read from untyped JSON: typed ones take more code.

use std::borrow::Cow;

use serde_json::Value;

use crate::TokenUsage;

/// An item of the output: a message, reasoning, a call, or the use of a tool that the provider runs itself.
pub(super) struct Item<'a>(pub(super) &'a Value);

impl<'a> Item<'a> {
    fn text(&self, name: &str) -> &'a str {
        text(self.0, name)
    }

    fn is(&self, kind: &str) -> bool {
        self.text("type") == kind
    }

    pub(super) fn is_call(&self) -> bool {
        self.is("function_call")
    }

    /// Returns the id that joins a call with its result.
    pub(super) fn call_id(&self) -> &'a str {
        let id = self.text("call_id");
        if id.is_empty() { self.text("id") } else { id }
    }

    pub(super) fn name(&self) -> &'a str {
        self.text("name")
    }

    pub(super) fn arguments(&self) -> Cow<'a, str> {
        match self.0.get("arguments") {
            None => Cow::Borrowed(""),
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(other) => Cow::Owned(other.to_string()),
        }
    }

    /// Returns the text of a message; a refusal is a part of it.
    pub(super) fn answer(&self) -> String {
        let parts = array(self.0, "content").iter().filter(|_| self.is("message"));
        parts.flat_map(|part| [text(part, "text"), text(part, "refusal")]).collect()
    }

    /// Returns the parts of a reasoning summary, else of the reasoning itself.
    pub(super) fn thinking(&self) -> &'a [Value] {
        let summary = array(self.0, "summary");
        match self.is("reasoning") {
            true if summary.is_empty() => array(self.0, "content"),
            true => summary,
            false => &[],
        }
    }

    /// Returns the encrypted reasoning; empty for other items.
    pub(super) fn encrypted_reasoning(&self) -> &'a str {
        if self.is("reasoning") { self.text("encrypted_content") } else { "" }
    }
}

/// Returns a string; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns an array; empty if there is none.
pub(super) fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn usage(response: &Value) -> Option<TokenUsage> {
    let usage = response.get("usage").filter(|usage| usage.is_object())?;
    let count = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    let input = count("/input_tokens");
    let cached = count("/input_tokens_details/cached_tokens").min(input);
    let cache_writes = count("/input_tokens_details/cache_write_tokens").min(input - cached);
    Some(TokenUsage { input, cached, cache_writes, output: count("/output_tokens") })
}
