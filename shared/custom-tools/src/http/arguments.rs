use serde_json::Value;

/// Formats a value for a URL or a header: text unchanged, lists joined by commas, objects as JSON.
pub(crate) fn to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(to_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Formats a parameter for a query: a list is one pair for each item.
pub(crate) fn query_pairs(name: &str, value: &Value) -> Vec<(String, String)> {
    let pair = |value: &Value| (name.to_owned(), to_text(value));
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(pair).collect(),
        other => vec![pair(other)],
    }
}
