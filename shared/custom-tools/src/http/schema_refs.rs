//! Resolves the references within one document.

use serde_json::{Map, Value};

/// Maximum depth of a schema with resolved references.
const MAX_DEPTH: usize = 16;

/// Maximum number of values in a schema with resolved references.
const MAX_VALUES: usize = 2000;

/// Maximum size of the names and texts of a schema with resolved references, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// How much of a document the schemas of one tool may still use.
pub(crate) struct SchemaBudget {
    values: usize,
    bytes: usize,
}

impl Default for SchemaBudget {
    fn default() -> Self {
        Self { values: MAX_VALUES, bytes: MAX_BYTES }
    }
}

impl SchemaBudget {
    /// Replaces every `$ref` in `schema` by its target in `root`, within what is left; the error describes what is accepted.
    ///
    /// References to other documents and recursive references are rejected.
    pub(crate) fn deref(&mut self, root: &Value, schema: &Value) -> Result<Value, String> {
        self.deref_value(root, schema, MAX_DEPTH)
    }

    fn deref_value(&mut self, root: &Value, value: &Value, depth: usize) -> Result<Value, String> {
        let depth = depth.checked_sub(1).ok_or_else(|| format!("a schema that is at most {MAX_DEPTH} deep"))?;
        self.values = self.values.checked_sub(1).ok_or_else(|| format!("a schema of at most {MAX_VALUES} values"))?;
        match value {
            Value::Object(fields) => match fields.get("$ref") {
                Some(Value::String(reference)) => self.deref_value(root, resolve_reference(root, reference)?, depth),
                _ => self.deref_object(root, fields, depth),
            },
            Value::Array(items) => items.iter().map(|item| self.deref_value(root, item, depth)).collect(),
            Value::String(text) => self.take_text(text).map(|()| value.clone()),
            other => Ok(other.clone()),
        }
    }

    fn deref_object(&mut self, root: &Value, fields: &Map<String, Value>, depth: usize) -> Result<Value, String> {
        let is_kept = |name: &str| !matches!(name, "$defs" | "definitions" | "$schema" | "$id");
        let written = fields.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| {
            self.take_text(name)?;
            Ok((name.clone(), self.deref_value(root, value, depth)?))
        });
        written.collect::<Result<Map<_, _>, String>>().map(Value::Object)
    }

    fn take_text(&mut self, text: &str) -> Result<(), String> {
        let rest = self.bytes.checked_sub(text.len());
        self.bytes = rest.ok_or_else(|| format!("a schema with texts of at most {} KiB", MAX_BYTES / 1024))?;
        Ok(())
    }
}

fn resolve_reference<'a>(root: &'a Value, reference: &str) -> Result<&'a Value, String> {
    let pointer = reference.strip_prefix('#').ok_or("a schema that refers to no other document")?;
    root.pointer(pointer).ok_or_else(|| "a schema whose references lead to something".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deref_schema(root: &Value, schema: &Value) -> Result<Value, String> {
        SchemaBudget::default().deref(root, schema)
    }

    #[test]
    fn references_within_the_document_are_resolved() {
        let root = json!({
            "$defs": {"a": {"type": "string"}, "b": {"items": {"$ref": "#/$defs/a"}}},
            "properties": {"x": {"$ref": "#/$defs/b"}},
        });
        assert_eq!(deref_schema(&root, &root), Ok(json!({"properties": {"x": {"items": {"type": "string"}}}})));
    }

    #[test]
    fn f134_external_recursive_and_exploding_references_are_rejected() {
        for reference in ["https://example.com/schema", "other.json#/a", "file:///etc/passwd", "#/nowhere", ""] {
            let root = json!({"properties": {"x": {"$ref": reference}}});
            assert!(deref_schema(&root, &root).is_err(), "{reference}");
        }
        let circle = json!({"properties": {"x": {"$ref": "#"}}});
        assert_eq!(deref_schema(&circle, &circle), Err("a schema that is at most 16 deep".to_owned()));
        let twice = |next: &str| json!([{"$ref": next}, {"$ref": next}, {"$ref": next}, {"$ref": next}]);
        let bomb = json!({"a": twice("#/b"), "b": twice("#/c"), "c": twice("#/d"), "d": twice("#/e"), "e": twice("#/f"),
            "f": 1});
        assert_eq!(deref_schema(&bomb, &json!({"$ref": "#/a"})), Err("a schema of at most 2000 values".to_owned()));
    }
}
