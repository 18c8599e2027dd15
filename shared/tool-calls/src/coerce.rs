//! Coerces arguments to a tool's schema: the part of JSON Schema that tools use, and only safe conversions.
//!
//! Time and memory are linear in the sizes of schema and arguments: the values of an enumeration are indexed once, the tries of
//! alternatives are counted, and the check ends after [`MAX_ERRORS`] errors.

mod errors;
mod schema_index;

use std::mem;

use serde_json::{Map, Value};

use self::errors::MAX_ERRORS;
pub use self::errors::{Accepted, ArgumentErrors, FieldError};
use self::schema_index::SchemaIndex;
use crate::json;
use crate::parameter_value::{required_fields, schema_types};
use crate::schema_refs::resolve_refs;

/// Maximum depth to which a schema is followed.
const MAX_DEPTH: usize = 16;

/// Maximum number of steps of a check: a value against a schema, a field against a list of names, 64 bytes of a text against
/// an alternative. A list of 5,000 objects with 10 fields takes about 100,000.
const MAX_STEPS: usize = 200_000;

/// Coerces arguments to a schema of type `object`; converts only without loss.
///
/// Converted are: numbers and booleans written as strings, whole floats for integers, numbers and booleans for strings,
/// JSON in a string for objects and arrays, one value for an array of such values, the case of an enumeration's values.
/// `null` counts as absent where it is not accepted. Unknown fields are dropped where the schema forbids them.
/// The error names the first ten missing or invalid fields, with the accepted values.
pub fn coerce_arguments(schema: &Value, arguments: Value) -> Result<Value, ArgumentErrors> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    let schema = &*resolve_refs(schema);
    let mut coercion = Coercion { steps: MAX_STEPS, ..Coercion::default() };
    let Some(Value::Object(arguments)) = convert(arguments, "object") else {
        coercion.record_error(|| Accepted::by_type(&serde_json::json!({"type": "object"})));
        return Err(coercion.errors);
    };
    let fitted = coercion.coerce_object(schema, arguments);
    if coercion.errors == ArgumentErrors::default() { Ok(Value::Object(fitted)) } else { Err(coercion.errors) }
}

#[derive(Default)]
struct Coercion<'a> {
    errors: ArgumentErrors,
    path: Vec<String>,
    index: SchemaIndex<'a>,
    steps: usize,
    /// While an alternative is tried: whether it has failed. Its errors are not recorded.
    trial: Option<bool>,
}

impl<'a> Coercion<'a> {
    fn record_error(&mut self, accepted: impl FnOnce() -> Accepted) {
        match &mut self.trial {
            Some(has_failed) => *has_failed = true,
            None => self.errors.invalid.push(FieldError { field: self.path.join("."), accepted: accepted() }),
        }
    }

    /// Counts steps; returns false if the outcome is known, or too many steps were taken.
    fn step(&mut self, steps: usize) -> bool {
        self.errors.too_large |= steps > self.steps;
        self.steps = self.steps.saturating_sub(steps);
        let count = self.errors.missing.len() + self.errors.invalid.len();
        !self.errors.too_large && self.trial != Some(true) && count < MAX_ERRORS
    }

