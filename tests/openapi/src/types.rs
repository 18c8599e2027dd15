//! Types as TypeScript writes them, as JSON Schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Converts types to schemas; references to the named types are `$ref`s, and a spread copies the fields of one.
pub(crate) struct Types<'a>(pub(crate) BTreeMap<&'a str, String>);

struct Reader<'a> {
    types: &'a Types<'a>,
    rest: &'a str,
}

impl Types<'_> {
    /// The schema of a type; panics if it has another form.
    pub(crate) fn schema(&self, text: &str) -> Value {
        let mut reader = Reader { types: self, rest: text };
        let mut schema = reader.union();
        reader.describe(&mut schema);
        reader.skip_space();
        assert!(reader.rest.is_empty(), "not a type: {:?} in {text:?}", reader.rest);
        schema
    }
}

impl<'a> Reader<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ',');
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let after = self.rest.strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn name(&mut self) -> &'a str {
        self.skip_space();
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name
    }

    /// The text up to a delimiter, which is dropped.
    fn until(&mut self, delimiter: char) -> &'a str {
        let (text, rest) = self.rest.split_once(delimiter).unwrap_or((self.rest, ""));
        self.rest = rest;
        text
    }

    /// Adds the comment at the end of the line, if there is one. The comment of a field before a line break is the field's.
    fn describe(&mut self, schema: &mut Value) {
        let line = self.rest.trim_start_matches([' ', ',']);
        if let Some(comment) = line.strip_prefix("//") {
            self.rest = comment;
            schema["description"] = self.until('\n').trim().into();
        }
    }

    fn union(&mut self) -> Value {
        let mut parts = vec![self.array()];
        while self.take("|") {
            parts.push(self.array());
        }
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let constants: Vec<&Value> = parts.iter().filter_map(|part| part.get("const")).collect();
        if constants.len() == parts.len() {
            return json!({ "type": "string", "enum": constants });
        }
        let kinds: Vec<&Value> = parts.iter().filter_map(|part| part.get("type").filter(|_| is_plain(part))).collect();
        if kinds.len() == parts.len() { json!({ "type": kinds }) } else { json!({ "anyOf": parts }) }
    }

    fn array(&mut self) -> Value {
        let mut schema = self.single();
        while self.rest.starts_with("[]") {
            self.rest = &self.rest[2..];
            schema = json!({ "type": "array", "items": schema });
        }
        schema
    }

    fn single(&mut self) -> Value {
        if self.take("{") {
            return self.object();
        }
        if self.take("(") {
            let inner = self.union();
            assert!(self.take(")"), "no closing parenthesis: {:?}", self.rest);
            return inner;
        }
        if self.take("\"") {
            return json!({ "type": "string", "const": self.until('"') });
        }
        match self.name() {
            name @ ("string" | "integer" | "number") => self.bounded(name),
            name @ ("boolean" | "null" | "object") => json!({ "type": name }),
            "any" => json!({}),
            "time" => json!({ "type": "string", "format": "date-time" }),
            name @ ("true" | "false") => json!({ "type": "boolean", "const": name == "true" }),
            "1" => json!({ "type": "integer", "const": 1 }),
            "map" => {
                assert!(self.take("<"), "no type of the values: {:?}", self.rest);
                let values = self.union();
                assert!(self.take(">"), "no end of the type of the values: {:?}", self.rest);
                json!({ "type": "object", "additionalProperties": values })
            }
            name => {
                assert!(self.types.0.contains_key(name), "an unknown type: {name:?} before {:?}", self.rest);
                json!({ "$ref": format!("#/components/schemas/{name}") })
            }
        }
    }

    /// The schema of a string or a number with its range, such as `(1..200)`.
    fn bounded(&mut self, name: &str) -> Value {
        let mut schema = json!({ "type": name });
        if !self.rest.starts_with('(') {
            return schema;
        }
        self.rest = &self.rest[1..];
        let (low, high) = self.until(')').split_once("..").unwrap_or_default();
        let keys = if name == "string" { ["minLength", "maxLength"] } else { ["minimum", "maximum"] };
        for (key, bound) in keys.into_iter().zip([low, high]).filter(|(_, bound)| !bound.is_empty()) {
            schema[key] = serde_json::from_str(bound).unwrap_or_default();
        }
        schema
    }

    fn object(&mut self) -> Value {
        let mut schema = json!({ "type": "object" });
        self.describe(&mut schema);
        let (mut properties, mut required) = (Map::new(), Vec::<Value>::new());
        while !self.take("}") {
            assert!(!self.rest.is_empty(), "an object without an end");
            if self.take("...") {
                let spread = self.name();
                if spread.is_empty() {
                    schema["additionalProperties"] = true.into();
                } else {
                    let Value::Object(copied) = self.types.schema(&self.types.0[spread]) else { continue };
                    properties.extend(copied["properties"].as_object().cloned().unwrap_or_default());
                    required.extend(copied.get("required").and_then(Value::as_array).cloned().unwrap_or_default());
                }
                continue;
            }
            let name = self.name();
            let is_optional = self.rest.starts_with('?');
            self.rest = self.rest.trim_start_matches('?');
            assert!(self.take(":"), "a field without a type: {name:?} before {:?}", self.rest);
            let mut field = self.union();
            self.describe(&mut field);
            properties.insert(name.to_owned(), field);
            required.retain(|known| known != name);
            if !is_optional {
                required.push(name.into());
            }
        }
        schema["properties"] = properties.into();
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema
    }
}

/// Whether a schema has nothing but a type.
fn is_plain(schema: &Value) -> bool {
    schema.as_object().is_some_and(|fields| fields.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_become_schemas() {
        let types = Types(BTreeMap::from([("Named", "{ a: string, b?: integer(0..9) } // One.".to_owned())]));
        let named = json!({ "$ref": "#/components/schemas/Named" });
        let properties = json!({ "a": { "type": "string" }, "b": { "type": "integer", "minimum": 0, "maximum": 9 } });
        for (text, expected) in [
            ("string | null", json!({ "type": ["string", "null"] })),
            (r#""a" | "b""#, json!({ "type": "string", "enum": ["a", "b"] })),
            ("Named[] // Two.", json!({ "type": "array", "items": named, "description": "Two." })),
            ("(Named | null)[]", json!({ "type": "array", "items": { "anyOf": [named, { "type": "null" }] } })),
            ("map<any>", json!({ "type": "object", "additionalProperties": {} })),
            ("Named", named.clone()),
            ("{ ...Named }", json!({ "type": "object", "properties": properties, "required": ["a"] })),
            (
                "{\n  ...Named\n  a?: true // Three.\n  ...\n}",
                json!({
                    "type": "object",
                    "additionalProperties": true,
                    "properties": {
                        "a": { "type": "boolean", "const": true, "description": "Three." }, "b": properties["b"],
                    },
                }),
            ),
        ] {
            assert_eq!(types.schema(text), expected, "{text}");
        }
    }
}
