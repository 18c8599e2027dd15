//! Rate limits per caller: GCRA (generic cell rate algorithm), with one number in one item.
//!
//! The number is the theoretical arrival time `tat`, in microseconds: the time at which the caller is back at a full
//! burst. A request advances it by one interval, and passes while it is at most `burst - 1` intervals ahead of now;
//! several requests advance it by as many intervals at once. Both are conditional updates, so a decision is a write and
//! no read (two when the caller's state has changed since this instance last saw it), and no two instances can spend
//! the same request. Requests of one key that arrive during a decision share the next one: a thousand at once cost some
//! writes, and never race each other. Between instances whose clocks differ by `e` at most, any window `w` admits
//! at most `burst + (w + 2e) / interval`. This holds while `e` is at most [`Bucket::max_lead`]: the window less an
//! interval, or one second if that is longer.
//!
//! A `tat` further ahead was written by a clock that is or was wrong, and delays no request. Each instance then falls
//! back to the `tat` in its memory, and one without it lets one request pass. So for any clock difference, each
//! instance admits at most `burst + w / interval` by its own clock while it has the key in memory; `n` instances
//! together admit at most `n` times as many.

mod bucket;
mod local;
mod pending_decisions;
mod rate;

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use work::lock;

pub(crate) use bucket::key_prefix;
pub use rate::RateLimit;

use domain::Owner;

use self::bucket::{Bucket, Counter};
use self::local::LocalMemory;
use self::pending_decisions::{PendingDecisions, Waiter};
use crate::backoff::within;
use crate::clock::micros;
use crate::instructions;
use crate::table::{Table, WriteOutcome};
use crate::{Result, StoreError};

/// The maximum number of writes of a decision. The second one follows if the caller's state has changed since this
/// instance last saw it; further ones follow concurrent writes of other instances.
const MAX_WRITES: u32 = 8;

/// Timeout of one decision of the store; a limiter must not cost more than it protects.
const DECISION_TIMEOUT: Duration = Duration::from_secs(4);

/// Whether a request is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The request may proceed.
    Admitted,
    /// The request is rejected until then.
    Denied {
        /// The time to wait.
        retry_after: Duration,
    },
}

/// GCRA over conditional updates: in the ephemeral table, and of turns in the item of their owner's instructions.
///
/// Clones share the instance's memory: denied keys, and the allowance for times without a store.
#[derive(Clone)]
pub struct RateLimiter {
    data: Table,
    ephemeral: Table,
    local: Arc<Mutex<LocalMemory>>,
    pending: Arc<PendingDecisions>,
}

/// The decision about the requests of one key at one time.
struct Decision {
    admitted: u32,
    /// What the owner's item has, of turns.
    instructions: Option<String>,
    /// The time that the others have to wait.
    retry_after: Duration,
}

impl RateLimiter {
    pub(crate) fn new(data: Table, ephemeral: Table) -> Self {
        Self { data, ephemeral, local: Arc::default(), pending: Arc::default() }
    }

    /// Counts one request of `key` (a scope and an owner) against `limit`.
    ///
    /// If the store is busy, also on the retry, one request a second passes in this instance, for all keys together.
    /// The others get the error.
    pub async fn admit(&self, key: &str, limit: RateLimit, now: SystemTime) -> Result<Admission> {
        Ok(self.count(Counter::of_key(key, limit), limit, now).await?.0)
    }

    /// Counts one turn of `owner` against `limit`, like [`admit`](Self::admit), and reads the owner's instructions in
    /// the same request: `None` if it is denied or passes without the store.
    pub async fn admit_turn(
        &self,
        owner: &Owner,
        limit: RateLimit,
        now: SystemTime,
    ) -> Result<(Admission, Option<String>)> {
        self.count(Counter::of_owner(owner, limit), limit, now).await
    }

