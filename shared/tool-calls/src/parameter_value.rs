//! Values of XML parameters, which carry no type.

use serde_json::Value;

use crate::json;
use crate::repair::repair;

/// Parses the text of a parameter.
///
/// `string` is the attribute of that name and takes precedence; else the declared schema decides. A parameter without a
/// type in the schema is a string. For a tool without a schema, `untyped`, it is JSON if it parses as JSON. One line
/// break at each end belongs to the markup. Entities in a string are decoded if all of it is encoded. In other types
/// they are decoded if the text is no such value as it is. Python's constants and numbers count as JSON's, and `null` means
/// that there is no argument. Where a string is allowed too, only valid JSON is another value.
pub(crate) fn parse_parameter(text: &str, string: Option<bool>, schema: Option<&Value>, untyped: bool) -> Value {
    let verbatim = text;
    let text = strip_cdata(strip_line_breaks(text));
    match string {
        // Without one at the other end a line break is no markup.
        Some(true) if verbatim.starts_with('\n') && !verbatim.ends_with('\n') => Value::String(verbatim.to_owned()),
        Some(true) => Value::String(text.to_owned()),
        None if untyped => json::parse(text.trim()).unwrap_or_else(|| decode_string(text)),
        Some(false) => json::parse(text.trim()).unwrap_or_else(|| Value::String(text.to_owned())),
        None => parse_by_schema(text, &schema.map(schema_types).unwrap_or_default()),
    }
}

fn parse_by_schema(text: &str, types: &[&str]) -> Value {
    let only_strings = types.iter().all(|kind| *kind == "string");
    let fits = |value: &Value| {
        types.iter().any(|kind| match *kind {
            "integer" | "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "null" => value.is_null(),
            _ => false,
        })
    };
    if only_strings {
        return decode_string(text);
    }
    let decoded = decode_entities(text);
    let may_be_string = types.contains(&"string");
    let read = |text: &str| {
        let text = text.trim();
        let may_repair = !may_be_string && text.starts_with(['{', '[']);
        json::parse(text).or_else(|| if may_repair { repair(text) } else { None })
    };
    let constant = match text.trim() {
        "True" | "TRUE" => Some(Value::Bool(true)),
        "False" | "FALSE" => Some(Value::Bool(false)),
        "None" => Some(Value::Null),
        _ => None,
    };
    let bit = match text.trim() {
        bit @ ("0" | "1") if types.contains(&"boolean") && !may_be_string => Some(Value::Bool(bit == "1")),
        _ => None,
    };
    let number = if may_be_string { None } else { parse_number(text) };
    let readings = [read(text), constant, number, bit, decoded.as_deref().and_then(read)];
    let is_absent = |value: &Value| value.is_null() && !may_be_string;
    // The error about an object or a list is more exact than one about text.
    let may_be_structured = !may_be_string && types.iter().any(|kind| matches!(*kind, "object" | "array"));
    let is_structured = |value: &Value| may_be_structured && (value.is_object() || value.is_array());
    readings
        .into_iter()
        .flatten()
        .find(|value| fits(value) || is_absent(value) || is_structured(value))
        .unwrap_or_else(|| if may_be_string { decode_string(text) } else { Value::String(text.to_owned()) })
}

/// Parses a number as Python reads it: `.5`, `5.`, `+5`, `007`.
pub(crate) fn parse_number(text: &str) -> Option<Value> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    // A float would lose digits of a large integer.
    if digits.contains('.') {
        text.parse::<f64>().map(Value::from).ok()
    } else {
        text.parse::<i64>().map(Value::from).ok()
    }
}

/// The entities that markup needs, and their characters; the ampersand last, so that no entity is decoded twice.
const ENTITIES: [(&str, &str); 6] =
    [("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];

fn decode_entities(text: &str) -> Option<String> {
    let is_encoded = ENTITIES.iter().any(|(entity, _)| text.contains(entity));
    is_encoded.then(|| ENTITIES.iter().fold(text.to_owned(), |text, (entity, decoded)| text.replace(entity, decoded)))
}

/// The string that a model encoded for markup: no character in it needed encoding and is not. Anything else stays.
pub(crate) fn decode_string(text: &str) -> Value {
    let is_entity = |at: usize| ENTITIES.iter().any(|(entity, _)| text[at..].starts_with(entity));
    let is_encoded = text.contains('&') && !text.contains('<') && text.match_indices('&').all(|(at, _)| is_entity(at));
    let decoded = if is_encoded { decode_entities(text) } else { None };
    Value::String(decoded.unwrap_or_else(|| text.to_owned()))
}

/// Removes the section that keeps text literal in markup: `<![CDATA[…]]>`.
fn strip_cdata(text: &str) -> &str {
    text.trim().strip_prefix("<![CDATA[").and_then(|text| text.strip_suffix("]]>")).unwrap_or(text)
}

/// The types that a schema allows; empty if it declares none.
pub(crate) fn schema_types(schema: &Value) -> Vec<&str> {
    let mut types: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![canonical_type(kind)],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).map(canonical_type).collect(),
        _ => alternatives(schema).flat_map(schema_types).collect(),
    };
    if !types.is_empty() && schema.get("nullable") == Some(&Value::Bool(true)) {
        types.push("null");
    }
    types
}

