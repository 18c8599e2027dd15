//! Search results, shared by all callers, with one fetch for simultaneous misses.
//!
//! A value and its fetch lease are in one item, so that each step is one conditional update. The lease expires: a
//! leader that dies blocks the others no longer than its lease. Failures are never stored; a leader that fails releases
//! its lease.

use std::time::{Duration, SystemTime};

use domain::new_id;

use crate::backoff::within;
use crate::clock::{millis, seconds, span_millis};
use crate::compressed::{compressed, decompressed};
use crate::item::{Item, ItemExt, SCHEMA_VERSION, n, s, version};
use crate::key::{Key, PK, encode};
use crate::search_credits::{self, SpentCredits};
use crate::table::{Expression, Table, WriteOutcome};
use crate::{EXPIRES, Result};

/// The maximum size of a value in bytes; an item holds 400 KB with its keys.
const MAX_VALUE_BYTES: usize = 380_000;

/// How long a value is kept as `stale` after its freshness ended.
const STALE_TTL: Duration = Duration::from_hours(24);

/// The maximum clock difference: a lease further ahead than that is invalid.
const MAX_SKEW: Duration = Duration::from_mins(1);

/// Timeout of one call; a cache must not be slower than the search.
const CALL_TIMEOUT: Duration = Duration::from_secs(4);

/// The result of a cache lookup, which decides the caller's next step.
#[derive(Clone, Debug)]
pub enum Claim {
    /// Use this value.
    Fresh(String),
    /// Fetch the value, then `put` or `release`.
    Lead {
        /// The right to write.
        lease: FetchLease,
        /// An expired value, for when the fetch fails.
        stale: Option<String>,
        /// The credits that the provider charged so far.
        spent: SpentCredits,
    },
    /// Another caller fetches it: retry shortly.
    Follow {
        /// An expired value, for when the wait is too long.
        stale: Option<String>,
    },
}

/// The right to write one cache entry, until it expires.
#[derive(Clone, Debug)]
pub struct FetchLease {
    key: Key,
    id: String,
}

/// Search results in the ephemeral table; every read checks their expiry.
#[derive(Clone)]
pub struct SearchCache {
    pub(crate) table: Table,
}

impl SearchCache {
    /// Looks up `key`; of simultaneous callers that miss, one becomes the leader for `lease`. It reads the credits of
    /// `provider` in the same request.
    pub async fn claim(&self, key: &str, provider: &str, lease: Duration, now: SystemTime) -> Result<Claim> {
        let keys = (entry_key(key), search_credits::key(provider, now));
        within(CALL_TIMEOUT, self.find_or_lease(keys, lease, now)).await
    }

    async fn find_or_lease(&self, (key, credits_key): (Key, Key), lease: Duration, now: SystemTime) -> Result<Claim> {
        // Hits are the usual case, and a read is cheaper than a rejected write.
        let items = self.table.get_all(vec![key.clone(), credits_key.clone()]).await?;
        let find = |key: &Key| items.iter().find(|item| item.text(PK).is_ok_and(|pk| pk == key.pk));
        if let Some((value, true)) = find(&key).and_then(|entry| cached_value(entry, now)) {
            return Ok(Claim::Fresh(value));
        }
        let spent = SpentCredits::read(find(&credits_key), now);
        let fetch_lease = FetchLease { key, id: new_id() };
        let (entry, is_leader) =
            match self.table.update_and_read(&fetch_lease.key, fetch_lease.acquire_update(lease, now)).await? {
                WriteOutcome::Written(entry) => (entry.unwrap_or_default(), true),
                // An earlier attempt of this same call may have been written although its response was lost.
                WriteOutcome::ConditionFailed(entry) => {
                    let entry = entry.unwrap_or_default();
                    let is_leader = entry.text("leader").is_ok_and(|leader| leader == fetch_lease.id);
                    (entry, is_leader)
                }
            };
        Ok(match cached_value(&entry, now) {
            Some((value, true)) => Claim::Fresh(value),
            stale if is_leader => Claim::Lead { lease: fetch_lease, stale: stale.map(|(value, _)| value), spent },
            stale => Claim::Follow { stale: stale.map(|(value, _)| value) },
        })
    }

    /// Stores a value that is fresh for `ttl`, unless it is too large for an item or the lease was lost.
    pub async fn put(&self, lease: FetchLease, value: &str, ttl: Duration, now: SystemTime) -> Result<()> {
        if value.len() > MAX_VALUE_BYTES {
            return self.release(lease).await;
        }
        within(CALL_TIMEOUT, self.table.update(&lease.key, lease.store_update(value, ttl, now))).await.map(|_| ())
    }

