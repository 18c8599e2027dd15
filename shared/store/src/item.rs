use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;
pub(crate) use crate::attributes::{Item, n, s};
use crate::key::Key;
use crate::schema::{SCHEMA, VERSION};

/// The current schema version; every item carries it as `v`.
pub(crate) const SCHEMA_VERSION: u32 = SCHEMA.current;

/// The attribute that marks an item as written by this release, for updates.
pub(crate) fn version() -> (&'static str, AttributeValue) {
    (VERSION, n(SCHEMA_VERSION))
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
    /// A number of an item that may lack it.
    fn optional_number<T: FromStr>(&self, name: &str) -> Result<Option<T>, StoreError>;
    /// Whether this release can interpret the item, regardless of the release that wrote it.
    fn is_readable(&self) -> bool;
    /// Fails if this release cannot interpret the item, which is `kind`.
    fn check_version(&self, kind: &str) -> Result<(), StoreError>;
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

    fn optional_number<T: FromStr>(&self, name: &str) -> Result<Option<T>, StoreError> {
        if self.contains_key(name) { self.number(name).map(Some) } else { Ok(None) }
    }

    fn is_readable(&self) -> bool {
        SCHEMA.can_read(self)
    }

    fn check_version(&self, kind: &str) -> Result<(), StoreError> {
        if self.is_readable() { Ok(()) } else { Err(StoreError::fault(format!("{kind} of another version"))) }
    }
}

/// JSON of plain data.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::fault("a value that JSON cannot hold"))
}

fn unreadable(name: &str) -> StoreError {
    StoreError::fault(format!("attribute {name} is missing or not readable"))
}
