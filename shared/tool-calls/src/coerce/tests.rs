use domain::Language;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::coerce_arguments;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "count": {"type": "integer", "minimum": 1, "maximum": 20},
            "score": {"type": "number"},
            "fresh": {"type": "boolean"},
            "depth": {"type": "string", "enum": ["quick", "deep"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "filter": {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "any": {},
        },
        "required": ["query"],
    })
}

fn coerced(arguments: Value) -> Value {
    match coerce_arguments(&schema(), arguments) {
        Ok(value) => value,
        Err(errors) => Value::String(errors.render(Language::En)),
    }
}

#[test]
fn matching_arguments_stay_unchanged() {
    let arguments = json!({
        "query": "x", "count": 5, "score": 1.5, "fresh": true, "depth": "deep", "tags": ["a"],
        "filter": {"from": "y"}, "limit": null, "any": [1], "unknown": 1,
    });
    assert_eq!(coerced(arguments.clone()), arguments);
}

#[test]
fn lossless_conversions_are_applied() {
    assert_eq!(
        coerced(json!({
            "query": 2024, "count": "5", "score": "1.5", "fresh": "True", "depth": "Deep", "tags": "a",
            "filter": "{\"from\": \"y\"}", "limit": "7",
        })),
        json!({
            "query": "2024", "count": 5, "score": 1.5, "fresh": true, "depth": "deep", "tags": ["a"],
            "filter": {"from": "y"}, "limit": 7,
        })
    );
    assert_eq!(
        coerced(json!({"query": "x", "count": 5.0, "tags": "[\"a\"]"})),
        json!({"query": "x", "count": 5, "tags": ["a"]})
    );
    assert_eq!(coerced(json!("{\"query\": \"x\"}")), json!({"query": "x"}));
}

#[test]
fn separated_numbers_become_a_list() {
    let schema = json!({"properties": {"at": {"type": "array", "items": {"type": "number"}}}});
    for (text, expected) in [("1, 2.5,3", json!([1, 2.5, 3])), ("10\n20", json!([10, 20])), ("7", json!([7]))] {
        assert_eq!(coerce_arguments(&schema, json!({"at": text})).ok(), Some(json!({"at": expected})), "{text}");
    }
    assert!(coerce_arguments(&schema, json!({"at": "1, x"})).is_err());
}

#[test]
fn null_is_absent_unless_accepted() {
    assert_eq!(coerced(json!({"query": "x", "count": null, "limit": null})), json!({"query": "x", "limit": null}));
    assert_eq!(coerced(json!(null)), json!("`query` is missing"));
}

#[test]
fn f051_invalid_arguments_are_rejected_by_field_name() {
    for (arguments, reason) in [
        (json!({"query": ["x"]}), "`query` must be a string"),
        (json!({"query": "x", "count": "many"}), "`count` must be an integer from 1 to 20"),
        (json!({"query": "x", "count": 21}), "`count` must be an integer from 1 to 20"),
        (json!({"query": "x", "count": 1.5}), "`count` must be an integer from 1 to 20"),
        (json!({"query": "x", "fresh": 1}), "`fresh` must be true or false"),
        (json!({"query": "x", "depth": "slow"}), "`depth` must be one of \"quick\", \"deep\""),
        (json!({"query": "x", "tags": "a, b"}), "`tags` must be an array"),
        (json!({"query": "x", "tags": ["a", {}]}), "`tags.1` must be a string"),
        (json!({"query": "x", "limit": "no"}), "`limit` must be an integer or null"),
        (json!({"filter": {}}), "`query` is missing; `filter.from` is missing"),
        (json!("x"), "the arguments must be a JSON object"),
        (json!([]), "the arguments must be a JSON object"),
    ] {
        assert_eq!(coerced(arguments.clone()), json!(reason), "{arguments}");
    }
}

#[test]
fn f051_errors_are_in_chinese_for_chinese_turns() {
    for (arguments, reason) in [
        (json!({"query": ["x"], "fresh": 1}), "`query` 必须是字符串；`fresh` 必须是布尔值 true 或 false"),
        (json!({"query": "x", "count": 21}), "`count` 必须是从 1 到 20 的整数"),
        (json!({"query": "x", "depth": "slow"}), "`depth` 必须是以下值之一：\"quick\"、\"deep\""),
        (json!({"query": "x", "limit": "no"}), "`limit` 必须是整数或空值 null"),
        (json!({"filter": {}}), "缺少 `query`；缺少 `filter.from`"),
        (json!("x"), "参数整体必须是一个 JSON 对象"),
    ] {
        let errors = coerce_arguments(&schema(), arguments).unwrap_err();
        assert_eq!(errors.render(Language::Zh), reason);
    }
}

#[test]
fn oversized_integer_is_rejected_instead_of_rounded() {
    assert_eq!(coerced(json!({"query": "12345678901234567890123"})), json!({"query": "12345678901234567890123"}));
    assert_eq!(
        coerced(json!({"query": "x", "limit": "12345678901234567890123"})),
        json!("`limit` must be an integer or null")
    );
}

