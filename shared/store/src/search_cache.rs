//! Search results, shared by all callers, with one fetch for simultaneous misses.
//!
//! A value and its fetch lease are in one item, so that each step is one conditional update. The lease expires: a
//! leader that dies blocks the others no longer than its lease. Failures are never stored; a leader that fails releases
//! its lease.

use std::time::{Duration, SystemTime};

use conversation::new_id;

use crate::clock::{millis, span_millis};
use crate::item::{Item, Read, SHAPE, n, s};
use crate::key::{Key, encode};
use crate::table::{Expression, Table, Write};
use crate::{EXPIRES, StoreError};

/// The maximum size of a value in bytes; an item holds 400 KB with its keys.
const LONGEST_VALUE: usize = 380_000;

/// How long a value is kept as `stale` after its freshness ended.
const KEPT_STALE: Duration = Duration::from_hours(24);

/// The maximum clock difference: a lease further ahead than that is invalid.
const MAX_SKEW: Duration = Duration::from_mins(1);

/// Timeout of one call; a cache must not be slower than the search.
const PATIENCE: Duration = Duration::from_secs(4);

/// The result of a cache lookup, which decides the caller's next step.
#[derive(Clone, Debug)]
pub enum Claim {
    /// Use this value.
    Fresh(String),
    /// Fetch the value, then `put` or `release`.
    Lead {
        /// The right to write.
        lead: Lead,
        /// An expired value, for when the fetch fails.
        stale: Option<String>,
    },
    /// Another caller fetches it: retry shortly.
    Follow {
        /// An expired value, for when the wait is too long.
        stale: Option<String>,
    },
}

/// The right to write one cache entry, until it expires.
#[derive(Clone, Debug)]
pub struct Lead {
    key: Key,
    id: String,
}

/// Search results in the ephemeral table; every read checks their expiry.
#[derive(Clone)]
pub struct SearchCache {
    table: Table,
}

impl SearchCache {
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// Looks up `key`; of simultaneous callers that miss, one becomes the leader for `lease`.
    pub async fn claim(&self, key: &str, lease: Duration, now: SystemTime) -> Result<Claim, StoreError> {
        in_time(self.look_up(key, lease, now)).await
    }

    async fn look_up(&self, key: &str, lease: Duration, now: SystemTime) -> Result<Claim, StoreError> {
        let key = entry_key(key);
        // Hits are the usual case, and a read is cheaper than a rejected write.
        if let Some(Cached::Fresh(value)) = self.table.get(&key).await?.map(|entry| Cached::of(&entry, now)) {
            return Ok(Claim::Fresh(value));
        }
        let lead = Lead { key, id: new_id() };
        let (entry, leads) = match self.table.update_and_read(&lead.key, lead.taking(lease, now)).await? {
            Write::Done(entry) => (entry.unwrap_or_default(), true),
            // An earlier attempt of this same call may have been written although its response was lost.
            Write::Refused(entry) => {
                let entry = entry.unwrap_or_default();
                let leads = entry.text("leader").is_ok_and(|leader| leader == lead.id);
                (entry, leads)
            }
        };
        Ok(match Cached::of(&entry, now) {
            Cached::Fresh(value) => Claim::Fresh(value),
            other if leads => Claim::Lead { lead, stale: other.stale() },
            other => Claim::Follow { stale: other.stale() },
        })
    }

    /// Stores a value that is fresh for `ttl`, unless it is too large for an item or the lease was lost.
    pub async fn put(&self, lead: Lead, value: &str, ttl: Duration, now: SystemTime) -> Result<(), StoreError> {
        if value.len() > LONGEST_VALUE {
            return self.release(lead).await;
        }
        in_time(self.table.update(&lead.key, lead.storing(value, ttl, now))).await.map(|_| ())
    }

    /// Releases the lease without a value, so that the next caller leads.
    pub async fn release(&self, lead: Lead) -> Result<(), StoreError> {
        let gone = Expression::update("REMOVE leader, leaseUntil").and_when("leader = :leader");
        in_time(self.table.update(&lead.key, gone.value(":leader", s(&lead.id)))).await.map(|_| ())
    }
}

impl Lead {
    /// Builds the update that acquires the lease, if no value is fresh and no lease is valid. An item of another
    /// version counts as absent.
    fn taking(&self, lease: Duration, now: SystemTime) -> Expression {
        let until = after(now, lease);
        Expression::update(format!(
            "SET leader = :leader, leaseUntil = :until, {EXPIRES} = :expires, v = if_not_exists(v, :v)"
        ))
        .and_when(
            "(attribute_not_exists(freshUntil) OR freshUntil <= :now OR v <> :v) \
             AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :now OR leaseUntil > :latest)",
        )
        .value(":latest", n(after(now, lease + MAX_SKEW)))
        .value(":leader", s(&self.id))
        .value(":until", n(until))
        .value(":expires", n(kept_until(until)))
        .value(":now", n(millis(now)))
        .value(":v", n(SHAPE))
    }

    /// Builds the update that stores a value under a held lease: a late leader overwrites no value.
    fn storing(&self, value: &str, ttl: Duration, now: SystemTime) -> Expression {
        let fresh_until = after(now, ttl);
        Expression::update(format!(
            "SET cached = :value, freshUntil = :until, {EXPIRES} = :expires, v = :v REMOVE leader, leaseUntil"
        ))
        .and_when("leader = :leader")
        .value(":leader", s(&self.id))
        .value(":value", s(value))
        .value(":until", n(fresh_until))
        .value(":expires", n(kept_until(fresh_until)))
        .value(":v", n(SHAPE))
    }
}

fn after(now: SystemTime, span: Duration) -> i64 {
    millis(now).saturating_add(span_millis(span))
}

/// The expiry of an item whose content is valid until `until`, in seconds.
fn kept_until(until: i64) -> i64 {
    until.saturating_add(span_millis(KEPT_STALE)) / 1000
}

/// The content of a cache item.
enum Cached {
    Fresh(String),
    Stale(String),
    Nothing,
}

impl Cached {
    /// Reads an item. DynamoDB takes days to delete expired items, so the times in the item decide. An unreadable item,
    /// such as one of another version, counts as missing: it will be fetched again.
    fn of(entry: &Item, now: SystemTime) -> Self {
        let (Ok(value), Ok(fresh_until)) = (entry.text("cached"), entry.number::<i64>("freshUntil")) else {
            return Self::Nothing;
        };
        match millis(now) {
            _ if !entry.is_understood() => Self::Nothing,
            now if now < fresh_until => Self::Fresh(value.to_owned()),
            now if now / 1000 < kept_until(fresh_until) => Self::Stale(value.to_owned()),
            _ => Self::Nothing,
        }
    }

    fn stale(self) -> Option<String> {
        match self {
            Self::Fresh(value) | Self::Stale(value) => Some(value),
            Self::Nothing => None,
        }
    }
}

async fn in_time<T>(call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::time::timeout(PATIENCE, call).await.unwrap_or(Err(StoreError::Busy))
}

fn entry_key(key: &str) -> Key {
    Key::new(format!("SC#{}", encode(key)), "-")
}
