//! Strict JSON parsing: one object, no duplicate keys, bounded nesting.

use std::cell::Cell;
use std::fmt;

use crate::{ErrorCode, Failure};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Maximum number of values in a body. A value of 2 bytes takes more than 100 bytes in memory.
const MAX_VALUES: usize = 200_000;

/// Reads a body that must be one JSON object in UTF-8, without duplicate keys at any depth, of at most 200,000 values.
///
/// # Errors
/// `invalid_request`, with a message that gives the position of the error without quoting the text.
pub fn parse_object(body: &[u8]) -> Result<Map<String, Value>, Failure> {
    let text = std::str::from_utf8(body).map_err(|_| invalid_request("The body must be UTF-8"))?;
    let remaining = Cell::new(MAX_VALUES);
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = UniqueKeys(&remaining).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match read {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(invalid_request("The body must be a JSON object")),
        Err(_) if remaining.get() == 0 => Err(invalid_request(format!("The body has more than {MAX_VALUES} values"))),
        Err(error) => Err(invalid_request(format!("The body is not valid JSON: {}", describe_error(&error)))),
    }
}

/// Describes the kind and the position of an error without quoting the text.
fn describe_error(error: &serde_json::Error) -> String {
    let kind = match error.classify() {
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Data => "a key occurs twice",
        _ => "there is an error",
    };
    format!("{kind} at line {}, column {}", error.line(), error.column())
}

pub(crate) fn invalid_request(sentence: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::InvalidRequest, sentence)
}

/// Reads a JSON value without duplicate keys and counts down the values left. `serde_json::Value` alone would keep the
/// last duplicate and accept any number of values.
#[derive(Clone, Copy)]
struct UniqueKeys<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for UniqueKeys<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.set(self.0.get().checked_sub(1).ok_or_else(|| D::Error::custom("too many values"))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("duplicate key"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_message(body: &[u8]) -> String {
        parse_object(body).unwrap_err().message
    }

    #[test]
    fn f104_non_object_body_is_rejected_with_reason() {
        assert_eq!(error_message(b"[1]"), "The body must be a JSON object");
        assert_eq!(error_message(b"\xff\xfe"), "The body must be UTF-8");
        assert_eq!(error_message(b""), "The body is not valid JSON: it ends too early at line 1, column 0");
        assert_eq!(error_message(b"{\"a\":1"), "The body is not valid JSON: it ends too early at line 1, column 6");
        assert_eq!(error_message(b"{\"a\":1} x"), "The body is not valid JSON: there is an error at line 1, column 9");
        assert_eq!(
            error_message(b"\xef\xbb\xbf{}"),
            "The body is not valid JSON: there is an error at line 1, column 1"
        );
    }

    #[test]
    fn f104_duplicate_keys_are_rejected_at_any_depth() {
        assert!(error_message(br#"{"message":"a","message":"b"}"#).contains("a key occurs twice"));
        assert!(error_message(br#"{"x":[{"a":1,"a":2}]}"#).contains("a key occurs twice"));
    }

    #[test]
    fn f104_deep_nesting_is_rejected_without_crash() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(error_message(deep.as_bytes()).contains("not valid JSON"));
    }

    #[test]
    fn f104_excess_values_are_rejected_before_building() {
        let body = |count: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(count - 3));
        assert!(parse_object(body(MAX_VALUES).as_bytes()).is_ok());
        assert_eq!(error_message(body(MAX_VALUES + 1).as_bytes()), "The body has more than 200000 values");
    }

    #[test]
    fn values_are_kept_unchanged() {
        let body = br#"{"a":null,"b":true,"c":-1,"d":18446744073709551615,"e":1.5,"f":["x",{}]}"#;
        assert_eq!(Value::Object(parse_object(body).unwrap()), serde_json::from_slice::<Value>(body).unwrap());
    }
}
