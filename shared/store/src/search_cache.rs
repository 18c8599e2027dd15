//! Search results, shared by all callers, with one fetch for many simultaneous misses.
//!
//! A value and the right to write it (the lead) stand in one item, so that each step is one conditional update. The lead
//! ends by itself: a leader that dies holds nobody up for longer than its lease. Failures are never stored; a leader
//! that fails gives its lead up.

use std::time::{Duration, SystemTime};

use conversation::new_id;

use crate::clock::{millis, span_millis};
use crate::item::{Item, Read, SHAPE, n, s};
use crate::key::{Key, encode};
use crate::table::{Expression, Table, Write};
use crate::{EXPIRES, StoreError};

/// The longest value in bytes; an item holds 400 KB with its keys.
const LONGEST_VALUE: usize = 380_000;

/// How long a value stays for `stale` after its freshness ended.
const KEPT_STALE: Duration = Duration::from_hours(24);

/// How far clocks may differ: a lease further ahead than that is none.
const MAX_SKEW: Duration = Duration::from_mins(1);

/// A cache must not be slower than the search: longest wait for one call.
const PATIENCE: Duration = Duration::from_secs(4);

/// What a cache lookup tells the caller to do.
#[derive(Clone, Debug)]
pub enum Claim {
    /// Use this value.
    Fresh(String),
    /// Fetch it, then `put` or `release`.
    Lead {
        /// The right to write.
        lead: Lead,
        /// An expired value, for when the fetch fails.
        stale: Option<String>,
    },
    /// Somebody else fetches it: ask again shortly.
    Follow {
        /// An expired value, for when the wait is too long.
        stale: Option<String>,
    },
}

/// The right to write one cache entry, for a while.
#[derive(Clone, Debug)]
pub struct Lead {
    key: Key,
    id: String,
}

/// Search results in the ephemeral table: single flight by a lease item, own expiry check on every read.
#[derive(Clone)]
pub struct SearchCache {
    table: Table,
}

impl SearchCache {
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// Looks `key` up; of many simultaneous callers that miss, one becomes the leader for `lease`.
    pub async fn claim(&self, key: &str, lease: Duration, now: SystemTime) -> Result<Claim, StoreError> {
        in_time(self.look_up(key, lease, now)).await
    }

    async fn look_up(&self, key: &str, lease: Duration, now: SystemTime) -> Result<Claim, StoreError> {
        let key = entry_key(key);
        // Hits are the usual case, and reading is cheaper than a write that is refused.
        if let Some(Cached::Fresh(value)) = self.table.get(&key).await?.map(|entry| Cached::of(&entry, now)) {
            return Ok(Claim::Fresh(value));
        }
        let lead = Lead { key, id: new_id() };
        let (entry, leads) = match self.table.update_and_read(&lead.key, lead.taking(lease, now)).await? {
            Write::Done(entry) => (entry.unwrap_or_default(), true),
            // An attempt of this same call may have been written before its answer was lost.
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

    /// Stores a value that is fresh for `ttl`; not when it is too large for an item, nor when the lead was lost.
    pub async fn put(&self, lead: Lead, value: &str, ttl: Duration, now: SystemTime) -> Result<(), StoreError> {
        if value.len() > LONGEST_VALUE {
            return self.release(lead).await;
        }
        in_time(self.table.update(&lead.key, lead.storing(value, ttl, now))).await.map(|_| ())
    }

    /// Gives the lead up without a value, so that the next caller leads.
    pub async fn release(&self, lead: Lead) -> Result<(), StoreError> {
        let gone = Expression::update("REMOVE leader, leaseUntil").and_when("leader = :leader");
        in_time(self.table.update(&lead.key, gone.value(":leader", s(&lead.id)))).await.map(|_| ())
    }
}

impl Lead {
    /// Where nothing is fresh and nobody leads. An item of another version counts as nothing.
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

    /// Where the lead is still held: a late leader overwrites nobody's value.
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

/// The time to live of an item whose content ends at `until`, in seconds.
fn kept_until(until: i64) -> i64 {
    until.saturating_add(span_millis(KEPT_STALE)) / 1000
}

/// What lies under a key.
enum Cached {
    Fresh(String),
    Stale(String),
    Nothing,
}

impl Cached {
    /// Deleting what expired takes the database days, so the times in the item decide. Anything that cannot be read, such
    /// as an item of another version, is nothing: it will be fetched again.
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
