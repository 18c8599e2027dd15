//! Parameter schemas of tools, derived from the types that parse the arguments.

use domain::{Language, ToolExample, ToolSpec};
use prompts::ToolFile;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Keys that some endpoints reject and no model needs. The descriptions are in the texts.
const UNWANTED: [&str; 4] = ["$schema", "title", "format", "description"];

/// The texts of a [`ToolFile`].
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    description: String,
    parameters: Map<String, Value>,
    examples: Vec<ToolExample>,
}

/// Returns the declaration of a tool whose arguments are an `A`, with its texts from the file.
///
/// The doc comments on the fields of `A` are for readers of the code only.
pub fn localised_spec<A: JsonSchema>(file: &ToolFile, language: Language) -> ToolSpec {
    // A test parses every file.
    let texts: Texts = serde_json::from_str(file.text(language)).unwrap_or_default();
    let mut parameters = schema_of::<A>();
    for (name, property) in parameters.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if let (Some(property), Some(text)) = (property.as_object_mut(), texts.parameters.get(name)) {
            property.insert("description".to_owned(), text.clone());
        }
    }
    let Texts { description, examples, .. } = texts;
    ToolSpec { name: file.name.to_owned(), description, parameters, examples }
}

/// Builds a JSON Schema in the plain form that every endpoint accepts: no references, no `null` (an optional field is
/// left out), and a choice is an `enum`.
fn schema_of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let generator = settings.with_transform(RecursiveTransform(simplify)).into_generator();
    Schema::to_value(generator.into_root_schema_for::<A>())
}

fn simplify(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    remove_null(schema);
    flatten_constants(schema);
    schema.retain(|key, value| !UNWANTED.contains(&key.as_str()) && (key != "default" || !is_empty(value)));
}

fn is_empty(default: &Value) -> bool {
    default.is_null() || default.as_array().is_some_and(Vec::is_empty)
}

/// Removes `null` from the values that a field accepts.
fn remove_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            schema.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [only] = choices.as_slice() {
            let only = only.as_object().cloned().unwrap_or_default();
            schema.shift_remove("anyOf");
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
}

/// Replaces a `oneOf` of constants, which an enumeration with doc comments on its variants produces, by one `enum`.
fn flatten_constants(schema: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = schema.get("oneOf") else { return };
    let values: Option<Vec<Value>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
    if let Some(values) = values {
        schema.shift_remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), values.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Calculator, CurrentTime, Tool};

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Arguments {
        /// 名字
        name: String,
        /// 次数
        count: Option<u32>,
        /// 种类
        #[serde(default)]
        kind: Option<Kind>,
        /// 清单
        #[serde(default)]
        list: Vec<Entry>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        /// The first.
        One,
        /// The second.
        Two,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Entry {
        /// 时间
        at: Option<f64>,
    }

    #[test]
    fn declarations_describe_their_parameters_and_examples_fit() {
        let tools: [(&dyn Tool, ToolFile); 2] =
            [(&Calculator, ToolFile::CALCULATOR), (&CurrentTime, ToolFile::CURRENT_TIME)];
        for (tool, file) in tools {
            for language in [Language::Zh, Language::En] {
                let (spec, texts) = (tool.spec(language), serde_json::from_str::<Texts>(file.text(language)).unwrap());
                let properties = spec.parameters["properties"].as_object().unwrap();
                let described: Vec<_> = properties.iter().map(|(name, field)| (name, &field["description"])).collect();
                assert_eq!(described, texts.parameters.iter().collect::<Vec<_>>());
                assert!(described.iter().all(|(_, text)| text.as_str().is_some_and(|text| !text.is_empty())));
                assert!(!spec.description.is_empty() && !spec.examples.is_empty(), "{}", spec.name);
                for ToolExample { arguments, .. } in spec.examples {
                    assert_eq!(tool_calls::coerce_arguments(&spec.parameters, arguments.clone()), Ok(arguments));
                }
            }
        }
    }

    #[test]
    fn schema_of_every_type_is_plain() {
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "count": {"type": "integer", "minimum": 0},
                "kind": {"type": "string", "enum": ["one", "two"]},
                "list": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "number"}}}},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        assert_eq!(schema_of::<Arguments>(), expected);
    }
}
