//! Coerces arguments to a tool's schema: the part of JSON Schema that tools use, and only safe conversions.

mod errors;
mod values;

use serde_json::{Map, Value, json};

pub use self::errors::{Accepted, ArgumentErrors, FieldError};
use self::values::{accepts_null, alternatives, convert, has_type, required_fields};
use crate::parameter_value::schema_types;
use crate::schema_refs::resolve_refs;

/// Maximum depth to which a schema is followed.
const MAX_DEPTH: usize = 16;

/// Coerces arguments to a schema of type `object`; converts only without loss.
///
/// Converted are: numbers and booleans written as strings, whole floats for integers, numbers and booleans for strings,
/// JSON in a string for objects and arrays, one value for an array of such values, the case of an enumeration's values.
/// `null` counts as absent where it is not accepted. Unknown fields are dropped where the schema forbids them.
/// The error names every missing or invalid field, with the accepted values.
pub fn coerce_arguments(schema: &Value, arguments: Value) -> Result<Value, ArgumentErrors> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    let schema = &*resolve_refs(schema);
    let mut coercion = Coercion { errors: ArgumentErrors::default(), path: Vec::new() };
    let Some(Value::Object(arguments)) = convert(arguments, "object") else {
        coercion.record_error(Accepted::by_type(&json!({"type": "object"})));
        return Err(coercion.errors);
    };
    let fitted = coercion.coerce_object(schema, arguments);
    if coercion.errors == ArgumentErrors::default() { Ok(Value::Object(fitted)) } else { Err(coercion.errors) }
}

struct Coercion {
    errors: ArgumentErrors,
    path: Vec<String>,
}

impl Coercion {
    fn record_error(&mut self, accepted: Accepted) {
        self.errors.invalid.push(FieldError { field: self.path.join("."), accepted });
    }