    fn coerce_object(&mut self, schema: &'a Value, mut members: Map<String, Value>) -> Map<String, Value> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let required = schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        if !self.step(members.len() + required) {
            return members;
        }
        let index = &mut self.index;
        members.retain(|name, value| match properties.and_then(|all| all.get(name)) {
            Some(property) => !value.is_null() || index.accepts_null(property),
            None => !closed,
        });
        for name in required_fields(schema) {
            if !members.contains_key(name) && self.step(0) {
                let path = self.path.iter().map(String::as_str).chain([name]);
                match &mut self.trial {
                    Some(has_failed) => *has_failed = true,
                    None => self.errors.missing.push(path.collect::<Vec<_>>().join(".")),
                }
            }
        }
        for (name, value) in &mut members {
            if let Some(property) = properties.and_then(|all| all.get(name)) {
                self.path.push(name.clone());
                *value = self.coerce_value(property, value.take());
                self.path.pop();
            }
        }
        members
    }

    /// Coerces a value to its schema; records an error if that is impossible.
    fn coerce_value(&mut self, schema: &'a Value, value: Value) -> Value {
        if self.path.len() > MAX_DEPTH || !self.step(1) {
            return value;
        }
        if let Some(choices) = alternatives(schema) {
            return self.coerce_any_of(choices, &value);
        }
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
            let found = self.index.enumeration(allowed).find(&value).cloned();
            if found.is_none() {
                self.record_error(|| Accepted::one_of(allowed));
            }
            return found.unwrap_or_default();
        }
        let kinds = self.index.types(schema);
        let direct = kinds.is_empty() || kinds.iter().any(|kind| has_type(&value, kind));
        let fitted = if direct { Some(value) } else { kinds.iter().find_map(|kind| convert_to(schema, &value, kind)) };
        match fitted {
            Some(number @ Value::Number(_)) => self.check_range(schema, number),
            Some(Value::Object(members)) => Value::Object(self.coerce_object(schema, members)),
            Some(Value::Array(items)) => Value::Array(self.coerce_items(schema, items)),
            Some(other) => other,
            None => {
                self.record_error(|| Accepted::by_type(schema));
                Value::Null
            }
        }
    }

    fn coerce_items(&mut self, schema: &'a Value, mut items: Vec<Value>) -> Vec<Value> {
        let Some(item) = schema.get("items").filter(|item| item.is_object()) else { return items };
        for (index, value) in items.iter_mut().enumerate() {
            if !self.step(0) {
                break;
            }
            self.path.push(index.to_string());
            *value = self.coerce_value(item, value.take());
            self.path.pop();
        }
        items
    }

    /// Tries the alternatives of the value's own type first.
    fn coerce_any_of(&mut self, choices: &'a [Value], value: &Value) -> Value {
        if !self.step(choices.len()) {
            return Value::Null;
        }
        let weight = weight(value);
        let is_exact = |choice: &&'a Value| self.index.types(choice).iter().any(|kind| has_type(value, kind));
        let (exact, others): (Vec<_>, Vec<_>) = choices.iter().partition(is_exact);
        for choice in exact.into_iter().chain(others) {
            if !self.step(weight) {
                return Value::Null;
            }
            let outer = self.trial.replace(false);
            let fitted = self.coerce_value(choice, value.clone());
            if mem::replace(&mut self.trial, outer) == Some(false) {
                return fitted;
            }
        }
        self.record_error(|| Accepted::any_of(choices));
        Value::Null
    }

    fn check_range(&mut self, schema: &Value, number: Value) -> Value {
        let bound = |key| schema.get(key).and_then(Value::as_f64);
        let found = number.as_f64().unwrap_or_default();
        if bound("minimum").is_some_and(|min| found < min) || bound("maximum").is_some_and(|max| found > max) {
            self.record_error(|| Accepted::by_type(schema));
        }
        number
    }
}

/// Converts a value to this type, or to a list of it if the schema wants a list of such values.
fn convert_to(schema: &Value, value: &Value, kind: &str) -> Option<Value> {
    let whole = convert(value.clone(), kind);
    if kind != "array" || whole.is_some() {
        return whole;
    }
    // Text that may be a list itself is not treated as one value.
    let item = schema.get("items")?;
    if let Some(numbers) = value.as_str().and_then(|text| split_numbers(text, &schema_types(item))) {
        return Some(numbers);
    }
    let single = !value.as_str().is_some_and(|text| text.contains([',', '，', '、', '\n', '[']));
    let fits = schema_types(item).iter().any(|kind| has_type(value, kind));
    (single && fits).then(|| Value::Array(vec![value.clone()]))
}

/// The numbers in a text that separates them by commas or line breaks.
fn split_numbers(text: &str, kinds: &[&str]) -> Option<Value> {
    let [kind @ ("integer" | "number")] = kinds else { return None };
    let parts = text.trim().split([',', '，', '、', '\n']);
    parts.map(|part| convert(Value::String(part.trim().to_owned()), kind)).collect()
}

#[cfg(test)]
mod tests;

fn alternatives(schema: &Value) -> Option<&[Value]> {
    ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array()).map(Vec::as_slice)
}

/// The size of a value in steps: one for each value in it and for each 64 bytes of its texts.
fn weight(value: &Value) -> usize {
    let text = |text: &str| 1 + text.len() / 64;
    match value {
        Value::String(own) => text(own),
        Value::Array(items) => items.iter().fold(1, |sum, item| sum + weight(item)),
        Value::Object(members) => members.iter().fold(1, |sum, (name, value)| sum + text(name) + weight(value)),
        _ => 1,
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
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
fn convert(value: Value, kind: &str) -> Option<Value> {
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
