//! Circuit breaker states of model endpoints, shared between instances.
//!
//! There is one item for each endpoint. It may be lost: without it an instance opens its own breaker after some failed
//! attempts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::EndpointHealth;

use crate::Result;
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

impl BreakerTable {
    /// The last recorded state of this endpoint, if it is valid at `now`; its times have millisecond precision.
    pub async fn get(&self, endpoint: &str, now: SystemTime) -> Result<Option<EndpointHealth>> {
        let health = self.table.get(&key(endpoint)).await?.as_ref().and_then(read);
        // DynamoDB takes days to delete expired items.
        Ok(health.filter(|health| health.changed_at + VALIDITY > now))
    }

    /// Stores a state; does nothing if the stored one is newer.
    pub async fn put(&self, endpoint: &str, health: EndpointHealth) -> Result<()> {
        self.table.update(&key(endpoint), store_update(health)).await.map(|_| ())
    }
}

fn store_update(EndpointHealth { changed_at, down_until }: EndpointHealth) -> Expression {
    let always = [("changedAt", n(millis(changed_at))), expires_at(changed_at + VALIDITY), version()];
    let down = down_until.map(|until| ("downUntil", n(millis(until))));
    let change = Expression::set(always.into_iter().chain(down));
    let change = if down_until.is_some() { change } else { change.and("REMOVE downUntil") };
    change.and_when("attribute_not_exists(pk) OR changedAt < :changedAt OR v <> :v")
}

/// An unreadable item counts as absent: the state will be found out again.
fn read(item: &Item) -> Option<EndpointHealth> {
    let time = |name: &str| item.number(name).ok().map(|millis| UNIX_EPOCH + Duration::from_millis(millis));
    let changed_at = time("changedAt").filter(|_| item.is_readable())?;
    Some(EndpointHealth { changed_at, down_until: time("downUntil") })
}

fn key(endpoint: &str) -> Key {
    Key::new(format!("OE#{}", digest(endpoint)), "-")
}
