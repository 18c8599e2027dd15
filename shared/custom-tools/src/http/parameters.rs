//! Parameter schemas of custom tools.

use std::collections::HashMap;

use bounded_regex::{Limits, Regex};
use domain::Language;
use prompts::{CustomToolTexts, fill};
use serde_json::{Map, Value, json};

use super::schema_refs::SchemaBudget;
use super::template::is_name;

/// Longest schema, in bytes of JSON.
const MAX_SCHEMA_BYTES: usize = 16 * 1024;

/// The limits of a pattern. A repetition takes about 100 bytes: `^.{1,4000}$` is accepted.
const PATTERN_LIMITS: Limits = Limits { max_bytes: 500, max_compiled_bytes: 512 * 1024 };

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];

/// Checks a schema and resolves its references; texts are checked against its patterns. The error describes what is
/// accepted.
pub(crate) fn validate(schema: &Value) -> Result<Value, String> {
    let schema = resolve(schema)?;
    check_patterns(&schema)?;
    Ok(schema)
}

/// The same with any patterns, for a schema from a server that checks its own patterns, or one that was stored before.
pub(crate) fn resolve(schema: &Value) -> Result<Value, String> {
    check_length(schema)?;
    let mut schema = SchemaBudget::default().deref(schema, schema)?;
    check_length(&schema)?;
    let fields = schema.as_object_mut().filter(|fields| fields.get("type").is_some_and(|kind| kind == "object"));
    let fields = fields.ok_or("a JSON Schema of the type `object`")?;
    fields.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let properties = fields.get("properties").and_then(Value::as_object);
    let properties = properties.ok_or("a JSON Schema whose `properties` are an object")?;
    if !properties.keys().all(|name| is_name(name)) {
        return Err("a JSON Schema whose properties have names of letters, digits and `_-.`".to_owned());
    }
    let known = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
    let required = fields.get("required").map_or(Some(&[][..]), |names| names.as_array().map(Vec::as_slice));
    if !required.is_some_and(|names| names.iter().all(known)) {
        return Err("a JSON Schema that requires only its properties".to_owned());
    }
    Ok(schema)
}

fn check_length(schema: &Value) -> Result<(), String> {
    let short = schema.to_string().len() <= MAX_SCHEMA_BYTES;
    short.then_some(()).ok_or_else(|| format!("a JSON Schema of at most {} KiB", MAX_SCHEMA_BYTES / 1024))
}

fn check_patterns(schema: &Value) -> Result<(), String> {
    let accepted = "a JSON Schema whose patterns are regular expressions without look-around and back-references";
    if schema.get("patternProperties").is_some() {
        return Err("a JSON Schema without `patternProperties`".to_owned());
    }
    if let Some(Value::String(pattern)) = schema.get("pattern") {
        bounded_regex::compile(pattern, PATTERN_LIMITS).ok_or(accepted)?;
    }
    match schema {
        Value::Object(fields) => fields.values().try_for_each(check_patterns),
        Value::Array(items) => items.iter().try_for_each(check_patterns),
        _ => Ok(()),
    }
}

/// The arguments that a schema names, and those that an agent fixes; all of them if it accepts additional ones.
pub(crate) fn declared(
    schema: &Value,
    arguments: &Map<String, Value>,
    is_fixed: &dyn Fn(&str) -> bool,
) -> Map<String, Value> {
    let is_open = matches!(schema.get("additionalProperties"), Some(Value::Bool(true) | Value::Object(_)));
    let sent = arguments.iter().filter(|(name, _)| is_open || is_fixed(name) || declares(schema, name));
    sent.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether a schema or one of its parts has a property of this name.
fn declares(schema: &Value, name: &str) -> bool {
    let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let mut parts = lists.chain(["then", "else"].iter().filter_map(|key| schema.get(key)));
    schema.get("properties").is_some_and(|all| all.get(name).is_some()) || parts.any(|part| declares(part, name))
}

/// Checks the texts in arguments that otherwise fit; the error names the first wrong field and what is accepted.
pub(crate) fn check_texts(schema: &Value, arguments: &Value, language: Language) -> Result<(), String> {
    let texts = CustomToolTexts::of(language);
    TextChecker { texts, patterns: HashMap::new() }.check_at("", schema, arguments)
}

/// Checks texts in time linear in their length; each pattern is compiled once, for any number of texts.
struct TextChecker<'a> {
    texts: &'static CustomToolTexts,
    patterns: HashMap<&'a str, Option<Regex>>,
}

