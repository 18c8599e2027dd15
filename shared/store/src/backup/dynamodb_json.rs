//! Converts items from and to DynamoDB's own JSON, which keeps the type of every value.
//!
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html>: numbers are texts,
//! bytes are Base64. Attributes and sets are sorted, because DynamoDB returns them in any order and two equal items
//! must give the same text.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_types::base64;
use serde_json::{Map, Value, json};

use crate::StoreError;
use crate::item::Item;

/// Converts an item to an object of typed values, sorted by name.
pub(super) fn to_json(item: &Item) -> Result<Value, StoreError> {
    let attributes: BTreeMap<_, _> = item.iter().collect();
    let typed = attributes.into_iter().map(|(name, value)| Ok((name.clone(), value_to_json(value)?)));
    typed.collect::<Result<Map<_, _>, _>>().map(Value::from)
}

/// Parses such an object; `None` if it is no item.
pub(super) fn from_json(item: Value) -> Option<Item> {
    match item {
        Value::Object(item) => item.into_iter().map(|(name, value)| Some((name, value_from_json(value)?))).collect(),
        _ => None,
    }
}

/// Whether two items are equal.
pub(super) fn are_equal(one: &Item, other: &Item) -> Result<bool, StoreError> {
    Ok(one == other || to_json(one)? == to_json(other)?)
}

fn value_to_json(value: &AttributeValue) -> Result<Value, StoreError> {
    Ok(match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number }),
        AttributeValue::B(bytes) => json!({ "B": base64::encode(bytes) }),
        AttributeValue::Bool(truth) => json!({ "BOOL": truth }),
        AttributeValue::Null(truth) => json!({ "NULL": truth }),
        AttributeValue::Ss(texts) => json!({ "SS": sorted(texts.clone()) }),
        AttributeValue::Ns(numbers) => json!({ "NS": sorted(numbers.clone()) }),
        AttributeValue::Bs(all) => json!({ "BS": sorted(all.iter().map(base64::encode).collect()) }),
        AttributeValue::L(values) => json!({ "L": values.iter().map(value_to_json).collect::<Result<Vec<_>, _>>()? }),
        AttributeValue::M(values) => json!({ "M": to_json(values)? }),
        _ => return Err(StoreError::fault("a value of a type that this release does not know")),
    })
}

fn sorted(mut members: Vec<String>) -> Vec<String> {
    members.sort_unstable();
    members
}

fn value_from_json(value: Value) -> Option<AttributeValue> {
    let Value::Object(typed) = value else { return None };
    let mut typed = typed.into_iter();
    let (Some((kind, value)), None) = (typed.next(), typed.next()) else { return None };
    Some(match (kind.as_str(), value) {
        ("S", Value::String(text)) => AttributeValue::S(text),
        ("N", Value::String(number)) => AttributeValue::N(number),
        ("B", Value::String(text)) => AttributeValue::B(bytes(&text)?),
        ("BOOL", Value::Bool(truth)) => AttributeValue::Bool(truth),
        ("NULL", Value::Bool(null)) => AttributeValue::Null(null),
        ("SS", Value::Array(members)) => AttributeValue::Ss(texts(members)?),
        ("NS", Value::Array(members)) => AttributeValue::Ns(texts(members)?),
        ("BS", Value::Array(members)) => {
            AttributeValue::Bs(texts(members)?.iter().map(|text| bytes(text)).collect::<Option<_>>()?)
        }
        ("L", Value::Array(values)) => {
            AttributeValue::L(values.into_iter().map(value_from_json).collect::<Option<_>>()?)
        }
        ("M", values) => AttributeValue::M(from_json(values)?),
        _ => return None,
    })
}

fn texts(members: Vec<Value>) -> Option<Vec<String>> {
    let text = |member| if let Value::String(text) = member { Some(text) } else { None };
    members.into_iter().map(text).collect()
}

fn bytes(text: &str) -> Option<Blob> {
    base64::decode(text).ok().map(Blob::new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> impl Strategy<Value = AttributeValue> {
        let number = "-?[1-9][0-9]{0,37}";
        let bytes = || proptest::collection::vec(any::<u8>(), 0..20).prop_map(Blob::new);
        let leaf = prop_oneof![
            ".{0,20}".prop_map(AttributeValue::S),
            number.prop_map(AttributeValue::N),
            bytes().prop_map(AttributeValue::B),
            any::<bool>().prop_map(AttributeValue::Bool),
            Just(AttributeValue::Null(true)),
            proptest::collection::btree_set(".{0,9}", 1..4)
                .prop_map(|all| AttributeValue::Ss(all.into_iter().collect())),
            proptest::collection::btree_set(number, 1..4).prop_map(|all| AttributeValue::Ns(all.into_iter().collect())),
        ];
        leaf.prop_recursive(4, 20, 4, |inner| {
            let members = proptest::collection::hash_map(".{0,9}", inner.clone(), 0..4);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(AttributeValue::L),
                members.prop_map(AttributeValue::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_attribute_type_round_trips(
            item in proptest::collection::hash_map(".{1,9}", values(), 0..6)
        ) {
            let text = to_json(&item).unwrap().to_string();
            prop_assert_eq!(from_json(serde_json::from_str(&text).unwrap()), Some(item));
        }
    }

    #[test]
    fn json_matches_dynamodb_and_sorts_sets() {
        let blobs = |all: [&[u8]; 2]| AttributeValue::Bs(all.map(Blob::new).into());
        let item = |set| Item::from([("b".to_owned(), set), ("n".to_owned(), AttributeValue::N("1e-7".to_owned()))]);
        let (one, other) = (item(blobs([b"\xff", b"a"])), item(blobs([b"a", b"\xff"])));
        assert_eq!(to_json(&one).unwrap().to_string(), r#"{"b":{"BS":["/w==","YQ=="]},"n":{"N":"1e-7"}}"#);
        assert_eq!(are_equal(&one, &other), Ok(true));
        assert_eq!(are_equal(&one, &Item::new()), Ok(false));
    }

    #[test]
    fn malformed_items_are_rejected() {
        for value in [
            json!([]),
            json!({ "a": "b" }),
            json!({ "a": {} }),
            json!({ "a": { "S": "b", "N": "1" } }),
            json!({ "a": { "N": 1 } }),
            json!({ "a": { "B": "?" } }),
            json!({ "a": { "SS": [1] } }),
            json!({ "a": { "L": ["b"] } }),
            json!({ "a": { "X": "b" } }),
        ] {
            assert_eq!(from_json(value.clone()), None, "{value}");
        }
    }
}
