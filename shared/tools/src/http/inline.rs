//! Resolves the references within one document.

use serde_json::{Map, Value};

/// Maximum depth of a schema with resolved references.
const MAX_DEPTH: usize = 16;

/// Maximum number of values in a schema with resolved references.
const MAX_VALUES: usize = 2000;

/// Maximum size of the names and texts of a schema with resolved references, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The remaining size budget.
struct Left {
    values: usize,
    bytes: usize,
}

impl Left {
    fn value(&mut self) -> Result<(), String> {
        let rest = self.values.checked_sub(1);
        self.values = rest.ok_or_else(|| format!("a schema of at most {MAX_VALUES} values"))?;
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        let rest = self.bytes.checked_sub(text.len());
        self.bytes = rest.ok_or_else(|| format!("a schema with texts of at most {} KiB", MAX_BYTES / 1024))?;
        Ok(())
    }
}

/// Replaces every `$ref` in `schema` by its target in `root`; the error describes what is accepted.
///
/// References to other documents and recursive references are rejected.
pub(crate) fn inlined(root: &Value, schema: &Value) -> Result<Value, String> {
    let mut left = Left { values: MAX_VALUES, bytes: MAX_BYTES };
    written_out(root, schema, MAX_DEPTH, &mut left)
}

fn written_out(root: &Value, value: &Value, depth: usize, left: &mut Left) -> Result<Value, String> {
    let depth = depth.checked_sub(1).ok_or_else(|| format!("a schema that is at most {MAX_DEPTH} deep"))?;
    left.value()?;
    match value {
        Value::Object(fields) => match fields.get("$ref") {
            Some(Value::String(reference)) => written_out(root, target(root, reference)?, depth, left),
            _ => object(root, fields, depth, left),
        },
        Value::Array(items) => items.iter().map(|item| written_out(root, item, depth, left)).collect(),
        Value::String(text) => left.text(text).map(|()| value.clone()),
        other => Ok(other.clone()),
    }
}

fn object(root: &Value, fields: &Map<String, Value>, depth: usize, left: &mut Left) -> Result<Value, String> {
    let kept = fields.iter().filter(|(name, _)| !matches!(name.as_str(), "$defs" | "definitions" | "$schema" | "$id"));
    let written = kept.map(|(name, value)| {
        left.text(name)?;
        Ok((name.clone(), written_out(root, value, depth, left)?))
    });
    written.collect::<Result<Map<_, _>, String>>().map(Value::Object)
}

fn target<'a>(root: &'a Value, reference: &str) -> Result<&'a Value, String> {
    let pointer = reference.strip_prefix('#').ok_or("a schema that refers to no other document")?;
    root.pointer(pointer).ok_or_else(|| "a schema whose references lead to something".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_within_the_document_are_resolved() {
        let root = json!({
            "$defs": {"a": {"type": "string"}, "b": {"items": {"$ref": "#/$defs/a"}}},
            "properties": {"x": {"$ref": "#/$defs/b"}},
        });
        assert_eq!(inlined(&root, &root), Ok(json!({"properties": {"x": {"items": {"type": "string"}}}})));
    }

    #[test]
    fn f134_external_recursive_and_exploding_references_are_rejected() {
        for reference in ["https://example.com/schema", "other.json#/a", "file:///etc/passwd", "#/nowhere", ""] {
            let root = json!({"properties": {"x": {"$ref": reference}}});
            assert!(inlined(&root, &root).is_err(), "{reference}");
        }
        let circle = json!({"properties": {"x": {"$ref": "#"}}});
        assert_eq!(inlined(&circle, &circle), Err("a schema that is at most 16 deep".to_owned()));
        let twice = |next: &str| json!([{"$ref": next}, {"$ref": next}, {"$ref": next}, {"$ref": next}]);
        let bomb = json!({"a": twice("#/b"), "b": twice("#/c"), "c": twice("#/d"), "d": twice("#/e"), "e": twice("#/f"),
            "f": 1});
        assert_eq!(inlined(&bomb, &json!({"$ref": "#/a"})), Err("a schema of at most 2000 values".to_owned()));
    }
}
