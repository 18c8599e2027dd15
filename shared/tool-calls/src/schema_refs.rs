//! References inside a tool's schema: `{"$ref": "#/$defs/City"}`, as programs that derive schemas from types write them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Maximum depth to which references are followed; a type may contain itself.
const MAX_DEPTH: usize = 12;
/// Maximum number of values of a schema with its references replaced.
const MAX_VALUES: usize = 20_000;

/// Replaces references by what they refer to, and `allOf` by the members of its schemas. References that lead nowhere or too
/// deep stay.
pub(crate) fn resolve_refs(schema: &Value) -> Cow<'_, Value> {
    if !needs_resolving(schema) {
        return Cow::Borrowed(schema);
    }
    let mut resolver = Resolver { root: schema, left: MAX_VALUES };
    Cow::Owned(resolver.resolve(schema, 0))
}

fn needs_resolving(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.contains_key("$ref") || members.contains_key("allOf") || members.values().any(needs_resolving)
        }
        Value::Array(items) => items.iter().any(needs_resolving),
        _ => false,
    }
}

/// The members of all schemas; of the same member the first counts, and properties are joined.
fn merged(schemas: impl Iterator<Item = Value>) -> Value {
    let mut all = Map::new();
    for schema in schemas {
        let Value::Object(members) = schema else { continue };
        for (key, value) in members {
            match (all.get_mut(&key), value) {
                (Some(Value::Object(properties)), Value::Object(more)) if key == "properties" => {
                    properties.extend(more);
                }
                (Some(Value::Array(required)), Value::Array(more)) if key == "required" => required.extend(more),
                (Some(_), _) => {}
                (None, value) => {
                    all.insert(key, value);
                }
            }
        }
    }
    Value::Object(all)
}

struct Resolver<'a> {
    root: &'a Value,
    /// How many values may still be copied.
    left: usize,
}

impl<'a> Resolver<'a> {
    fn resolve(&mut self, schema: &Value, depth: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        if depth > MAX_DEPTH || self.left == 0 {
            return schema.clone();
        }
        match schema {
            Value::Object(members) => self.resolve_object(members, depth),
            Value::Array(items) => items.iter().map(|item| self.resolve(item, depth)).collect(),
            other => other.clone(),
        }
    }

    fn resolve_object(&mut self, members: &Map<String, Value>, depth: usize) -> Value {
        let root: &'a Value = self.root;
        let path = members.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
        let target = path.and_then(|path| root.pointer(path));
        let all = members
            .get("allOf")
            .and_then(Value::as_array)
            .map(|all| merged(all.iter().map(|one| self.resolve(one, depth + 1))));
        let Some(replaced) = target.map(|target| self.resolve(target, depth + 1)).or(all) else {
            // Definitions count only where something refers to them.
            let used = members.iter().filter(|(key, _)| !matches!(key.as_str(), "$defs" | "definitions"));
            return used.map(|(key, value)| (key.clone(), self.resolve(value, depth + 1))).collect();
        };
        let Value::Object(mut resolved) = replaced else { return Value::Object(members.clone()) };
        let own = members.iter().filter(|(key, _)| !matches!(key.as_str(), "$ref" | "allOf"));
        resolved.extend(own.map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(resolved)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::resolve_refs;

    #[test]
    fn references_are_replaced_by_their_schemas() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": {"$ref": "#/$defs/City", "description": "Where."},
                "days": {"anyOf": [{"$ref": "#/definitions/Days"}, {"type": "null"}]},
                "unit": {"allOf": [{"$ref": "#/$defs/Unit"}], "default": "c"},
                "both": {"allOf": [{"type": "object", "properties": {"a": {}}}, {"properties": {"b": {}}}]},
                "gone": {"$ref": "#/$defs/Gone"},
            },
            "$defs": {"City": {"type": "object"}, "Unit": {"enum": ["c", "f"]}},
            "definitions": {"Days": {"type": "integer"}},
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "city": {"type": "object", "description": "Where."},
                "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "unit": {"enum": ["c", "f"], "default": "c"},
                "both": {"type": "object", "properties": {"a": {}, "b": {}}},
                "gone": {"$ref": "#/$defs/Gone"},
            },
        });
        assert_eq!(*resolve_refs(&schema), expected);
    }

    #[test]
    fn type_that_contains_itself_ends() {
        let pair = json!({"type": "object", "properties": {"left": {"$ref": "#/$defs/Pair"}, "right": {"$ref": "#/$defs/Pair"}}});
        let schema = json!({"properties": {"pair": {"$ref": "#/$defs/Pair"}}, "$defs": {"Pair": pair}});
        let resolved = resolve_refs(&schema).to_string();
        assert!(resolved.len() < 2_000_000, "{}", resolved.len());
        assert!(
            resolved.starts_with(r#"{"properties":{"pair":{"type":"object","properties":{"left":{"type":"object""#)
        );
    }
}
