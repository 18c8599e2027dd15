//! Arguments of calls against schemas whose parts multiply with the arguments' parts.

use serde_json::{Value, json};

use crate::catalog::{list, pattern};
use crate::probe::{Kind, Pattern, UpstreamResponses};
use crate::requests::{call, turn};

/// Bytes of the arguments of a call: slightly less than the most that is accepted.
const LARGEST: usize = 60 * 1024;

/// The tools of these kinds, with schemas of almost the largest size: a name, and what the items of `a` are.
pub(crate) fn tools() -> Vec<(&'static str, Value)> {
    let codes = list(260, |at| json!(format!("{}{}", letter(at / 26), letter(at % 26))));
    let properties: serde_json::Map<String, Value> =
        (0..400).map(|at| (format!("p{at}"), json!({ "type": "string" }))).collect();
    let alternative = |at: usize| json!({ "enum": [format!("alternative {at}")] });
    vec![
        ("numbers", json!({ "enum": list(1_800, |at| json!(at + 10_000)) })),
        ("countries", json!({ "enum": codes })),
        ("alternatives", json!({ "anyOf": list(398, alternative) })),
        ("typed", json!({ "anyOf": list(398, |at| json!({ "type": "integer", "minimum": 1_000 + at })) })),
        ("fields", json!({ "type": "object", "properties": properties })),
        ("required", json!({ "type": "object", "required": vec!["x"; 1_900], "properties": { "x": {} } })),
    ]
}

/// The definition of such a tool.
pub(crate) fn definition(name: &str, items: &Value, endpoint: &Value) -> Value {
    let parameters = json!({ "type": "object", "properties": { "a": { "type": "array", "items": items } } });
    json!({ "name": name, "description": "Takes a list.", "endpoint": endpoint, "parameters": parameters })
}

fn letter(at: usize) -> char {
    u8::try_from(at).map_or('A', |at| char::from(b'A' + at % 26))
}

/// All kinds of arguments.
pub(crate) fn kinds() -> Vec<Kind> {
    let patterns = vec![
        items("wrong numbers", "numbers", 2, |_| json!(1)),
        items("numbers as text", "numbers", 8, |at| json!(format!("{}", 10_000 + at % 1_800))),
        items("wrong countries", "countries", 12, |at| json!(format!("Land {at}"))),
        items("countries in lower case", "countries", 5, |_| json!("ab")),
        items("no alternative", "alternatives", 8, |_| json!("other")),
        items("last alternative", "alternatives", 18, |_| json!("alternative 397")),
        items("typed alternatives", "typed", 4, |_| json!(1)),
        items("text of alternatives", "typed", 8, |_| json!("1")),
        items("empty objects", "fields", 3, |_| json!({})),
        items("wrong objects", "fields", 8, |_| json!({ "p1": [] })),
        items("required", "required", 8, |_| json!({ "x": 1 })),
        pattern("one text", |size| called("typed", &json!(["x".repeat(size)]))),
    ];
    vec![Kind { name: "arguments", largest: LARGEST, patterns }]
}

/// A list of items that have about this many bytes each.
fn items(
    name: &'static str,
    tool: &'static str,
    bytes: usize,
    item: impl Fn(usize) -> Value + Send + Sync + 'static,
) -> Pattern {
    pattern(name, move |size| called(tool, &list(size / bytes, &item)))
}

fn called(tool: &str, items: &Value) -> crate::probe::Probe {
    turn(UpstreamResponses { model: call(tool, &json!({ "a": items })), ..UpstreamResponses::default() })
}
