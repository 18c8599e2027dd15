//! API keys of callers, proven by a secret of which only the SHA-256 is stored.

mod administrators;
mod api_key;
mod record;

use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::AttributeValue;

pub use administrators::KeyError;
pub use api_key::ApiKey;
use record::CITATION_LINKS;
pub use record::{KeyChange, KeyRecord, NewKey};

use crate::Result;
use crate::backoff::within;
use crate::clock::millis;
use crate::error::classify;
use crate::item::{Item, ItemExt, group_list, n};
use crate::key::{Key, is_ulid};
use crate::table::{Expression, Table, WriteOutcome};
use domain::Owner;

/// The partition of all keys: it makes them listable, and some hundred bytes each are read at most once a minute.
const PARTITION: &str = "K";

/// Timeout of one lookup; a caller waits for it.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(4);

/// Whether a key can be made for a user of this name: 1 to 256 characters, not blank, without control characters.
pub fn is_user_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().nth(256).is_none() && !text.chars().any(char::is_control)
}

/// API keys in the data table.
#[derive(Clone)]
pub struct Keys {
    pub(crate) table: Table,
}

impl Keys {
    /// Stores a new key, which is valid from then on.
    pub async fn create(&self, key: &ApiKey, new: &NewKey, now: SystemTime) -> Result<KeyRecord> {
        let record = KeyRecord::new(key, new, now);
        let put = self.table.client.put_item().table_name(&*self.table.name).set_item(Some(record.item()));
        Box::pin(put.send()).await.map_err(|error| classify("PutItem", &error))?;
        Ok(record)
    }

    /// The key with this id, valid or not; `None` for a malformed id, without a database call.
    pub async fn get(&self, id: &str) -> Result<Option<KeyRecord>> {
        if !is_ulid(id) {
            return Ok(None);
        }
        within(LOOKUP_TIMEOUT, self.table.get(&key(id))).await?.as_ref().map(KeyRecord::read).transpose()
    }

    /// All keys, oldest first.
    pub async fn list(&self) -> Result<Vec<KeyRecord>> {
        self.list_oldest(usize::MAX).await
    }

    /// The oldest keys, at most `limit`.
    pub async fn list_oldest(&self, limit: usize) -> Result<Vec<KeyRecord>> {
        let items = self.items(limit).await?;
        items.iter().take(limit).map(KeyRecord::read).collect()
    }

    /// Revokes a key permanently, also a revoked one; `None` when there is no such key.
    pub async fn revoke(&self, id: &str, now: SystemTime) -> Result<Option<KeyRecord>> {
        self.change(id, revoke_update(now)).await
    }

    /// Changes a key; `None` when there is no such key, or it is revoked.
    pub async fn update(&self, id: &str, change: &KeyChange) -> Result<Option<KeyRecord>> {
        self.change(id, change_update(change)).await
    }

    async fn change(&self, id: &str, change: Expression) -> Result<Option<KeyRecord>> {
        if !is_ulid(id) {
            return Ok(None);
        }
        match self.table.update_and_read(&key(id), change).await? {
            WriteOutcome::Written(item) => KeyRecord::read(&item.unwrap_or_default()).map(Some),
            WriteOutcome::ConditionFailed(_) => Ok(None),
        }
    }

    /// Deletes the keys of an owner, readable or not; returns their number.
    pub(crate) async fn delete_by_owner(&self, owner: &Owner) -> Result<usize> {
        let items = self.items_of(owner).await?;
        let count = items.len();
        self.table.delete_all(items).await.map(|()| count)
    }

    /// The items of an owner's keys, readable or not.
    async fn items_of(&self, owner: &Owner) -> Result<Vec<Item>> {
        let is_owned = |item: &Item| item.text("owner").is_ok_and(|name| Owner::key_holder(name) == *owner);
        Ok(self.items(usize::MAX).await?.into_iter().filter(is_owned).collect())
    }

    /// The items of the oldest keys, at least `limit` if there are as many.
    async fn items(&self, limit: usize) -> Result<Vec<Item>> {
        let (mut pages, mut items) = (self.table.pages(self.table.query(PARTITION)), Vec::new());
        while items.len() < limit
            && let Some(page) = pages.next().await?
        {
            items.extend(page);
        }
        Ok(items)
    }
}

fn revoke_update(now: SystemTime) -> Expression {
    let change = Expression::update("SET revokedAt = if_not_exists(revokedAt, :now)");
    change.and_when("attribute_exists(pk)").value(":now", n(millis(now)))
}

fn change_update(change: &KeyChange) -> Expression {
    let end = change.expires.map(|end| ("expiresAt", n(millis(end))));
    let links = change.citation_links.map(|links| (CITATION_LINKS, AttributeValue::Bool(links)));
    let groups = change.groups.as_ref().map(group_list);
    let admin = ("admin", AttributeValue::Bool(change.administrator));
    let update = Expression::set([admin].into_iter().chain(end).chain(links).chain(groups));
    let update = if change.expires.is_some() { update } else { update.and("REMOVE expiresAt") };
    update.and_when("attribute_exists(pk) AND attribute_not_exists(revokedAt)")
}

fn key(id: &str) -> Key {
    Key::new(PARTITION, id)
}