    async fn count(&self, counter: Counter, limit: RateLimit, now: SystemTime) -> Result<(Admission, Option<String>)> {
        if limit.burst == 0 {
            return Ok((Admission::Denied { retry_after: limit.window }, None));
        }
        if let Some(retry_after) = lock(&self.local).denial(&counter.id, now) {
            return Ok((Admission::Denied { retry_after }, None));
        }
        let (waiter, decided) = Waiter::new(now);
        if self.pending.join(&counter.id, waiter) {
            // A separate task: cancelling the first request must not lose the decision of the others.
            tokio::spawn(self.clone().decide_all(counter, limit));
        }
        decided.await.unwrap_or(Err(StoreError::Busy))
    }

    /// Decides about all waiting requests of this key, until none is left.
    async fn decide_all(self, counter: Counter, limit: RateLimit) {
        let id = counter.id.as_str();
        let _guard = self.pending.guard_leader(id);
        while let Some(mut waiters) = self.pending.next_batch(id) {
            let now = waiters.iter().map(Waiter::requested_at).max().unwrap_or(SystemTime::UNIX_EPOCH);
            let remembered = lock(&self.local).busy.remaining(id, now).unwrap_or_default();
            let bucket = Bucket::new(counter.clone(), limit, micros(now), remembered);
            let requests = u32::try_from(waiters.len()).unwrap_or(u32::MAX);
            match self.decide_with_retry(&bucket, requests, now).await {
                Ok(decision) => self.send_decisions(id, now, waiters, &decision),
                Err(error) => {
                    // Requests that arrived meanwhile get the same failure.
                    waiters.extend(self.pending.take_waiting(id));
                    for waiter in waiters {
                        self.send_failure(waiter, &error);
                    }
                }
            }
        }
    }

    fn send_decisions(&self, id: &str, now: SystemTime, waiters: Vec<Waiter>, decision: &Decision) {
        let (admitted, retry_after) = (decision.admitted as usize, decision.retry_after);
        if waiters.len() > admitted {
            lock(&self.local).denied.insert(id, now, retry_after);
        }
        for (index, waiter) in waiters.into_iter().enumerate() {
            waiter.respond(Ok(if index < admitted {
                (Admission::Admitted, decision.instructions.clone())
            } else {
                (Admission::Denied { retry_after }, None)
            }));
        }
    }

    /// Responds to a request after a failure; while the store is busy the instance's own allowance applies.
    fn send_failure(&self, waiter: Waiter, error: &StoreError) {
        let passes = *error == StoreError::Busy && lock(&self.local).spend_allowance(waiter.requested_at());
        if passes {
            tracing::warn!(metric = "RateLimiterWithoutStore", "a request passed on the instance's own allowance");
        }
        waiter.respond(if passes { Ok((Admission::Admitted, None)) } else { Err(error.clone()) });
    }

    async fn decide_with_retry(&self, bucket: &Bucket, requests: u32, now: SystemTime) -> Result<Decision> {
        let decide = || within(DECISION_TIMEOUT, self.decide(bucket, requests, now));
        match decide().await {
            Err(StoreError::Busy) => decide().await,
            decided => decided,
        }
    }

    async fn decide(&self, bucket: &Bucket, requests: u32, now: SystemTime) -> Result<Decision> {
        let table = if bucket.counter.is_of_owner { &self.data } else { &self.ephemeral };
        let (mut admitted, mut state) = (requests.min(bucket.burst), None);
        for _ in 0..MAX_WRITES {
            let change = bucket.spend_update(admitted, state.as_ref());
            let (item, done) = match table.update_and_read(&bucket.counter.key, change).await? {
                WriteOutcome::Written(item) => (item, true),
                WriteOutcome::ConditionFailed(item) => (item, false),
            };
            let seen = bucket.read_tat(item.as_ref())?;
            let free = bucket.free_requests(&seen);
            if done || free == 0 {
                lock(&self.local).busy.insert(&bucket.counter.id, now, bucket.time_to_full(&seen));
                return Ok(Decision {
                    admitted: if done { admitted } else { 0 },
                    instructions: item.filter(|_| bucket.counter.is_of_owner).as_ref().map(instructions::text),
                    retry_after: bucket.wait_time(&seen),
                });
            }
            (admitted, state) = (admitted.min(free), Some(seen));
        }
        Ok(Decision { admitted: 0, instructions: None, retry_after: bucket.interval() })
    }
}
