//! Parameters of a call that headers repeat (protocol 2026-07-28).

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Encodes a value for a header: unchanged where that is safe, else as Base64 between markers.
pub(super) fn encode_value(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && value.trim() == value && !value.is_empty();
    if plain && !(value.starts_with("=?base64?") && value.ends_with("?=")) {
        return value.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(value))
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct MirroredParameter {
    path: Vec<String>,
    header: String,
}

impl MirroredParameter {
    /// Returns the header with its value from the arguments, if they contain one.
    pub(super) fn header(&self, arguments: &Value) -> Option<(String, String)> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        Some((self.header.clone(), encode_value(&value)))
    }
}

/// Returns the parameters of a schema that headers repeat; `None` for a schema with an invalid mark.
pub(super) fn mirrored_parameters(schema: &Value) -> Option<Vec<MirroredParameter>> {
    let mut found = Vec::new();
    collect_marks(schema, &mut Vec::new(), &mut found)?;
    let names: HashSet<String> = found.iter().map(|one| one.header.to_ascii_lowercase()).collect();
    (names.len() == found.len() && found.len() == count_marks(schema)).then_some(found)
}

/// Collects the marks under `properties` only; [`count_marks`] also counts marks in other positions, so the numbers
/// then differ.
fn collect_marks(schema: &Value, path: &mut Vec<String>, found: &mut Vec<MirroredParameter>) -> Option<()> {
    if let Some(mark) = schema.get("x-mcp-header") {
        let name =
            mark.as_str().filter(|name| egress::is_settable(&format!("mcp-param-{name}")) && !name.is_empty())?;
        schema.get("type").filter(|kind| ["string", "integer", "boolean"].iter().any(|known| kind == known))?;
        found.push(MirroredParameter { path: path.clone(), header: format!("mcp-param-{name}") });
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        collect_marks(property, path, found)?;
        path.pop();
    }
    Some(())
}

/// Counts the marked schemas in any position; a property may have any name.
fn count_marks(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => {
            let own = usize::from(fields.get("x-mcp-header").is_some_and(|mark| !mark.is_object()));
            own + fields.values().map(count_marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_marks).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn value_unsafe_in_a_header_is_encoded() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode_value(value), header);
        }
    }

    #[test]
    fn given_marked_parameter_is_mirrored_in_a_header() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "page": {"type": "object", "properties": {"size": {"type": "integer", "x-mcp-header": "Size"}}},
        }});
        let marked = mirrored_parameters(&schema).unwrap();
        let headers = |arguments: Value| marked.iter().filter_map(|one| one.header(&arguments)).collect::<Vec<_>>();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let all = [pair("mcp-param-Region", "eu"), pair("mcp-param-Size", "42")];
        assert_eq!(headers(json!({"region": "eu", "page": {"size": 42}})), all);
        assert_eq!(headers(json!({"region": null, "page": {}})), []);
    }

    #[test]
    fn f131_invalid_mark_makes_the_schema_unusable() {
        let marked = |name: &str, kind: &str| json!({"type": kind, "x-mcp-header": name});
        for schema in [
            json!({"properties": {"a": marked("", "string")}}),
            json!({"properties": {"a": marked("A\r\nB", "string")}}),
            json!({"properties": {"a": marked("A", "number")}}),
            json!({"properties": {"a": marked("A", "string"), "b": marked("a", "string")}}),
            json!({"properties": {"a": {"type": "array", "items": marked("A", "string")}}}),
            json!({"anyOf": [{"properties": {"a": marked("A", "string")}}]}),
        ] {
            assert_eq!(mirrored_parameters(&schema), None, "{schema}");
        }
    }
}