pub(crate) fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten()
}

pub(crate) fn required_fields(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The name of a type in JSON Schema: some tools declare those of a programming language.
fn canonical_type(kind: &str) -> &str {
    match kind {
        "str" | "text" | "varchar" | "char" | "enum" => "string",
        "int" | "int32" | "int64" | "uint" | "long" | "short" => "integer",
        "float" | "float32" | "float64" | "double" => "number",
        "bool" => "boolean",
        "dict" | "map" => "object",
        "list" | "tuple" | "sequence" => "array",
        other => other,
    }
}

/// Removes the line breaks that belong to the markup: those on both sides of a value. A value of several lines that begins
/// directly after its tag ends directly before the other.
fn strip_line_breaks(text: &str) -> &str {
    let inside = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    let line = inside.strip_suffix("\r\n").or_else(|| inside.strip_suffix('\n')).unwrap_or(inside);
    if inside.len() == text.len() && line.contains('\n') { inside } else { line }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse_parameter;

    #[test]
    fn schema_decides_the_type() {
        for (text, schema, expected) in [
            ("\n5\n", json!({"type": "integer"}), json!(5)),
            ("5", json!({"type": "string"}), json!("5")),
            ("5", json!({}), json!("5")),
            ("true", json!({"type": "boolean"}), json!(true)),
            ("True", json!({"type": "boolean"}), json!(true)),
            ("True", json!({"type": "string"}), json!("True")),
            ("None", json!({"type": ["integer", "null"]}), json!(null)),
            ("None", json!({"type": "integer"}), json!(null)),
            ("None", json!({"type": ["integer", "string"]}), json!("None")),
            ("{&quot;a&quot;: [1, None]}", json!({"type": "object"}), json!({"a": [1, null]})),
            ("<![CDATA[a < b]]>", json!({"type": "string"}), json!("a < b")),
            ("12345678901234567890123", json!({"type": "string"}), json!("12345678901234567890123")),
            ("{\"a\": [1]}", json!({"type": "object"}), json!({"a": [1]})),
            ("{not valid", json!({"type": ["string", "object"]}), json!("{not valid")),
            ("{\"a\": 1}", json!({"type": ["string", "object"]}), json!({"a": 1})),
            (".5", json!({"type": "number"}), json!(0.5)),
            ("-5.", json!({"type": "number"}), json!(-5.0)),
            ("007", json!({"type": "integer"}), json!(7)),
            ("007", json!({"type": ["integer", "string"]}), json!("007")),
            ("1", json!({"type": "boolean"}), json!(true)),
            ("1", json!({"type": ["boolean", "string"]}), json!("1")),
            ("{name", json!({"nullable": true}), json!("{name")),
            ("&lt;b&gt;", json!({"type": "string", "nullable": true}), json!("<b>")),
            ("1.2.3", json!({"type": "number"}), json!("1.2.3")),
            ("5", json!({"type": "int"}), json!(5)),
            ("[1]", json!({"type": "list"}), json!([1])),
            ("null", json!({"type": ["integer", "null"]}), json!(null)),
            ("7", json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!(7)),
            ("many", json!({"type": "integer"}), json!("many")),
            ("[1]", json!({"type": ["string", "object"]}), json!("[1]")),
        ] {
            assert_eq!(parse_parameter(text, None, Some(&schema), false), expected, "{text} {schema}");
        }
    }

    #[test]
    fn string_attribute_overrides_the_schema() {
        assert_eq!(parse_parameter("2", Some(true), Some(&json!({"type": "integer"})), false), json!("2"));
        assert_eq!(parse_parameter("[\"a\"]", Some(false), None, false), json!(["a"]));
        assert_eq!(parse_parameter("word", Some(false), None, false), json!("word"));
    }

    #[test]
    fn json_is_parsed_without_a_schema() {
        assert_eq!(parse_parameter("5", None, None, true), json!(5));
        assert_eq!(parse_parameter("five", None, None, true), json!("five"));
    }

    #[test]
    fn outer_line_breaks_are_markup() {
        for (text, expected) in
            [("\n\nA\n\n", "\nA\n"), ("A\n", "A"), ("A\nB\n", "A\nB\n"), ("\r\nA\nB\r\n", "A\nB"), ("\nA\nB", "A\nB")]
        {
            assert_eq!(parse_parameter(text, None, None, false), json!(expected), "{text:?}");
        }
    }

    #[test]
    fn strings_encoded_throughout_are_decoded() {
        for (text, expected) in [
            ("A &amp; B", "A & B"),
            ("&lt;b&gt;&quot;x&quot;", "<b>\"x\""),
            ("&amp;lt;", "&lt;"),
            ("<b>A &amp; B</b>", "<b>A &amp; B</b>"),
            ("a & b &lt; c", "a & b &lt; c"),
            ("a&nbsp;&amp;", "a&nbsp;&amp;"),
        ] {
            assert_eq!(parse_parameter(text, None, None, false), json!(expected), "{text}");
            assert_eq!(parse_parameter(text, Some(true), None, false), json!(text), "{text}");
        }
    }
}
