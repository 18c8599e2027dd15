//! Limits per caller: GCRA, one number in one item.
//!
//! The number is the theoretical arrival time `tat`, in microseconds: the time at which the caller is back at a full
//! burst. A request moves it one interval on, and may do so while it is at most `burst - 1` intervals ahead of now; several
//! requests move it as many intervals at once. Both moves are conditional updates, so a decision is a write and no read
//! (two when the instance last saw the caller in another state), and no two instances can spend the same place. Requests of one key that come while a decision about it is on
//! its way are decided together by the next one: a thousand at once cost a few writes, and never race each other.
//! Between instances whose clocks differ by `e` at most, any window `w` admits at most `burst + (w + 2e) / interval`.
//! This holds while `e` is at most [`Bucket::found`]'s reach: the window less an interval, or one second if that is longer.
//!
//! A `tat` that lies further ahead was written by a clock that is or was wrong, and delays no request: each instance then
//! falls back to the `tat` that it remembers by its own clock, and one without a memory lets one request pass. So however
//! far clocks differ, each instance admits at most `burst + w / interval` by its own clock, for as long as it remembers the
//! key; `n` instances together at most `n` times as many.

mod bucket;
mod local;
mod rate;
mod together;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

pub(crate) use bucket::of_any_size;
pub use rate::RateLimit;

use self::bucket::Bucket;
use self::local::Local;
use self::together::{Asker, Together};
use crate::StoreError;
use crate::clock::micros;
use crate::table::{Table, Write};

/// The most writes of a decision: a second one when the caller is not in the state in which this instance saw him last,
/// and further ones while requests of the same key at other instances get in between.
const WRITES: u32 = 8;

/// A limiter must not cost more than what it protects: longest wait for one decision of the store.
const PATIENCE: Duration = Duration::from_secs(4);

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
    together: Arc<Together>,
}

/// What a decision came to for requests of one key at one time.
#[derive(Clone, Copy)]
struct Decision {
    /// So many of them pass.
    admitted: u32,
    /// The others wait so long.
    retry_after: Duration,
}

impl RateLimiter {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, local: Arc::default(), together: Arc::default() }
    }

    /// Counts one request of `key` (a scope and an owner) against `limit`.
    ///
    /// While the store is busy, also at a second try, one request a second passes in this instance, whatever its key, and
    /// the others get the error.
    pub async fn admit(&self, key: &str, limit: RateLimit, now: SystemTime) -> Result<Admission, StoreError> {
        if limit.burst == 0 {
            return Ok(Admission::Denied { retry_after: limit.window });
        }
        let id = Bucket::id(key, limit);
        if let Some(retry_after) = self.local().denial(&id, now) {
            return Ok(Admission::Denied { retry_after });
        }
        let (asker, decided) = Asker::new(now);
        if self.together.join(&id, asker) {
            // A task of its own: the others' decision must not be lost when the first of them goes away.
            tokio::spawn(self.clone().decide_all(id, limit));
        }
        decided.await.unwrap_or(Err(StoreError::Busy))
    }

    /// Forgets what was counted of a key; gives the number of items.
    pub(crate) async fn forget(&self, key: &str, limit: RateLimit) -> Result<usize, StoreError> {
        let bucket = Bucket::new(&Bucket::id(key, limit), limit, 0, Duration::ZERO);
        self.local().forget(&bucket.key.pk);
        let gone = self.table.delete(&bucket.key).await?;
        Ok(usize::from(matches!(gone, Write::Done(_))))
    }

    /// Decides about everybody who asks for this key, until nobody does any more.
    async fn decide_all(self, id: String, limit: RateLimit) {
        let _deciding = self.together.deciding(&id);
        while let Some(mut askers) = self.together.next(&id) {
            let now = askers.iter().map(Asker::asked).max().unwrap_or(SystemTime::UNIX_EPOCH);
            let remembered = self.local().busy.left(&id, now).unwrap_or_default();
            let bucket = Bucket::new(&id, limit, micros(now), remembered);
            let requests = u32::try_from(askers.len()).unwrap_or(u32::MAX);
            match self.decide_twice(&bucket, requests, now).await {
                Ok(decision) => self.tell(&id, now, askers, decision),
                Err(error) => {
                    // Whoever came meanwhile has waited for the same failure.
                    askers.extend(self.together.waiting(&id));
                    for asker in askers {
                        self.fail(asker, &error);
                    }
                }
            }
        }
    }

    fn tell(&self, id: &str, now: SystemTime, askers: Vec<Asker>, decision: Decision) {
        let Decision { admitted, retry_after } = decision;
        if askers.len() > admitted as usize {
            self.local().denied.note(id, now, retry_after);
        }
        for (place, asker) in askers.into_iter().enumerate() {
            let admits = place < admitted as usize;
            asker.tell(Ok(if admits { Admission::Admitted } else { Admission::Denied { retry_after } }));
        }
    }

    /// While the store is busy the instance's own allowance decides.
    fn fail(&self, asker: Asker, error: &StoreError) {
        let passes = *error == StoreError::Busy && self.local().spend_allowance(asker.asked());
        if passes {
            tracing::warn!(metric = "RateLimiterWithoutStore", "a request passed on the instance's own allowance");
        }
        asker.tell(if passes { Ok(Admission::Admitted) } else { Err(error.clone()) });
    }

    async fn decide_twice(&self, bucket: &Bucket, requests: u32, now: SystemTime) -> Result<Decision, StoreError> {
        match self.decide_in_time(bucket, requests, now).await {
            Err(StoreError::Busy) => self.decide_in_time(bucket, requests, now).await,
            decided => decided,
        }
    }

    async fn decide_in_time(&self, bucket: &Bucket, requests: u32, now: SystemTime) -> Result<Decision, StoreError> {
        tokio::time::timeout(PATIENCE, self.decide(bucket, requests, now)).await.unwrap_or(Err(StoreError::Busy))
    }

    async fn decide(&self, bucket: &Bucket, requests: u32, now: SystemTime) -> Result<Decision, StoreError> {
        let (mut admitted, mut found) = (requests.min(bucket.burst), None);
        for _ in 0..WRITES {
            let (item, done) =
                match self.table.update_and_read(&bucket.key, bucket.spend(admitted, found.as_ref())).await? {
                    Write::Done(item) => (item, true),
                    Write::Refused(item) => (item, false),
                };
            let seen = bucket.found(item.as_ref())?;
            let free = bucket.free(&seen);
            if done || free == 0 {
                self.local().busy.note(&bucket.key.pk, now, bucket.ahead(&seen));
                return Ok(Decision { admitted: if done { admitted } else { 0 }, retry_after: bucket.wait(&seen) });
            }
            (admitted, found) = (admitted.min(free), Some(seen));
        }
        Ok(Decision { admitted: 0, retry_after: bucket.interval() })
    }

    fn local(&self) -> MutexGuard<'_, Local> {
        // Nothing in it can be left half-changed by a panic.
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
