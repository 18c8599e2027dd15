use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;
pub(crate) use crate::attributes::{Item, n, s};
use crate::key::Key;
use crate::schema::SCHEMA;

/// The current schema version; every item carries it as `v`.
pub(crate) const SCHEMA_VERSION: u32 = SCHEMA.current;

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

/// JSON of plain data.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::fault("a value that JSON cannot hold"))
}

fn unreadable(name: &str) -> StoreError {
    StoreError::fault(format!("attribute {name} is missing or not readable"))
}
