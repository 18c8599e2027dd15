//! Types of values and their safe conversions.

use serde_json::Value;

use crate::json;
use crate::typed::types;

pub(super) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

pub(super) fn alternatives(schema: &Value) -> Option<&[Value]> {
    ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array()).map(Vec::as_slice)
}

pub(super) fn accepts_null(schema: &Value) -> bool {
    let kinds = types(schema);
    let listed = schema.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(&Value::Null));
    listed || kinds.contains(&"null") || (kinds.is_empty() && schema.get("enum").is_none())
}

pub(super) fn is(value: &Value, kind: &str) -> bool {
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
    if is(&value, kind) {
        return Some(value);
    }
    match (&value, kind) {
        (Value::Number(number), "integer") => whole(number.as_f64()?),
        (Value::Number(_) | Value::Bool(_), "string") => Some(Value::String(value.to_string())),
        (Value::String(text), "boolean") if text.trim().eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        (Value::String(text), "boolean") if text.trim().eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        (Value::String(text), "integer" | "number") => {
            let number = json::parse(text).filter(Value::is_number)?;
            if is(&number, kind) { Some(number) } else { whole(number.as_f64()?) }
        }
        (Value::String(text), "object" | "array") => json::parse(text).filter(|value| is(value, kind)),
        _ => None,
    }
}

/// Converts a float without a fraction to an integer.
fn whole(float: f64) -> Option<Value> {
    /// Up to this value every integer has an exact float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() != 0.0 || float.abs() > EXACT {
        return None;
    }
    json::parse(&format!("{float:.0}"))
}

/// Describes the values that a schema accepts.
pub(super) fn described(kinds: &[&str], schema: &Value) -> String {
    let words: Vec<_> = kinds
        .iter()
        .map(|kind| match *kind {
            "integer" => "an integer",
            "array" => "an array",
            "object" => "an object",
            "string" => "a string",
            "number" => "a number",
            "boolean" => "true or false",
            "null" => "null",
            _ => "another value",
        })
        .collect();
    let range = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    };
    format!("{}{range}", words.join(" or "))
}
