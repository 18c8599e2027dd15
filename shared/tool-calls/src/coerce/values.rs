//! Types of values and their safe conversions.

use serde_json::Value;

use crate::json;

pub(super) fn alternatives(schema: &Value) -> Option<&[Value]> {
    ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array()).map(Vec::as_slice)
}

/// The size of a value in steps: one for each value in it and for each 64 bytes of its texts.
pub(super) fn weight(value: &Value) -> usize {
    let text = |text: &str| 1 + text.len() / 64;
    match value {
        Value::String(own) => text(own),
        Value::Array(items) => items.iter().fold(1, |sum, item| sum + weight(item)),
        Value::Object(members) => members.iter().fold(1, |sum, (name, value)| sum + text(name) + weight(value)),
        _ => 1,
    }
}

pub(super) fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Converts a value to this type if nothing is lost.
pub(super) fn convert(value: Value, kind: &str) -> Option<Value> {
    if has_type(&value, kind) {
        return Some(value);
    }
    match (&value, kind) {
        (Value::Number(number), "integer") => to_integer(number.as_f64()?),
        (Value::Number(_) | Value::Bool(_), "string") => Some(Value::String(value.to_string())),
        (Value::String(text), "null") if matches!(text.trim(), "None" | "null") => Some(Value::Null),
        (Value::String(text), "boolean") if text.trim().eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        (Value::String(text), "boolean") if text.trim().eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        (Value::String(text), "integer" | "number") => {
            let number = json::parse(text).filter(Value::is_number)?;
            if has_type(&number, kind) { Some(number) } else { to_integer(number.as_f64()?) }
        }
        (Value::String(text), "object" | "array") => json::parse(text).filter(|value| has_type(value, kind)),
        _ => None,
    }
}

/// Converts a float without a fraction to an integer.
fn to_integer(float: f64) -> Option<Value> {
    /// Up to this value every integer has an exact float.
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
    if float.fract() != 0.0 || float.abs() > MAX_EXACT_INTEGER {
        return None;
    }
    json::parse(&format!("{float:.0}"))
}