impl<'a> TextChecker<'a> {
    fn check_at(&mut self, path: &str, schema: &'a Value, value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) => self.check(path, schema, text),
            Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                property.map_or(Ok(()), |property| self.check_at(&path, property, value))
            }),
            Value::Array(items) => schema.get("items").map_or(Ok(()), |item| {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(at, value)| self.check_at(&format!("{path}.{at}"), item, value))
            }),
            _ => Ok(()),
        }
    }

    fn check(&mut self, path: &str, schema: &'a Value, text: &str) -> Result<(), String> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let length = text.chars().count();
        if bound("minLength").is_some_and(|min| length < min) || bound("maxLength").is_some_and(|max| length > max) {
            return Err(fill(self.texts.wrong_length, &[("field", path)]));
        }
        match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) if !self.is_match(pattern, text) => {
                Err(fill(self.texts.wrong_pattern, &[("field", path), ("pattern", pattern)]))
            }
            _ => Ok(()),
        }
    }

    fn is_match(&mut self, pattern: &'a str, text: &str) -> bool {
        let compile = || bounded_regex::compile(pattern, PATTERN_LIMITS);
        // A pattern that only an earlier release could compile rejects nothing.
        self.patterns.entry(pattern).or_insert_with(compile).as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// Returns the schema of parameters as a table of their names, such as `{"city": {"type": "string", "description": "…", "required": false}}`, which
/// are required by default. Any other object is returned as it is.
pub(crate) fn to_schema(given: Map<String, Value>) -> Value {
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
    use serde_json::json;

    use super::*;

    #[test]
    fn f134_schema_is_small_plain_and_self_contained() {
        let of = |property: Value| validate(&json!({"type": "object", "properties": {"a": property}}));
        for pattern in
            ["^[a-z]+$", r"^[\w.-]{1,128}$", "^.{1,255}$", r"^[^\s@]{1,64}@[^\s@]{1,255}$", r"^\p{Han}{2,4}$"]
        {
            assert!(of(json!({"type": "string", "pattern": pattern})).is_ok(), "{pattern}");
        }
        for property in [
            json!({"$ref": "https://example.com/s.json"}),
            json!({"pattern": "(?=a)b"}),
            json!({"pattern": "(a)\\1"}),
            json!({"pattern": "("}),
            json!({"pattern": "a".repeat(501)}),
            json!({"pattern": "((a{100}){100}){100}"}),
            json!({"pattern": r"(.{99}){400}"}),
            json!({"items": {"pattern": "(?<!a)b"}}),
            json!({"patternProperties": {"a+": {}}}),
            json!({"description": "a".repeat(17_000)}),
            (0..20).fold(json!({}), |inner, _| json!({"items": inner})),
        ] {
            assert!(of(property.clone()).is_err(), "{property}");
        }
        for schema in [
            json!({}),
            json!([]),
            json!({"type": "array"}),
            json!({"type": "object", "properties": []}),
            json!({"type": "object", "required": ["a"]}),
            json!({"type": "object", "properties": {"a b": {}}}),
        ] {
            assert!(validate(&schema).is_err(), "{schema}");
        }
        assert_eq!(validate(&json!({"type": "object"})), Ok(json!({"type": "object", "properties": {}})));
    }

    #[test]
    fn f134_schema_is_small_with_resolved_references() {
        let with = |text: usize, times: usize| {
            let references = vec![json!({"$ref": "#/$defs/a"}); times];
            json!({"type": "object", "$defs": {"a": "a".repeat(text)}, "properties": {"x": {"enum": references}}})
        };
        assert!(validate(&with(5000, 3)).is_ok());
        assert_eq!(validate(&with(5000, 4)), Err("a JSON Schema of at most 16 KiB".to_owned()));
        assert_eq!(validate(&with(15_000, 5)), Err("a schema with texts of at most 64 KiB".to_owned()));
    }

    #[test]
    fn f134_malicious_pattern_takes_linear_time() {
        let schema = json!({"properties": {"a": {"pattern": "^(a+)+$"}}});
        let text = format!("{}!", "a".repeat(50_000));
        assert_eq!(
            check_texts(&schema, &json!({"a": text}), Language::En),
            Err("`a` must match the pattern ^(a+)+$".to_owned())
        );
    }

    #[test]
    fn only_declared_or_fixed_arguments_are_sent() {
        let arguments = json!({"city": "a", "unit": "K", "extra": 1});
        let sent = |more: Value| {
            let mut schema = json!({"type": "object", "properties": {"city": {}}});
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let found = declared(&schema, arguments.as_object().unwrap(), &|name| name == "unit");
            found.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
        };
        assert_eq!([sent(json!({})), sent(json!({"additionalProperties": false}))], ["city unit", "city unit"]);
        for open in [json!(true), json!({}), json!({"type": "integer"})] {
            assert_eq!(sent(json!({ "additionalProperties": open })), "city unit extra");
        }
        for part in ["allOf", "anyOf", "oneOf"] {
            assert_eq!(sent(json!({ part: [{"properties": {"extra": {}}}] })), "city unit extra", "{part}");
        }
    }

    #[test]
    fn length_and_pattern_apply_at_every_depth() {
        let schema = json!({"properties": {
            "code": {"pattern": "^[A-Z]{3}$"}, "name": {"minLength": 2, "maxLength": 3},
            "rows": {"items": {"properties": {"id": {"maxLength": 1}}}},
        }});
        let check = |arguments: Value| check_texts(&schema, &arguments, Language::En);
        assert_eq!(check(json!({"code": "EUR", "name": "汉汉", "rows": [{"id": "a"}], "other": "x", "n": 1})), Ok(()));
        assert_eq!(check(json!({"code": "eur"})), Err("`code` must match the pattern ^[A-Z]{3}$".to_owned()));
        assert_eq!(check(json!({"name": "a"})), Err("`name` is too short or too long".to_owned()));
        assert_eq!(check(json!({"rows": [{"id": "ab"}]})), Err("`rows.0.id` is too short or too long".to_owned()));
        let chinese = |arguments: Value| check_texts(&schema, &arguments, Language::Zh).unwrap_err();
        assert_eq!(chinese(json!({"code": "eur"})), "`code` 必须符合正则表达式 ^[A-Z]{3}$");
        assert_eq!(chinese(json!({"name": "a"})), "`name` 太短或太长");
    }

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
