use domain::Owner;

use crate::StoreError;
use crate::item::{ItemExt, s, version};
use crate::key::{Key, OwnerPartitions};
use crate::table::{Expression, Table};

/// The sort key of a text, in the owner's own partition.
const SORT_KEY: &str = "I";

const TEXT: &str = "wishes";

/// What users want of all their answers: one text for each owner, in the data table.
#[derive(Clone)]
pub struct Instructions {
    pub(crate) table: Table,
}

impl Instructions {
    /// The text of an owner; empty if there is none.
    pub async fn get(&self, owner: &Owner) -> Result<String, StoreError> {
        let item = self.table.get(&key(owner)).await?;
        let Some(item) = item else { return Ok(String::new()) };
        item.check_version("instructions")?;
        item.text(TEXT).map(str::to_owned)
    }

    /// Replaces the text of an owner; an empty one removes it.
    pub async fn set(&self, owner: &Owner, text: &str) -> Result<(), StoreError> {
        let key = key(owner);
        let written = match text {
            "" => self.table.delete(&key).await,
            text => self.table.update(&key, Expression::set([(TEXT, s(text)), version()])).await,
        };
        written.map(|_| ())
    }
}

fn key(owner: &Owner) -> Key {
    Key::new(owner.partition(), SORT_KEY)
}
