//! JSON as models write it: finds where a value ends, and its value if it is well-formed.
//!
//! [`JsonScan`] reads text that arrives in chunks. On well-formed JSON it builds the value incrementally, so the value
//! is ready with the last byte. After the first deviation it only tracks the structure, to find the end; then
//! [`crate::repair`] has to parse the value.

mod build;
mod lenient;
mod scan;
mod text;

use serde_json::Value;

pub(crate) use scan::{JsonScan, ScanStep};

const MAX_DEPTH: usize = 128;

/// Parses one well-formed JSON value, with white space around it.
///
/// Differs from `serde_json` in one respect: an integer that fits neither `i64` nor `u64` becomes a string of its
/// digits instead of a rounded float.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut scan = JsonScan::default();
    let end = match scan.advance(text, 0) {
        ScanStep::End(end) => end,
        ScanStep::NeedMore(end) if scan.finish(text) => end,
        _ => return None,
    };
    text[end..].trim_matches([' ', '\t', '\n', '\r']).is_empty().then(|| scan.take()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{JsonScan, ScanStep, parse};

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e300_f64..1e300).prop_map(Value::from),
            "\\PC*".prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn well_formed_json_parses_like_serde_json(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.expect("a value has a text");
            prop_assert_eq!(parse(&text), serde_json::from_str(&text).ok());
        }

        #[test]
        fn invalid_json_is_rejected_like_serde_json(text in "[\\[\\]{}:,\"a1. \\\\-]{0,12}") {
            let ours = parse(&text);
            let theirs: Option<Value> = serde_json::from_str(&text).ok();
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn end_position_is_independent_of_chunking(value in any_json(), rest in "[ a-z<{\"]{0,5}") {
            let value = json!([value]);
            let text = format!("{value}{rest}");
            let end = value.to_string().len();
            let value = serde_json::from_str(&text[..end]).ok();
            let mut scan = JsonScan::default();
            let (mut at, mut held) = (0, String::new());
            let mut found = None;
            for c in text.chars() {
                held.push(c);
                match scan.advance(&held, at) {
                    ScanStep::NeedMore(next) => at = next,
                    ScanStep::End(end) => { found = Some(end); break; }
                    ScanStep::Foreign(_) | ScanStep::EarlyCheck(_) => break,
                }
            }
            prop_assert_eq!(found, Some(end));
            prop_assert_eq!(scan.take(), value);
        }
    }

    #[test]
    fn oversized_integer_keeps_its_digits() {
        assert_eq!(parse("12345678901234567890123"), Some(json!("12345678901234567890123")));
        assert_eq!(parse("[18446744073709551615,-9223372036854775808]"), Some(json!([u64::MAX, i64::MIN])));
    }

    #[test]
    fn excessive_nesting_is_rejected() {
        let text = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(parse(&text), None);
    }
}
