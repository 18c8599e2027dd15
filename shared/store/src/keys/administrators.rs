//! Changes that leave at least one administrator's key without an end, whatever else happens at the same moment.

use std::time::SystemTime;

use aws_sdk_dynamodb::types::AttributeValue;

use super::{KeyChange, KeyRecord, Keys, change_update, key, revoke_update};
use crate::backoff::back_off;
use crate::item::{Item, ItemExt};
use crate::key::{SK, is_ulid};
use crate::table::{Expression, WriteOutcome};
use crate::transaction::TransactionOutcome;
use crate::{Result, StoreError};
use domain::Owner;

/// How often a change is retried while others change the same keys.
const MAX_ATTEMPTS: u32 = 8;

/// The condition for a key that is an administrator's, not revoked and without an end; `:yes` is true.
const LASTING: &str = "admin = :yes AND attribute_not_exists(expiresAt) AND attribute_not_exists(revokedAt)";

/// Why a key cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Nobody could administer afterwards.
    #[error("the last administrator's key without an end")]
    LastAdministrator,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The outcome of a change.
enum Change {
    Applied(KeyRecord),
    /// There is no such key, or it cannot be changed.
    Refused,
    /// The key has become one that can administer without an end.
    Retry,
}

impl Keys {
    /// Revokes a key like [`revoke`](Self::revoke), unless it is the last one that can administer without an end.
    pub async fn revoke_unless_last(&self, id: &str, now: SystemTime) -> Result<Option<KeyRecord>, KeyError> {
        self.change_unless_last(id, &revoke_update(now), |key| key.id != id).await
    }

    /// Changes a key like [`update`](Self::update), unless it is the last one that can administer without an end.
    pub async fn update_unless_last(&self, id: &str, change: &KeyChange) -> Result<Option<KeyRecord>, KeyError> {
        if change.administrator && change.expires.is_none() {
            return Ok(self.update(id, change).await?);
        }
        self.change_unless_last(id, &change_update(change), |key| key.id != id).await
    }

    /// Whether a key can administer without an end.
    pub async fn has_administrator(&self) -> Result<bool> {
        Ok(!self.lasting().await?.is_empty())
    }

    /// Takes the rights of administrators from all keys of an owner, if a key of another owner can administer.
    pub async fn resign(&self, owner: &Owner) -> Result<(), KeyError> {
        let update = Expression::update("SET admin = :no").value(":no", AttributeValue::Bool(false));
        let update = update.and_when("attribute_exists(pk)");
        for record in self.lasting().await?.iter().filter(|record| record.holder() == *owner) {
            self.change_unless_last(&record.id, &update, |key| key.holder() != *owner).await?;
        }
        Ok(())
    }

    /// Deletes the keys of an owner who has resigned; returns their number.
    pub(crate) async fn delete_resigned(&self, owner: &Owner) -> Result<usize, KeyError> {
        self.resign(owner).await?;
        let items = self.items_of(owner).await?;
        for item in &items {
            let rule = Expression::when(format!("NOT ({LASTING})")).value(":yes", AttributeValue::Bool(true));
            // Another administrator may have made the key meanwhile: the next call takes its rights too.
            if let WriteOutcome::ConditionFailed(_) = self.table.delete_where(&key(item.text(SK)?), rule).await? {
                return Err(StoreError::Busy.into());
            }
        }
        Ok(items.len())
    }

    /// The readable keys that can administer without an end.
    async fn lasting(&self) -> Result<Vec<KeyRecord>> {
        let records = self.items(usize::MAX).await?.into_iter().filter_map(|item| KeyRecord::read(&item).ok());
        Ok(records.filter(KeyRecord::is_lasting).collect())
    }

    /// Applies a change to a key. If the key can administer without an end, the change is one transaction with the check of
    /// another such key, so that two changes never remove both: of one that may remain.
    async fn change_unless_last(
        &self,
        id: &str,
        change: &Expression,
        may_remain: impl Fn(&KeyRecord) -> bool,
    ) -> Result<Option<KeyRecord>, KeyError> {
        for attempt in 0..MAX_ATTEMPTS {
            let lasting = self.lasting().await?;
            if lasting.iter().all(|record| record.id != id) {
                match self.change_other(id, change.clone()).await? {
                    Change::Applied(record) => return Ok(Some(record)),
                    Change::Refused => return Ok(None),
                    Change::Retry => {}
                }
            } else {
                let remaining = lasting.iter().find(|key| may_remain(key)).ok_or(KeyError::LastAdministrator)?;
                if self.change_if_lasting(id, change.clone(), &remaining.id).await? {
                    return Ok(self.get(id).await?);
                }
            }
            back_off(attempt).await;
        }
        Err(StoreError::Busy.into())
    }

    /// Applies a change to a key that cannot administer without an end, unless it can by now.
    async fn change_other(&self, id: &str, change: Expression) -> Result<Change> {
        if !is_ulid(id) {
            return Ok(Change::Refused);
        }
        let rule = format!("({}) AND NOT ({LASTING})", change.condition.as_deref().unwrap_or("attribute_exists(pk)"));
        let change = change.and_when(rule).value(":yes", AttributeValue::Bool(true));
        let is_lasting = |item: &Item| KeyRecord::read(item).is_ok_and(|record| record.is_lasting());
        Ok(match self.table.update_and_read(&key(id), change).await? {
            WriteOutcome::Written(item) => Change::Applied(KeyRecord::read(&item.unwrap_or_default())?),
            WriteOutcome::ConditionFailed(item) if item.as_ref().is_some_and(is_lasting) => Change::Retry,
            WriteOutcome::ConditionFailed(_) => Change::Refused,
        })
    }

    /// Applies a change if the key `remaining` can administer without an end; false if either key has changed.
    async fn change_if_lasting(&self, id: &str, change: Expression, remaining: &str) -> Result<bool> {
        let check = Expression::when(LASTING).value(":yes", AttributeValue::Bool(true));
        let writes = vec![self.table.update_write(&key(id), change), self.table.check_write(&key(remaining), check)];
        let outcome = self.table.transact(writes).await?;
        Ok(matches!(outcome, TransactionOutcome::Committed))
    }
}
