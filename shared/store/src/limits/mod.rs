//! Limits per caller: GCRA, one number in one item.
//!
//! The number is the theoretical arrival time `tat`, in microseconds: the time at which the caller is back at a full
//! burst. A request moves it one interval on, and may do so while it is at most `burst - 1` intervals ahead of now.
//! Both moves are conditional updates, so a decision is one or two writes and no read, and no two instances can spend the same place.
//! Between instances whose clocks differ by `e` at most, any window `w` admits at most `burst + (w + 2e) / interval`.

mod local;
mod rate;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

pub use rate::RateLimit;

use self::local::Local;
use crate::clock::micros;
use crate::item::{Item, Read, SHAPE, n};
use crate::key::{Key, encode};
use crate::table::{Expression, Table, Write};
use crate::{EXPIRES, StoreError};

/// How often a decision starts again when other requests of the same key get in between.
const RACES: u32 = 4;

/// A limiter must not cost more than what it protects: longest wait for one decision of the store.
const PATIENCE: Duration = Duration::from_secs(4);

/// How long an item stays after its time has passed, in seconds, for clocks that differ.
const KEPT: i64 = 60;

/// Whether a request may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Admitted,
    /// It may not, until then.
    Denied {
        /// How long to wait.
        retry_after: Duration,
    },
}

/// GCRA over conditional updates in the ephemeral table.
///
/// Clones share what the instance remembers: keys that were denied, and the allowance for times without a store.
#[derive(Clone)]
pub struct RateLimiter {
    table: Table,
    local: Arc<Mutex<Local>>,
}

impl RateLimiter {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, local: Arc::default() }
    }

    /// Counts one request of `key` (a scope and an owner) against `limit`.
    ///
    /// While the store is busy, also at a second try, one request a second passes in this instance, whatever its key, and
    /// the others get the error.
    pub async fn admit(&self, key: &str, limit: RateLimit, now: SystemTime) -> Result<Admission, StoreError> {
        if limit.burst == 0 {
            return Ok(Admission::Denied { retry_after: limit.window });
        }
        let bucket = Bucket::new(key, limit, micros(now));
        if let Some(retry_after) = self.local().denied(&bucket.key.pk, now) {
            return Ok(Admission::Denied { retry_after });
        }
        let admission = self.decide_twice(&bucket, now).await?;
        if let Admission::Denied { retry_after } = admission {
            self.local().deny(bucket.key.pk, now, retry_after);
        }
        Ok(admission)
    }

    async fn decide_twice(&self, bucket: &Bucket, now: SystemTime) -> Result<Admission, StoreError> {
        let first = self.decide_in_time(bucket).await;
        let Err(StoreError::Busy) = first else { return first };
        match self.decide_in_time(bucket).await {
            Err(StoreError::Busy) if self.local().spend_allowance(now) => {
                tracing::warn!(metric = "RateLimiterWithoutStore", "a request passed on the instance's own allowance");
                Ok(Admission::Admitted)
            }
            second => second,
        }
    }

    async fn decide_in_time(&self, bucket: &Bucket) -> Result<Admission, StoreError> {
        tokio::time::timeout(PATIENCE, self.decide(bucket)).await.unwrap_or(Err(StoreError::Busy))
    }

    async fn decide(&self, bucket: &Bucket) -> Result<Admission, StoreError> {
        for _ in 0..RACES {
            let Write::Refused(item) = self.table.update(&bucket.key, bucket.follow()).await? else {
                return Ok(Admission::Admitted);
            };
            if let Some(retry_after) = bucket.wait(item.as_ref())? {
                return Ok(Admission::Denied { retry_after });
            }
            let Write::Refused(_) = self.table.update(&bucket.key, bucket.start()).await? else {
                return Ok(Admission::Admitted);
            };
        }
        Ok(Admission::Denied { retry_after: Duration::from_micros(bucket.interval.unsigned_abs()) })
    }

    fn local(&self) -> MutexGuard<'_, Local> {
        // Nothing in it can be left half-changed by a panic.
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One key under one limit at one time.
struct Bucket {
    key: Key,
    now: i64,
    interval: i64,
    /// The latest `tat` that still admits.
    latest: i64,
    expires: i64,
}

impl Bucket {
    /// The limit is a part of the key: another setting starts afresh instead of reading a number made for other intervals.
    fn new(key: &str, limit: RateLimit, now: i64) -> Self {
        let (interval, window) = (limit.interval(), limit.window_micros());
        let ahead = interval.saturating_mul(i64::from(limit.burst) - 1);
        Self {
            key: Key::new(format!("RL#{}#{}/{window}", encode(key), limit.burst), "-"),
            now,
            interval,
            latest: now.saturating_add(ahead),
            expires: now.saturating_add(ahead).saturating_add(interval) / 1_000_000 + KEPT,
        }
    }

    /// One more of a caller who is not idle.
    fn follow(&self) -> Expression {
        Expression::update(format!("SET tat = tat + :interval, {EXPIRES} = :expires"))
            .and_when("tat > :now AND tat <= :latest")
            .value(":interval", n(self.interval))
            .value(":expires", n(self.expires))
            .value(":now", n(self.now))
            .value(":latest", n(self.latest))
    }

    /// The first of a caller who is idle; an item that outlived its time is the same as none.
    fn start(&self) -> Expression {
        Expression::update(format!("SET tat = :next, {EXPIRES} = :expires, v = :v"))
            .and_when("attribute_not_exists(tat) OR tat <= :now")
            .value(":next", n(self.now.saturating_add(self.interval)))
            .value(":expires", n(self.expires))
            .value(":now", n(self.now))
            .value(":v", n(SHAPE))
    }

    /// The time until a full caller has a place again; `None` for one who is idle or not full any more.
    fn wait(&self, item: Option<&Item>) -> Result<Option<Duration>, StoreError> {
        let Some(item) = item else { return Ok(None) };
        let over = item.number::<i64>("tat")?.saturating_sub(self.latest);
        // With a burst of 1 an idle caller's time is not over `latest` either.
        Ok(u64::try_from(over).ok().filter(|over| *over > 0).map(Duration::from_micros))
    }
}
