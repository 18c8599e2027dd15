//! The schemas of the types that the page uses, as TypeScript writes them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Map, Value};

/// The types that the page names; those that they refer to follow from them.
const ROOTS: [&str; 13] = [
    "AgentSummary",
    "Attachment",
    "Erasure",
    "Event",
    "Execution",
    "FoundConversation",
    "Message",
    "Model",
    "Rating",
    "Share",
    "StoredFile",
    "Upload",
    "UsageRow",
];

/// How much of a union may be on one line, in bytes.
const MAX_LINE: usize = 90;

const HEADER: &str =
    "// What the server sends: written by `cargo run -p openapi` from tests/openapi/api.txt, never by hand.\n";

/// The declarations of the page's types, from the document's schemas.
pub(crate) fn declarations(schemas: &Map<String, Value>) -> String {
    let mut types = BTreeMap::new();
    let mut open: Vec<String> = ROOTS.map(str::to_owned).into();
    while let Some(name) = open.pop() {
        if let Entry::Vacant(entry) = types.entry(name) {
            let schema = &schemas[entry.key()];
            add_references(schema, &mut open);
            entry.insert(schema);
        }
    }
    let declaration = |(name, schema): (String, &Value)| {
        format!("\n{}export type {name} = {};\n", comment(schema, ""), type_of(schema, ""))
    };
    types.into_iter().map(declaration).fold(HEADER.to_owned(), |text, declaration| text + &declaration)
}

fn add_references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            names.extend(reference(schema).map(str::to_owned));
            fields.values().for_each(|field| add_references(field, names));
        }
        Value::Array(items) => items.iter().for_each(|item| add_references(item, names)),
        _ => {}
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn comment(schema: &Value, indent: &str) -> String {
    schema["description"].as_str().map(|text| format!("{indent}/** {text} */\n")).unwrap_or_default()
}

fn type_of(schema: &Value, indent: &str) -> String {
    if let Some(name) = reference(schema) {
        return name.to_owned();
    }
    if let Some(types) = schema["anyOf"].as_array() {
        return union(types.iter().map(|one| type_of(one, indent)));
    }
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(Value::to_string));
    }
    match (&schema["const"], &schema["type"]) {
        (Value::Null, Value::Array(kinds)) => union(kinds.iter().map(|one| kind(one).to_owned())),
        (Value::Null, Value::String(kind)) if kind == "array" => {
            let (one, items) = (&schema["items"], type_of(&schema["items"], indent));
            let is_union = one["anyOf"].is_array() || one["enum"].is_array() || one["type"].is_array();
            if is_union { format!("({items})[]") } else { format!("{items}[]") }
        }
        (Value::Null, Value::String(kind)) if kind == "object" => object(schema, indent),
        (Value::Null, name) => kind(name).to_owned(),
        (constant, _) => constant.to_string(),
    }
}

fn union(types: impl Iterator<Item = String>) -> String {
    let (mut text, mut line) = (String::new(), 0);
    for one in types {
        let is_full = line + one.len() > MAX_LINE;
        line = if is_full { one.len() } else { line + one.len() };
        text.push_str(if text.is_empty() {
            ""
        } else if is_full {
            "\n  | "
        } else {
            " | "
        });
        text.push_str(&one);
    }
    text
}

fn kind(name: &Value) -> &str {
    match name.as_str() {
        Some("integer") => "number",
        Some(name) => name,
        None => "unknown",
    }
}

fn object(schema: &Value, indent: &str) -> String {
    let Some(fields) = schema["properties"].as_object() else {
        let values = Some(&schema["additionalProperties"]).filter(|values| values.is_object());
        return format!("Record<string, {}>", values.map_or_else(|| "unknown".to_owned(), |one| type_of(one, indent)));
    };
    let inner = format!("{indent}  ");
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let field = |(name, field): (&String, &Value)| {
        let optional = if is_required(name) { "" } else { "?" };
        format!("{}{inner}{name}{optional}: {};\n", comment(field, &inner), type_of(field, &inner))
    };
    format!("{{\n{}{indent}}}", fields.iter().map(field).collect::<String>())
}