    /// Remembers that a caller was given a value that is fresh for `ttl` at most; returns whether this was known before.
    /// `delivery` is a digest of the value and the caller.
    pub async fn was_delivered(&self, delivery: &str, ttl: Duration, now: SystemTime) -> Result<bool> {
        let id = new_id();
        let expires = n(expires_at_secs(millis_after(now, ttl)));
        let change = Expression::set([("delivery", s(&id)), (EXPIRES, expires), version()])
            .and_when(format!("attribute_not_exists(pk) OR {EXPIRES} <= :seconds"))
            .value(":seconds", n(seconds(now)));
        let outcome = within(CALL_TIMEOUT, self.table.update(&Key::new(format!("SD#{delivery}"), "-"), change)).await?;
        Ok(match outcome {
            WriteOutcome::Written(_) => false,
            // An earlier attempt of this same call may have been written although its response was lost.
            WriteOutcome::ConditionFailed(entry) => entry.unwrap_or_default().text("delivery").ok() != Some(&*id),
        })
    }

    /// Releases the lease without a value, so that the next caller leads.
    pub async fn release(&self, lease: FetchLease) -> Result<()> {
        let change = Expression::update("REMOVE leader, leaseUntil").and_when("leader = :leader");
        within(CALL_TIMEOUT, self.table.update(&lease.key, change.value(":leader", s(&lease.id)))).await.map(|_| ())
    }
}

impl FetchLease {
    /// Builds the update that acquires the lease, if no value is fresh and no lease is valid. An item of another
    /// version counts as absent.
    fn acquire_update(&self, lease: Duration, now: SystemTime) -> Expression {
        let until = millis_after(now, lease);
        Expression::set([("leader", s(&self.id)), ("leaseUntil", n(until)), (EXPIRES, n(expires_at_secs(until)))])
            .and(", v = if_not_exists(v, :v)")
            .and_when(
                "(attribute_not_exists(packedUntil) OR packedUntil <= :now OR v <> :v) \
                 AND (attribute_not_exists(freshUntil) OR freshUntil <= :now OR v <> :v) \
                 AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :now OR leaseUntil > :latest)",
            )
            .value(":latest", n(millis_after(now, lease + MAX_SKEW)))
            .value(":now", n(millis(now)))
            .value(":v", n(SCHEMA_VERSION))
    }

    /// Builds the update that stores a value under a held lease: a late leader overwrites no value.
    fn store_update(&self, value: &str, ttl: Duration, now: SystemTime) -> Expression {
        let fresh_until = millis_after(now, ttl);
        let expires = n(expires_at_secs(fresh_until));
        Expression::set([("packed", compressed(value)), ("packedUntil", n(fresh_until)), (EXPIRES, expires), version()])
            .and("REMOVE leader, leaseUntil, cached, freshUntil")
            .and_when("leader = :leader")
            .value(":leader", s(&self.id))
    }
}

fn millis_after(now: SystemTime, span: Duration) -> i64 {
    millis(now).saturating_add(span_millis(span))
}

/// The expiry of an item whose content is valid until `until`, in seconds.
fn expires_at_secs(until: i64) -> i64 {
    until.saturating_add(span_millis(STALE_TTL)) / 1000
}

/// The value of an item, and whether it is fresh; `None` if it has none or its time is over, because DynamoDB takes days to
/// delete expired items. An unreadable item, such as one of another version, has none: it will be fetched again.
fn cached_value(entry: &Item, now: SystemTime) -> Option<(String, bool)> {
    let until = |name| entry.number::<i64>(name).ok();
    let (packed_until, plain_until) = (until("packedUntil"), until("freshUntil"));
    let fresh_until = packed_until.max(plain_until)?;
    // An instance of an earlier release stores its value next to a compressed one, which it cannot read.
    let value = if packed_until >= plain_until {
        decompressed(entry, "packed")
    } else {
        entry.text("cached").ok().map(str::to_owned)
    }?;
    let is_kept = entry.is_readable() && seconds(now) < expires_at_secs(fresh_until);
    is_kept.then(|| (value, millis(now) < fresh_until))
}

fn entry_key(key: &str) -> Key {
    Key::new(format!("SC#{}", encode(key)), "-")
}
