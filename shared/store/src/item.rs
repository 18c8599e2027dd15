use std::str::FromStr;
use std::time::SystemTime;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::Groups;
use serde::Serialize;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

pub(crate) use crate::attributes::{Item, n, s};
use crate::clock::seconds;
use crate::key::Key;
use crate::schema::{SCHEMA, VERSION};
use crate::{EXPIRES, Result, StoreError};

/// The current schema version; every item carries it as `v`.
pub(crate) const SCHEMA_VERSION: u32 = SCHEMA.current;

/// The attribute that marks an item as written by this release, for updates.
pub(crate) fn version() -> (&'static str, AttributeValue) {
    (VERSION, n(SCHEMA_VERSION))
}

/// The attribute that ends the life of an item.
pub(crate) fn expires_at(end: SystemTime) -> (&'static str, AttributeValue) {
    (EXPIRES, n(seconds(end)))
}

/// The attribute of a pointer or a copy with the partition that it belongs to; a reserved keyword in expressions.
pub(crate) const UNDER: &str = "under";

/// The attribute with the groups of a key, or of those that may find an article.
pub(crate) const GROUPS: &str = "groups";

pub(crate) fn group_list(groups: &Groups) -> (&'static str, AttributeValue) {
    (GROUPS, AttributeValue::L(groups.names().iter().map(s).collect()))
}

/// Builds an item of the current schema version.
pub(crate) fn item<'a>(key: &Key, attributes: impl IntoIterator<Item = (&'a str, AttributeValue)>) -> Item {
    let mut item = key.attributes();
    SCHEMA.stamp(&mut item);
    item.extend(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)));
    item
}

/// Typed access to an item's attributes; a fault names the attribute, never its value.
pub(crate) trait ItemExt {
    fn attributes(&self) -> &Item;

    fn text(&self, name: &str) -> Result<&str> {
        let value = self.attributes().get(name).and_then(|value| value.as_s().ok());
        value.map(String::as_str).ok_or_else(|| unreadable(name))
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<T> {
        let value = self.attributes().get(name).and_then(|value| value.as_n().ok());
        value.and_then(|text| text.parse().ok()).ok_or_else(|| unreadable(name))
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        serde_json::from_str(self.text(name)?).map_err(|_| unreadable(name))
    }

    /// A number of an item that may lack it.
    fn optional_number<T: FromStr>(&self, name: &str) -> Result<Option<T>> {
        self.attributes().contains_key(name).then(|| self.number(name)).transpose()
    }

    /// A variant of an enum without data.
    fn variant<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let text: StrDeserializer<'_, ValueError> = self.text(name)?.into_deserializer();
        T::deserialize(text).map_err(|_| unreadable(name))
    }

    /// JSON of an item that may lack it.
    fn optional_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        self.attributes().contains_key(name).then(|| self.json(name)).transpose()
    }

    /// Whether its `expires` is in the future: DynamoDB takes days to delete expired items.
    fn is_unexpired(&self, now: SystemTime) -> bool {
        self.number::<i64>(EXPIRES).is_ok_and(|end| end > seconds(now))
    }

    /// The groups that an item names; none if it lacks [`GROUPS`], as items of earlier releases do.
    fn groups(&self) -> Result<Groups> {
        let Some(value) = self.attributes().get(GROUPS) else { return Ok(Groups::default()) };
        let names = value.as_l().ok().and_then(|all| all.iter().map(|one| one.as_s().ok().cloned()).collect());
        names.and_then(|names: Vec<String>| Groups::new(names)).ok_or_else(|| unreadable(GROUPS))
    }

    /// Whether this release can interpret the item, regardless of the release that wrote it.
    fn is_readable(&self) -> bool {
        SCHEMA.can_read(self.attributes())
    }

    /// Fails if this release cannot interpret the item, which is `kind`.
    fn check_version(&self, kind: &str) -> Result<()> {
        if self.is_readable() { Ok(()) } else { Err(StoreError::fault(format!("{kind} of another version"))) }
    }
}

impl ItemExt for Item {
    fn attributes(&self) -> &Item {
        self
    }
}

/// The name of an enum's variant, as [`ItemExt::variant`] reads it.
pub(crate) fn variant<T: Serialize>(value: T) -> AttributeValue {
    s(to_json(&value).trim_matches('"'))
}

/// JSON of plain data, which can always be serialised.
pub(crate) fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn unreadable(name: &str) -> StoreError {
    StoreError::fault(format!("attribute {name} is missing or not readable"))
}
