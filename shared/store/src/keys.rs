//! API keys of callers, proven by a secret of which only the SHA-256 is stored.

mod api_key;
mod record;

use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::AttributeValue;

pub use api_key::ApiKey;
pub use record::{KeyChange, KeyRecord, NewKey};

use crate::StoreError;
use crate::clock::millis;
use crate::error::classify;
use crate::item::{Item, ItemExt, n};
use crate::key::{Key, is_ulid, primary_key};
use crate::table::{Expression, Table, WriteOutcome};
use domain::Owner;

/// The partition of all keys: it makes them listable, and some hundred bytes each are read at most once a minute.
pub(crate) const PARTITION: &str = "K";

/// Timeout of one lookup; a caller waits for it.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(4);

/// Whether a key can be made for a user of this name: 1 to 256 characters, not blank, without control characters.
pub fn is_user_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().nth(256).is_none() && !text.chars().any(char::is_control)
}

/// API keys in the data table.
#[derive(Clone)]
pub struct Keys {
    table: Table,
}

impl Keys {
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// Stores a new key, which is valid from then on.
    pub async fn create(&self, key: &ApiKey, new: &NewKey, now: SystemTime) -> Result<KeyRecord, StoreError> {
        let record = KeyRecord::new(key, new, now);
        let put = self.table.client.put_item().table_name(&*self.table.name).set_item(Some(record.item()));
        Box::pin(put.send()).await.map_err(|error| classify("PutItem", &error))?;
        Ok(record)
    }

    /// The key with this id, valid or not; `None` for a malformed id, without a database call.
    pub async fn get(&self, id: &str) -> Result<Option<KeyRecord>, StoreError> {
        if !is_ulid(id) {
            return Ok(None);
        }
        let found = tokio::time::timeout(LOOKUP_TIMEOUT, self.table.get(&key(id))).await;
        found.unwrap_or(Err(StoreError::Busy))?.map(|item| KeyRecord::read(&item)).transpose()
    }

    /// All keys, oldest first.
    pub async fn list(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.list_oldest(usize::MAX).await
    }

    /// The oldest keys, at most `limit`.
    pub async fn list_oldest(&self, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        let (mut start, mut records) = (None, Vec::new());
        loop {
            let query = self.table.query(PARTITION).key_condition_expression("pk = :pk");
            let (items, next) = self.table.query_page(query, start).await?;
            for item in items {
                records.push(KeyRecord::read(&item)?);
            }
            start = next;
            if start.is_none() || records.len() >= limit {
                records.truncate(limit);
                return Ok(records);
            }
        }
    }

    /// Revokes a key permanently, also a revoked one; `None` when there is no such key.
    pub async fn revoke(&self, id: &str, now: SystemTime) -> Result<Option<KeyRecord>, StoreError> {
        if !is_ulid(id) {
            return Ok(None);
        }
        let change = Expression::update("SET revokedAt = if_not_exists(revokedAt, :now)")
            .and_when("attribute_exists(pk)")
            .value(":now", n(millis(now)));
        match self.table.update_and_read(&key(id), change).await? {
            WriteOutcome::Written(item) => KeyRecord::read(&item.unwrap_or_default()).map(Some),
            WriteOutcome::ConditionFailed(_) => Ok(None),
        }
    }

    /// Changes a key; `None` when there is no such key, or it is revoked.
    pub async fn update(&self, id: &str, change: &KeyChange) -> Result<Option<KeyRecord>, StoreError> {
        if !is_ulid(id) {
            return Ok(None);
        }
        let update = match change.expires {
            Some(end) => Expression::update("SET admin = :admin, expiresAt = :end").value(":end", n(millis(end))),
            None => Expression::update("SET admin = :admin REMOVE expiresAt"),
        };
        let update = update
            .value(":admin", AttributeValue::Bool(change.administrator))
            .and_when("attribute_exists(pk) AND attribute_not_exists(revokedAt)");
        match self.table.update_and_read(&key(id), update).await? {
            WriteOutcome::Written(item) => KeyRecord::read(&item.unwrap_or_default()).map(Some),
            WriteOutcome::ConditionFailed(_) => Ok(None),
        }
    }

    /// Deletes the keys of an owner, readable or not; returns their number.
    pub(crate) async fn delete_by_owner(&self, owner: &Owner) -> Result<usize, StoreError> {
        let (mut start, mut count) = (None, 0);
        loop {
            let query = self.table.query(PARTITION).key_condition_expression("pk = :pk");
            let (items, next) = self.table.query_page(query, start).await?;
            let is_owned = |item: &Item| item.text("owner").is_ok_and(|name| Owner::key_holder(name) == *owner);
            let keys: Vec<Item> = items.into_iter().filter(is_owned).map(primary_key).collect();
            self.table.delete_all(&keys).await?;
            count += keys.len();
            start = next;
            if start.is_none() {
                return Ok(count);
            }
        }
    }
}

fn key(id: &str) -> Key {
    Key::new(PARTITION, id)
}
