//! Schema versions of stored items. Two releases share the tables during a canary deployment and after a rollback.
//!
//! An attribute that older releases may ignore does not change the version. Any other change raises [`SCHEMA`]'s
//! `current` by one and adds the steps that upgrade older items. `oldest_reader` is the oldest version whose releases
//! can read the items of this one. It stays lower than `current` for at least one release (expand, then contract).

use crate::attributes::{Item, n};
use crate::{Result, StoreError};

/// The attribute with an item's schema version.
pub(crate) const VERSION: &str = "v";

/// The attribute with the oldest version whose releases can read an item; absent if that is the item's own version.
pub(crate) const OLDEST_READER: &str = "minReader";

/// An upgrade of older items: the version it upgrades from, a filter of items, and the change.
pub(crate) type UpgradeStep = (u32, fn(&Item) -> bool, fn(&mut Item));

/// The schema version that a release writes, and its upgrades of older items.
pub(crate) struct SchemaVersion {
    /// The version of written items.
    pub(crate) current: u32,
    /// The oldest version whose releases can read them.
    pub(crate) oldest_reader: u32,
    /// The upgrades from older versions, in order.
    pub(crate) steps: &'static [UpgradeStep],
}

/// The schema version of this release.
pub(crate) const SCHEMA: SchemaVersion = SchemaVersion { current: 1, oldest_reader: 1, steps: &[] };

impl SchemaVersion {
    /// Marks an item as written by this release.
    pub(crate) fn stamp(&self, item: &mut Item) {
        item.insert(VERSION.to_owned(), n(self.current));
        if self.oldest_reader < self.current {
            item.insert(OLDEST_READER.to_owned(), n(self.oldest_reader));
        }
    }

    /// Upgrades an item of an older release to the current version; leaves any other item unchanged.
    pub(crate) fn upgrade(&self, mut item: Item) -> Item {
        let Some(version) = number(&item, VERSION).filter(|version| *version < self.current) else { return item };
        for (from, concerns, change) in self.steps {
            if *from >= version && concerns(&item) {
                change(&mut item);
            }
        }
        self.stamp(&mut item);
        item
    }

    /// Whether this release can interpret an item.
    pub(crate) fn can_read(&self, item: &Item) -> bool {
        let is_supported = |name: &str| number(item, name).is_some_and(|version| version <= self.current);
        is_supported(VERSION) || is_supported(OLDEST_READER) && item.contains_key(VERSION)
    }

    /// The condition under which this release may overwrite an item; its `:shape` is the current version.
    pub(crate) fn writable() -> String {
        format!("(attribute_not_exists({VERSION}) OR {VERSION} <= :shape OR {OLDEST_READER} <= :shape)")
    }

    /// Upgrades the item on which a conditional write failed.
    ///
    /// # Errors
    /// A fault if a newer release wrote the item: the condition then tested something else.
    pub(crate) fn check_conflict(&self, item: Option<Item>) -> Result<Option<Item>> {
        match item {
            Some(item) if item.contains_key(VERSION) && !self.can_read(&item) => {
                Err(StoreError::fault("an item of a newer version, which stays as it is"))
            }
            item => Ok(item.map(|item| self.upgrade(item))),
        }
    }
}

fn number(item: &Item, name: &str) -> Option<u32> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::s;

    /// A schema two versions ahead: version 2 renames a head's `title` to `name`, version 3 counts answers. Releases
    /// from version 2 can read it.
    const NEWER_SCHEMA: SchemaVersion = SchemaVersion {
        current: 3,
        oldest_reader: 2,
        steps: &[
            (1, is_head, |head| {
                let title = head.remove("title").unwrap_or_else(|| s(""));
                head.insert("name".to_owned(), title);
            }),
            (2, is_head, |head| {
                head.insert("answers".to_owned(), n(0));
            }),
        ],
    };

    fn is_head(item: &Item) -> bool {
        item.get("sk").and_then(|key| key.as_s().ok()).is_some_and(|key| key.starts_with("C#"))
    }

    fn item<const N: usize>(attributes: [(&str, aws_sdk_dynamodb::types::AttributeValue); N]) -> Item {
        attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn older_item_is_upgraded_to_current_version() {
        let expected =
            item([("sk", s("C#1")), ("name", s("茶")), ("answers", n(0)), (VERSION, n(3)), (OLDEST_READER, n(2))]);
        let first = item([("sk", s("C#1")), ("title", s("茶")), (VERSION, n(1))]);
        assert_eq!(NEWER_SCHEMA.upgrade(first), expected);
        let second = item([("sk", s("C#1")), ("name", s("茶")), (VERSION, n(2))]);
        assert_eq!(NEWER_SCHEMA.upgrade(second), expected);
        assert_eq!(NEWER_SCHEMA.upgrade(expected.clone()), expected);
    }

    #[test]
    fn unaffected_items_only_change_their_version() {
        let message = item([("sk", s("M#1")), ("title", s("茶")), (VERSION, n(1))]);
        let expected = item([("sk", s("M#1")), ("title", s("茶")), (VERSION, n(3)), (OLDEST_READER, n(2))]);
        assert_eq!(NEWER_SCHEMA.upgrade(message), expected);
        let keys = item([("pk", s("a")), ("sk", s("C#1"))]);
        assert_eq!(NEWER_SCHEMA.upgrade(keys.clone()), keys, "a projection has no version");
    }

    #[test]
    fn newer_item_is_readable_from_its_oldest_reader() {
        let mut newer = Item::new();
        NEWER_SCHEMA.stamp(&mut newer);
        let release = |current| SchemaVersion { current, oldest_reader: current, steps: &[] };
        let readable = [1, 2, 3, 4].map(|version| release(version).can_read(&newer));
        assert_eq!(readable, [false, true, true, true]);
        assert_eq!(release(2).upgrade(newer.clone()), newer);
        assert!(release(1).check_conflict(Some(newer.clone())).is_err());
        assert_eq!(release(2).check_conflict(Some(newer.clone())), Ok(Some(newer)));
        assert!(!release(9).can_read(&item([(OLDEST_READER, n(1))])), "a version is needed");
    }
}
