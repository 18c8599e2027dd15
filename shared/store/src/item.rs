use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::de::DeserializeOwned;

use crate::StoreError;
use crate::key::Key;
use crate::schema::SCHEMA;

/// An item in the SDK's representation.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// The current schema version; every item carries it as `v`.
pub(crate) const SCHEMA_VERSION: u32 = SCHEMA.current;

/// A string attribute.
pub(crate) fn s(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

/// A number attribute.
pub(crate) fn n(value: impl Display + Copy) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Builds an item of the current schema version.
pub(crate) fn item<const N: usize>(key: &Key, attributes: [(&str, AttributeValue); N]) -> Item {
    let mut item = key.attributes();
    SCHEMA.stamp(&mut item);
    item.extend(attributes.map(|(name, value)| (name.to_owned(), value)));
    item
}

/// Typed access to an item's attributes; a fault names the attribute, never its value.
pub(crate) trait ItemExt {
    fn text(&self, name: &str) -> Result<&str, StoreError>;
    fn number<T: FromStr>(&self, name: &str) -> Result<T, StoreError>;
    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError>;
    /// Whether this release can interpret the item, regardless of the release that wrote it.
    fn is_readable(&self) -> bool;
}

impl ItemExt for Item {
    fn text(&self, name: &str) -> Result<&str, StoreError> {
        let value = self.get(name).and_then(|value| value.as_s().ok());
        value.map(String::as_str).ok_or_else(|| unreadable(name))
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<T, StoreError> {
        let value = self.get(name).and_then(|value| value.as_n().ok());
        value.and_then(|text| text.parse().ok()).ok_or_else(|| unreadable(name))
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError> {
        serde_json::from_str(self.text(name)?).map_err(|_| unreadable(name))
    }

    fn is_readable(&self) -> bool {
        SCHEMA.can_read(self)
    }
}

fn unreadable(name: &str) -> StoreError {
    StoreError::fault(format!("attribute {name} is missing or not readable"))
}