    fn coerce_object(&mut self, schema: &Value, mut members: Map<String, Value>) -> Map<String, Value> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        members.retain(|name, value| match properties.and_then(|all| all.get(name)) {
            Some(property) => !value.is_null() || accepts_null(property),
            None => !closed,
        });
        for name in required_fields(schema).filter(|name| !members.contains_key(*name)) {
            self.path.push(name.to_owned());
            self.errors.missing.push(self.path.join("."));
            self.path.pop();
        }
        for (name, property) in properties.into_iter().flatten() {
            if let Some(value) = members.get_mut(name) {
                self.path.push(name.clone());
                *value = self.coerce_value(property, value.take());
                self.path.pop();
            }
        }
        members
    }

    /// Coerces a value to its schema; records an error if that is impossible.
    fn coerce_value(&mut self, schema: &Value, value: Value) -> Value {
        if self.path.len() > MAX_DEPTH {
            return value;
        }
        if let Some(choices) = alternatives(schema) {
            return self.coerce_any_of(choices, &value);
        }
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
            return self.coerce_enum(allowed, value);
        }
        let kinds = schema_types(schema);
        let direct = kinds.is_empty() || kinds.iter().any(|kind| has_type(&value, kind));
        let fitted = if direct { Some(value) } else { kinds.iter().find_map(|kind| convert_to(schema, &value, kind)) };
        match fitted {
            Some(number @ Value::Number(_)) => self.check_range(schema, number),
            Some(Value::Object(members)) => Value::Object(self.coerce_object(schema, members)),
            Some(Value::Array(items)) => Value::Array(self.coerce_items(schema, items)),
            Some(other) => other,
            None => {
                self.record_error(Accepted::by_type(schema));
                Value::Null
            }
        }
    }

    fn coerce_items(&mut self, schema: &Value, items: Vec<Value>) -> Vec<Value> {
        let Some(item) = schema.get("items").filter(|item| item.is_object()) else { return items };
        let coerce = |(index, value): (usize, Value)| {
            self.path.push(index.to_string());
            let value = self.coerce_value(item, value);
            self.path.pop();
            value
        };
        items.into_iter().enumerate().map(coerce).collect()
    }

    fn coerce_any_of(&mut self, choices: &[Value], value: &Value) -> Value {
        let exact = choices.iter().filter(|choice| schema_types(choice).iter().any(|kind| has_type(value, kind)));
        for choice in exact.chain(choices) {
            let mut attempt = Self { errors: ArgumentErrors::default(), path: self.path.clone() };
            let fitted = attempt.coerce_value(choice, value.clone());
            if attempt.errors == ArgumentErrors::default() {
                return fitted;
            }
        }
        self.record_error(Accepted::AnyOf(choices.iter().map(Accepted::by_type).collect()));
        Value::Null
    }

    fn coerce_enum(&mut self, allowed: &[Value], value: Value) -> Value {
        if allowed.contains(&value) {
            return value;
        }
        let text =
            |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned).trim().to_lowercase();
        let wanted = text(&value);
        let mut same = allowed.iter().filter(|other| text(other) == wanted);
        if let (Some(only), None) = (same.next(), same.next()) {
            return only.clone();
        }
        self.record_error(Accepted::OneOf(allowed.to_vec()));
        Value::Null
    }

    fn check_range(&mut self, schema: &Value, number: Value) -> Value {
        let bound = |key| schema.get(key).and_then(Value::as_f64);
        let found = number.as_f64().unwrap_or_default();
        let low = bound("minimum").is_some_and(|min| found < min);
        let high = bound("maximum").is_some_and(|max| found > max);
        if low || high {
            self.record_error(Accepted::by_type(schema));
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
mod tests {
    use domain::Language;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::coerce_arguments;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "count": {"type": "integer", "minimum": 1, "maximum": 20},
                "score": {"type": "number"},
                "fresh": {"type": "boolean"},
                "depth": {"type": "string", "enum": ["quick", "deep"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "filter": {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]},
                "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "any": {},
            },
            "required": ["query"],
        })
    }

    fn coerced(arguments: Value) -> Value {
        match coerce_arguments(&schema(), arguments) {
            Ok(value) => value,
            Err(errors) => Value::String(errors.render(Language::En)),
        }
    }

    #[test]
    fn matching_arguments_stay_unchanged() {
        let arguments = json!({
            "query": "x", "count": 5, "score": 1.5, "fresh": true, "depth": "deep", "tags": ["a"],
            "filter": {"from": "y"}, "limit": null, "any": [1], "unknown": 1,
        });
        assert_eq!(coerced(arguments.clone()), arguments);
    }

    #[test]
    fn lossless_conversions_are_applied() {
        assert_eq!(
            coerced(json!({
                "query": 2024, "count": "5", "score": "1.5", "fresh": "True", "depth": "Deep", "tags": "a",
                "filter": "{\"from\": \"y\"}", "limit": "7",
            })),
            json!({
                "query": "2024", "count": 5, "score": 1.5, "fresh": true, "depth": "deep", "tags": ["a"],
                "filter": {"from": "y"}, "limit": 7,
            })
        );
        assert_eq!(
            coerced(json!({"query": "x", "count": 5.0, "tags": "[\"a\"]"})),
            json!({"query": "x", "count": 5, "tags": ["a"]})
        );
        assert_eq!(coerced(json!("{\"query\": \"x\"}")), json!({"query": "x"}));
    }

    #[test]
    fn separated_numbers_become_a_list() {
        let schema = json!({"properties": {"at": {"type": "array", "items": {"type": "number"}}}});
        for (text, expected) in [("1, 2.5,3", json!([1, 2.5, 3])), ("10\n20", json!([10, 20])), ("7", json!([7]))] {
            assert_eq!(coerce_arguments(&schema, json!({"at": text})).ok(), Some(json!({"at": expected})), "{text}");
        }
        assert!(coerce_arguments(&schema, json!({"at": "1, x"})).is_err());
    }

    #[test]
    fn null_is_absent_unless_accepted() {
        assert_eq!(coerced(json!({"query": "x", "count": null, "limit": null})), json!({"query": "x", "limit": null}));
        assert_eq!(coerced(json!(null)), json!("`query` is missing"));
    }

    #[test]
    fn f051_invalid_arguments_are_rejected_by_field_name() {
        for (arguments, reason) in [
            (json!({"query": ["x"]}), "`query` must be a string"),
            (json!({"query": "x", "count": "many"}), "`count` must be an integer from 1 to 20"),
            (json!({"query": "x", "count": 21}), "`count` must be an integer from 1 to 20"),
            (json!({"query": "x", "count": 1.5}), "`count` must be an integer from 1 to 20"),
            (json!({"query": "x", "fresh": 1}), "`fresh` must be true or false"),
            (json!({"query": "x", "depth": "slow"}), "`depth` must be one of \"quick\", \"deep\""),
            (json!({"query": "x", "tags": "a, b"}), "`tags` must be an array"),
            (json!({"query": "x", "tags": ["a", {}]}), "`tags.1` must be a string"),
            (json!({"query": "x", "limit": "no"}), "`limit` must be an integer or null"),
            (json!({"filter": {}}), "`query` is missing; `filter.from` is missing"),
            (json!("x"), "the arguments must be a JSON object"),
            (json!([]), "the arguments must be a JSON object"),
        ] {
            assert_eq!(coerced(arguments.clone()), json!(reason), "{arguments}");
        }
    }

    #[test]
    fn f051_errors_are_in_chinese_for_chinese_turns() {
        for (arguments, reason) in [
            (json!({"query": ["x"], "fresh": 1}), "`query` 必须是字符串；`fresh` 必须是布尔值 true 或 false"),
            (json!({"query": "x", "count": 21}), "`count` 必须是从 1 到 20 的整数"),
            (json!({"query": "x", "depth": "slow"}), "`depth` 必须是以下值之一：\"quick\"、\"deep\""),
            (json!({"query": "x", "limit": "no"}), "`limit` 必须是整数或空值 null"),
            (json!({"filter": {}}), "缺少 `query`；缺少 `filter.from`"),
            (json!("x"), "参数整体必须是一个 JSON 对象"),
        ] {
            let errors = coerce_arguments(&schema(), arguments).unwrap_err();
            assert_eq!(errors.render(Language::Zh), reason);
        }
    }

    #[test]
    fn oversized_integer_is_rejected_instead_of_rounded() {
        assert_eq!(coerced(json!({"query": "12345678901234567890123"})), json!({"query": "12345678901234567890123"}));
        assert_eq!(
            coerced(json!({"query": "x", "limit": "12345678901234567890123"})),
            json!("`limit` must be an integer or null")
        );
    }

    #[test]
    fn unknown_fields_are_dropped_if_schema_forbids_them() {
        let closed = json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false});
        assert_eq!(coerce_arguments(&closed, json!({"a": "x", "b": 1})), Ok(json!({"a": "x"})));
    }

    proptest! {
        #[test]
        fn coercion_is_idempotent(text in "[0-9a-z\\[\\]{}\":,. ]{0,8}", number in any::<f64>()) {
            for value in [json!(text), json!(number)] {
                let arguments = json!({"query": value, "score": value, "tags": value, "limit": value});
                if let Ok(once) = coerce_arguments(&schema(), arguments) {
                    prop_assert_eq!(coerce_arguments(&schema(), once.clone()), Ok(once));
                }
            }
        }
    }
}
