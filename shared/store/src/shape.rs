//! Versions of what is stored: two releases share the tables while a canary runs, and after one was taken back.
//!
//! An attribute that older releases may overlook changes no version. Any other change raises [`SHAPES`]'s `current` by one
//! and adds the steps by which older items are read; `oldest_reader` says which older releases can still read what this
//! one writes, and stays behind for at least one release (expand, then contract).

use crate::StoreError;
use crate::item::{Item, n};

/// The attribute with the version of an item's shape.
pub(crate) const VERSION: &str = "v";

/// The attribute with the oldest version whose releases can read an item; absent where that is its own.
pub(crate) const OLDEST_READER: &str = "minReader";

/// A change of older items: the version that it makes newer, which items it is about, and what it does to them.
pub(crate) type Step = (u32, fn(&Item) -> bool, fn(&mut Item));

/// What a release writes and how it reads what others wrote.
pub(crate) struct Shapes {
    /// The version that is written.
    pub(crate) current: u32,
    /// The oldest version whose releases can read that.
    pub(crate) oldest_reader: u32,
    /// The way here from older versions, in their order.
    pub(crate) steps: &'static [Step],
}

/// Those of this release.
pub(crate) const SHAPES: Shapes = Shapes { current: 1, oldest_reader: 1, steps: &[] };

impl Shapes {
    /// Marks an item as written by this release.
    pub(crate) fn stamp(&self, item: &mut Item) {
        item.insert(VERSION.to_owned(), n(self.current));
        if self.oldest_reader < self.current {
            item.insert(OLDEST_READER.to_owned(), n(self.oldest_reader));
        }
    }

    /// An item as this release writes it, where an older one wrote it; any other stays as it is.
    pub(crate) fn brought_up(&self, mut item: Item) -> Item {
        let Some(version) = number(&item, VERSION).filter(|version| *version < self.current) else { return item };
        for (from, concerns, change) in self.steps {
            if *from >= version && concerns(&item) {
                change(&mut item);
            }
        }
        self.stamp(&mut item);
        item
    }

    /// Whether an item says what this release takes it to say.
    pub(crate) fn understands(&self, item: &Item) -> bool {
        let known = |name: &str| number(item, name).is_some_and(|version| version <= self.current);
        known(VERSION) || known(OLDEST_READER) && item.contains_key(VERSION)
    }

    /// The condition under which an item may be written over, with the number that it is about: `:shape`.
    pub(crate) fn writable() -> String {
        format!("(attribute_not_exists({VERSION}) OR {VERSION} <= :shape OR {OLDEST_READER} <= :shape)")
    }

    /// What a refused write found, if this release may say so of it.
    ///
    /// # Errors
    /// A fault when a newer release wrote it: then it is not what the condition was about.
    pub(crate) fn found(&self, item: Option<Item>) -> Result<Option<Item>, StoreError> {
        match item {
            Some(item) if item.contains_key(VERSION) && !self.understands(&item) => {
                Err(StoreError::fault("an item of a newer version, which stays as it is"))
            }
            item => Ok(item.map(|item| self.brought_up(item))),
        }
    }
}

fn number(item: &Item, name: &str) -> Option<u32> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::s;

    /// Two releases on: 2 calls a head's `title` its `name`, 3 counts answers; releases from 2 on can read that.
    const LATER: Shapes = Shapes {
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
    fn an_older_item_is_read_as_the_current_release_writes_it() {
        let expected =
            item([("sk", s("C#1")), ("name", s("茶")), ("answers", n(0)), (VERSION, n(3)), (OLDEST_READER, n(2))]);
        let first = item([("sk", s("C#1")), ("title", s("茶")), (VERSION, n(1))]);
        assert_eq!(LATER.brought_up(first), expected);
        let second = item([("sk", s("C#1")), ("name", s("茶")), (VERSION, n(2))]);
        assert_eq!(LATER.brought_up(second), expected);
        assert_eq!(LATER.brought_up(expected.clone()), expected);
    }

    #[test]
    fn what_a_step_is_not_about_is_only_renumbered() {
        let message = item([("sk", s("M#1")), ("title", s("茶")), (VERSION, n(1))]);
        let expected = item([("sk", s("M#1")), ("title", s("茶")), (VERSION, n(3)), (OLDEST_READER, n(2))]);
        assert_eq!(LATER.brought_up(message), expected);
        let keys = item([("pk", s("a")), ("sk", s("C#1"))]);
        assert_eq!(LATER.brought_up(keys.clone()), keys, "a projection has no version");
    }

    #[test]
    fn a_newer_item_is_understood_by_releases_that_it_names_and_by_no_others() {
        let mut newer = Item::new();
        LATER.stamp(&mut newer);
        let release = |current| Shapes { current, oldest_reader: current, steps: &[] };
        let known = [1, 2, 3, 4].map(|version| release(version).understands(&newer));
        assert_eq!(known, [false, true, true, true]);
        assert_eq!(release(2).brought_up(newer.clone()), newer);
        assert!(release(1).found(Some(newer.clone())).is_err());
        assert_eq!(release(2).found(Some(newer.clone())), Ok(Some(newer)));
        assert!(!release(9).understands(&item([(OLDEST_READER, n(1))])), "a version is needed");
    }
}