#[test]
fn unknown_fields_are_dropped_if_schema_forbids_them() {
    let closed = json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false});
    assert_eq!(coerce_arguments(&closed, json!({"a": "x", "b": 1})), Ok(json!({"a": "x"})));
}

/// A schema of a list of such items.
fn list_of(items: &Value) -> Value {
    json!({"properties": {"a": {"type": "array", "items": items}}})
}

#[test]
fn f051_first_errors_of_a_large_call_are_reported() {
    let numbers: Vec<Value> = (0..1_800).map(|at| json!(at + 10_000)).collect();
    for allowed in [&numbers[..], &numbers[..260]] {
        let errors = coerce_arguments(&list_of(&json!({"enum": allowed})), json!({"a": vec![1; 32_000]})).unwrap_err();
        assert_eq!((errors.invalid.len(), errors.too_large), (10, false));
        let text = errors.render(Language::En);
        assert!(text.contains("`a.9` must be one of 10000, 10001") && text.contains("10099, …"), "{text}");
        assert!(text.len() < 10_000, "{} bytes", text.len());
    }
    let required: Vec<String> = (0..1_000).map(|at| format!("p{at}")).collect();
    assert_eq!(coerce_arguments(&json!({"required": required}), json!({})).unwrap_err().missing.len(), 10);
}

#[test]
fn f051_large_enumerations_are_read_once() {
    let allowed: Vec<Value> = (0..1_800).map(|at| json!(format!("Value {at}"))).collect();
    let schema = list_of(&json!({"enum": allowed}));
    let given: Vec<String> = (0..32_000).map(|at| format!("VALUE {}", at % 1_800)).collect();
    let fitted = coerce_arguments(&schema, json!({"a": given})).unwrap();
    assert_eq!(
        (&fitted["a"][0], &fitted["a"][31_999]),
        (&json!("Value 0"), &json!(format!("Value {}", 31_999 % 1_800)))
    );
    let ambiguous = list_of(&json!({"enum": ["a", "A", 1, "1", "a"]}));
    assert_eq!(coerce_arguments(&ambiguous, json!({"a": ["a", "A", 1, "1"]})), Ok(json!({"a": ["a", "A", 1, "1"]})));
    assert!(coerce_arguments(&ambiguous, json!({"a": [" a"]})).is_err());
}

#[test]
fn f051_check_that_would_take_long_is_given_up() {
    let alternatives: Vec<Value> = (0..398).map(|at| json!({"enum": [format!("alternative {at}")]})).collect();
    let fields: serde_json::Map<String, Value> = (0..400).map(|at| (format!("p{at}"), json!({}))).collect();
    let many_required = json!({"type": "object", "required": vec!["x"; 1_900], "properties": {"x": {}}});
    let deep = (0..12).fold(json!({"type": "null"}), |inner, _| {
        json!({"anyOf": [{"type": "array", "items": inner}, {"type": "array", "items": inner, "minItems": 1}]})
    });
    let nested = (0..10).fold(json!("x"), |inner, _| json!([inner]));
    let text = "[1]".repeat(20_000);
    let rejected = coerce_arguments(&list_of(&deep), json!({"a": vec![nested; 1_000]})).unwrap_err();
    assert_eq!(rejected.invalid.len(), 10, "an alternative ends with its first error");
    for (items, given) in [
        (json!({"anyOf": alternatives}), json!(vec!["alternative 397"; 8_000])),
        (json!({"anyOf": vec![json!({"type": "object"}); 398]}), json!([text])),
        (many_required, json!(vec![json!({"x": 1}); 8_000])),
    ] {
        let errors = coerce_arguments(&list_of(&items), json!({"a": given})).unwrap_err();
        assert!(errors.too_large && errors.invalid.is_empty(), "{errors:?}");
        assert_eq!(errors.render(Language::En), "the arguments are too large to check: send fewer items at once");
    }
    let schema = list_of(&json!({"type": "object", "properties": fields}));
    let rows = json!({"a": vec![json!({"p1": 1}); 7_000]});
    assert_eq!(coerce_arguments(&schema, rows.clone()), Ok(rows));
    let optional = list_of(&json!({"anyOf": [{"type": "string"}, {"type": "null"}]}));
    let texts =
        json!({"a": (0..16_000).map(|at| if at % 2 == 0 { json!("x") } else { json!(null) }).collect::<Vec<_>>()});
    assert_eq!(coerce_arguments(&optional, texts.clone()), Ok(texts));
}

proptest! {
    #[test]
    fn coercion_is_idempotent(text in "[0-9a-z\\[\\]{}\":,. ]{0,8}", number in any::<f64>()) {
        for value in [json!(text), json!(number)] {
            let arguments = json!({"query": value, "score": value, "tags": value, "limit": value});
            if let Ok(once) = coerce_arguments(&schema(), arguments) {
                prop_assert_eq!(coerce_arguments(&schema(), once.clone()), Ok(once));
            }
        }
    }
}
