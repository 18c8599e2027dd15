//! Parameters as a table of their names: a shorter form of a JSON Schema.

use serde_json::{Map, Value, json};

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];

/// Returns the schema of parameters such as `{"city": {"type": "string", "description": "…", "required": false}}`, which
/// are required by default. Any other object is returned as it is.
pub(super) fn to_schema(given: Map<String, Value>) -> Value {
    if !given.values().all(is_parameter) {
        return Value::Object(given);
    }
    let (mut properties, mut required) = (given, Vec::new());
    for (name, parameter) in &mut properties {
        if take_required(parameter) {
            required.push(name.clone());
        }
    }
    if required.is_empty() {
        return json!({"type": "object", "properties": properties});
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// Whether it describes one parameter. In a JSON Schema of an object, `type` is not an object itself.
fn is_parameter(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    // A list names the required properties of a parameter that is an object.
    let is_known = |required: &Value| required.is_boolean() || required.is_array();
    TYPES.contains(&kind) && value.get("required").is_none_or(is_known)
}

/// Removes the mark; whether the parameter is required.
fn take_required(parameter: &mut Value) -> bool {
    let Some(fields) = parameter.as_object_mut() else { return false };
    let Some(required) = fields.get("required").and_then(Value::as_bool) else { return true };
    fields.shift_remove("required");
    required
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema_of(given: &Value) -> Value {
        to_schema(given.as_object().unwrap().clone())
    }

    #[test]
    fn parameters_of_a_table_are_required_by_default() {
        let area = json!({"type": "object", "properties": {"km": {"type": "number"}}, "required": ["km"]});
        let table = json!({
            "city": {"type": "string", "description": "Where.", "required": true},
            "days": {"type": "number"},
            "unit": {"type": "string", "enum": ["C", "F"], "required": false},
            "area": area,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where."},
                "days": {"type": "number"},
                "unit": {"type": "string", "enum": ["C", "F"]},
                "area": area,
            },
            "required": ["city", "days", "area"],
        });
        assert_eq!(schema_of(&table), expected);
        assert_eq!(schema_of(&json!({})), json!({"type": "object", "properties": {}}));
        let optional = json!({"type": {"type": "string", "required": false}});
        assert_eq!(schema_of(&optional), json!({"type": "object", "properties": {"type": {"type": "string"}}}));
    }

    #[test]
    fn any_other_object_is_no_table() {
        for given in [
            json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
            json!({"properties": {"type": {"type": "string"}}}),
            json!({"city": {"type": "text"}}),
            json!({"city": {"type": "string", "required": "yes"}}),
            json!({"city": "string"}),
        ] {
            assert_eq!(schema_of(&given), given);
        }
    }
}
