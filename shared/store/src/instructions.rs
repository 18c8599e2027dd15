use domain::Owner;

use crate::StoreError;
use crate::item::{Item, ItemExt, s, version};
use crate::key::{Key, OwnerPartitions};
use crate::table::{Expression, Table};

/// The sort key of a text, in the owner's own partition.
const SORT_KEY: &str = "I";

pub(crate) const TEXT: &str = "wishes";

/// What users want of all their answers: one text for each owner, in the data table. A turn reads it with
/// [`RateLimiter::admit_turn`](crate::RateLimiter::admit_turn).
#[derive(Clone)]
pub struct Instructions {
    pub(crate) table: Table,
}

impl Instructions {
    /// The text of an owner; empty if there is none.
    pub async fn get(&self, owner: &Owner) -> Result<String, StoreError> {
        let item = self.table.get(&key(owner)).await?;
        item.map_or(Ok(String::new()), |item| item.check_version("instructions").map(|()| text(&item)))
    }

    /// Replaces the text of an owner; an empty one removes it.
    pub async fn set(&self, owner: &Owner, text: &str) -> Result<(), StoreError> {
        self.table.update(&key(owner), Expression::set([(TEXT, s(text)), version()])).await.map(|_| ())
    }
}

/// The text in an owner's item.
pub(crate) fn text(item: &Item) -> String {
    item.text(TEXT).map(str::to_owned).unwrap_or_default()
}

pub(crate) fn key(owner: &Owner) -> Key {
    Key::new(owner.partition(), SORT_KEY)
}
