//! Circuit breaker states of model endpoints, shared between instances.
//!
//! There is one item for each endpoint. It may be lost: without it an instance opens its own breaker after some failed
//! attempts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::StoreError;
use crate::clock::millis;
use crate::item::{Item, ItemExt, expires_at, n, version};
use crate::key::{Key, digest};
use crate::table::{Expression, Table};

const VALIDITY: Duration = Duration::from_mins(10);

/// Breaker states in the ephemeral table.
#[derive(Clone)]
pub struct BreakerTable {
    pub(crate) table: Table,
}

/// The breaker state of an endpoint; times have millisecond precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerRecord {
    /// When the state changed.
    pub changed_at: SystemTime,
    /// Until when the breaker is open; `None` when it is closed.
    pub open_until: Option<SystemTime>,
}

impl BreakerTable {
    /// The last recorded state of this endpoint, if it is valid at `now`.
    pub async fn get(&self, endpoint: &str, now: SystemTime) -> Result<Option<BreakerRecord>, StoreError> {
        let record = self.table.get(&key(endpoint)).await?.as_ref().and_then(BreakerRecord::read);
        // DynamoDB takes days to delete expired items.
        Ok(record.filter(|record| record.changed_at + VALIDITY > now))
    }

    /// Stores a state; does nothing if the stored one is newer.
    pub async fn put(&self, endpoint: &str, record: &BreakerRecord) -> Result<(), StoreError> {
        self.table.update(&key(endpoint), record.store_update()).await.map(|_| ())
    }
}

impl BreakerRecord {
    fn store_update(&self) -> Expression {
        let expires = expires_at(self.changed_at + VALIDITY);
        let always = [("changedAt", n(millis(self.changed_at))), expires, version()];
        let open = self.open_until.map(|until| ("downUntil", n(millis(until))));
        let change = Expression::set(always.into_iter().chain(open));
        let change = if self.open_until.is_some() { change } else { change.and("REMOVE downUntil") };
        change.and_when("attribute_not_exists(pk) OR changedAt < :changedAt OR v <> :v")
    }

    /// An unreadable item counts as absent: the state will be found out again.
    fn read(item: &Item) -> Option<Self> {
        let time = |name: &str| item.number(name).ok().map(|millis| UNIX_EPOCH + Duration::from_millis(millis));
        let changed_at = time("changedAt").filter(|_| item.is_readable())?;
        Some(Self { changed_at, open_until: time("downUntil") })
    }
}

fn key(endpoint: &str) -> Key {
    Key::new(format!("OE#{}", digest(endpoint)), "-")
}
