//! Which endpoints of models instances found to be down, so that each need not find it out again.
//!
//! One item for each endpoint, and it may be lost: without it an instance finds out by a few failed attempts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::clock::millis;
use crate::item::{Item, Read, SHAPE, n};
use crate::key::{Key, digest};
use crate::table::{Expression, Table};
use crate::{EXPIRES, StoreError};

/// How long what was found counts.
const KEPT: Duration = Duration::from_mins(10);

/// How endpoints do, in the ephemeral table.
#[derive(Clone)]
pub struct Outages {
    table: Table,
}

/// How an endpoint does; times count to the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it came to be so.
    pub changed: SystemTime,
    /// Until when it is left alone; `None` when it works again.
    pub until: Option<SystemTime>,
}

impl Outages {
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// What was last found out about this endpoint and counts at `now`.
    pub async fn get(&self, endpoint: &str, now: SystemTime) -> Result<Option<Outage>, StoreError> {
        let outage = self.table.get(&key(endpoint)).await?.as_ref().and_then(Outage::read);
        // Deleting what expired takes the database days.
        Ok(outage.filter(|outage| outage.changed + KEPT > now))
    }

    /// Keeps what was found out; what is older than what is known changes nothing.
    pub async fn put(&self, endpoint: &str, outage: &Outage) -> Result<(), StoreError> {
        self.table.update(&key(endpoint), outage.storing()).await.map(|_| ())
    }
}

impl Outage {
    fn storing(&self) -> Expression {
        let until = self.until.map_or("REMOVE downUntil", |_| "");
        let down = self.until.map_or("", |_| "downUntil = :until, ");
        let text = format!("SET {down}changedAt = :changed, {EXPIRES} = :expires, v = :v {until}");
        let change = Expression::update(text)
            .value(":changed", n(millis(self.changed)))
            .value(":expires", n(millis(self.changed + KEPT) / 1000))
            .value(":v", n(SHAPE));
        let change = match self.until {
            Some(until) => change.value(":until", n(millis(until))),
            None => change,
        };
        change.and_when("attribute_not_exists(pk) OR changedAt < :changed OR v <> :v")
    }

    /// An item that cannot be read is nothing: it is found out again.
    fn read(item: &Item) -> Option<Self> {
        let time = |name: &str| item.number(name).ok().map(|millis| UNIX_EPOCH + Duration::from_millis(millis));
        let changed = time("changedAt").filter(|_| item.is_understood())?;
        Some(Self { changed, until: time("downUntil") })
    }
}

fn key(endpoint: &str) -> Key {
    Key::new(format!("OE#{}", digest(endpoint)), "-")
}
