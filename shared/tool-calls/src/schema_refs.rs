//! References inside a tool's schema: `{"$ref": "#/$defs/City"}`, as programs that derive schemas from types write them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Maximum number of references one inside the other; a type may contain itself.
const MAX_DEPTH: usize = 8;
/// Approximate maximum size of a schema with its references replaced, in bytes.
const MAX_BYTES: usize = 1 << 19;
/// The size of a value besides its text, in bytes.
const VALUE_BYTES: usize = 32;

/// Replaces references by what they refer to, and `allOf` by the members of its schemas. References that lead nowhere or too
/// deep stay; of a schema that would be too large the rest accepts anything.
pub(crate) fn resolve_refs(schema: &Value) -> Cow<'_, Value> {
    if !needs_resolving(schema) {
        return Cow::Borrowed(schema);
    }
    let mut resolver = Resolver { root: schema, left: MAX_BYTES };
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
    /// How many bytes may still be copied.
    left: usize,
}

impl<'a> Resolver<'a> {
    fn resolve(&mut self, schema: &Value, depth: usize) -> Value {
        let text = schema.as_str().map_or(0, str::len);
        let keys = schema.as_object().map_or(0, |members| members.keys().map(String::len).sum());
        self.left = self.left.saturating_sub(VALUE_BYTES + text + keys);
        if self.left == 0 {
            return Value::Object(Map::new());
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
        let target = path.filter(|_| depth < MAX_DEPTH).and_then(|path| root.pointer(path));
        let all = members
            .get("allOf")
            .and_then(Value::as_array)
            .map(|all| merged(all.iter().map(|one| self.resolve(one, depth))));
        let Some(replaced) = target.map(|target| self.resolve(target, depth + 1)).or(all) else {
            // Definitions count only where something refers to them.
            let is_root = root.as_object().is_some_and(|root| std::ptr::eq(root, members));
            let used = members.iter().filter(|(key, _)| !(is_root && matches!(key.as_str(), "$defs" | "definitions")));
            return used.map(|(key, value)| (key.clone(), self.resolve(value, depth))).collect();
        };
        let Value::Object(mut resolved) = replaced else { return Value::Object(members.clone()) };
        let own: Vec<_> = members.iter().filter(|(key, _)| !matches!(key.as_str(), "$ref" | "allOf")).collect();
        resolved.extend(own.into_iter().map(|(key, value)| (key.clone(), self.resolve(value, depth))));
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
    fn schema_of_many_references_to_itself_is_bounded() {
        let properties: serde_json::Map<_, _> = (0..400).map(|at| (at.to_string(), json!({"$ref": "#"}))).collect();
        let resolved = resolve_refs(&json!({"properties": properties})).to_string();
        assert!(resolved.len() < 2 * super::MAX_BYTES, "{}", resolved.len());
    }

    #[test]
    fn parameter_may_be_named_like_definitions() {
        let schema = json!({
            "properties": {"definitions": {"type": "integer"}, "b": {"$ref": "#/$defs/B"}},
            "$defs": {"B": {"type": "string"}},
        });
        let expected = json!({"properties": {"definitions": {"type": "integer"}, "b": {"type": "string"}}});
        assert_eq!(*resolve_refs(&schema), expected);
    }

    #[test]
    fn type_that_contains_itself_ends() {
        let pair = json!({"type": "object", "properties": {"left": {"$ref": "#/$defs/Pair"}, "right": {"$ref": "#/$defs/Pair"}}});
        let schema = json!({"properties": {"pair": {"$ref": "#/$defs/Pair"}}, "$defs": {"Pair": pair}});
        let resolved = resolve_refs(&schema).to_string();
        assert!(resolved.len() < 2 * super::MAX_BYTES, "{}", resolved.len());
        assert!(
            resolved.starts_with(r#"{"properties":{"pair":{"type":"object","properties":{"left":{"type":"object""#)
        );
    }
}
