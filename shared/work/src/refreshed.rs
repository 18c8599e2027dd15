use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use tokio::sync::Mutex as AsyncMutex;

use crate::lock;

/// How long a value is used, and how often it is read.
#[derive(Clone, Copy, Debug)]
pub struct RefreshPolicy {
    /// How long a value is used before it is read again.
    pub fresh_for: Duration,
    /// How long a value is used while it cannot be read again.
    pub usable_for: Duration,
    /// Minimum time between two reads while there is a usable value.
    pub retry_interval: Duration,
}

/// One value that is read on first use and again when it is old; concurrent callers cause one read.
///
/// Times are those of the wall clock, which continues while an instance is frozen. After a clock set back, everything counts
/// as expired.
#[derive(Debug)]
pub struct Refreshed<T, E> {
    policy: RefreshPolicy,
    state: Mutex<State<T, E>>,
    /// Held during a read.
    reading: AsyncMutex<()>,
}

#[derive(Debug)]
struct State<T, E> {
    /// The last value, when it was read, and the number of invalidations before that.
    value: Option<(T, SystemTime, u64)>,
    /// Why and when the last read failed, unless it succeeded.
    failure: Option<(E, SystemTime)>,
    reads: u64,
    invalidations: u64,
    /// When [`Refreshed::try_invalidate`] or [`Refreshed::renew`] last caused a read.
    renewed_at: Option<SystemTime>,
}

impl<T: Clone, E: Clone> Refreshed<T, E> {
    /// Makes no read.
    pub fn new(policy: RefreshPolicy) -> Self {
        let state = State { value: None, failure: None, reads: 0, invalidations: 0, renewed_at: None };
        Self { policy, state: Mutex::new(state), reading: AsyncMutex::default() }
    }

    /// Starts with an expired value, which is used while none can be read.
    #[must_use]
    pub fn with_expired(self, value: T) -> Self {
        lock(&self.state).value = Some((value, SystemTime::UNIX_EPOCH, 0));
        self
    }

    /// Returns a fresh value, else one that is read now, else the last one while it is usable.
    ///
    /// # Errors
    /// The failure of the last read if there is no usable value.
    pub async fn get(&self, now: SystemTime, read: impl AsyncFnOnce() -> Result<T, E>) -> Result<T, E> {
        let reads = {
            let state = lock(&self.state);
            if let Some(value) = state.value_without_read(&self.policy, now) {
                return Ok(value);
            }
            state.reads
        };
        let _guard = self.reading.lock().await;
        let invalidations = {
            let state = lock(&self.state);
            // A caller that held the lock in the meantime has read for all waiting callers.
            if let Some(outcome) = state.outcome_since(reads, &self.policy, now) {
                return outcome;
            }
            state.invalidations
        };
        let outcome = read().await;
        lock(&self.state).record(outcome, invalidations, &self.policy, now)
    }

    /// Reads again although the last value may be fresh, at most once in the retry interval; returns the value if `is_newer`.
    /// Meanwhile other callers use the last one.
    pub async fn renew(
        &self,
        now: SystemTime,
        is_newer: impl Fn(&T) -> bool,
        read: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Option<T> {
        let _guard = self.reading.lock().await;
        let invalidations = {
            let mut state = lock(&self.state);
            let known = state.usable_value(&self.policy, now).filter(|value| is_newer(value));
            let is_recent = |at| is_within(at, self.policy.retry_interval, now);
            if known.is_some() || state.renewed_at.is_some_and(is_recent) {
                return known;
            }
            state.renewed_at = Some(now);
            state.invalidations
        };
        let outcome = read().await;
        lock(&self.state).record(outcome, invalidations, &self.policy, now).ok().filter(is_newer)
    }

    /// The last value, of any age.
    pub fn peek(&self) -> Option<T> {
        lock(&self.state).value.as_ref().map(|(value, ..)| value.clone())
    }

    /// Drops a value that must not be used, also while no other can be read.
    pub fn discard_if(&self, is_useless: impl Fn(&T) -> bool) {
        let mut state = lock(&self.state);
        state.value = state.value.take().filter(|(value, ..)| !is_useless(value));
    }

    /// Makes the next call read, because the value has changed at its source.
    pub fn invalidate(&self) {
        lock(&self.state).invalidations += 1;
    }

    /// Makes the next call read, because the value may have changed; returns whether it does. It does not within the retry
    /// interval after a failure or another such read.
    pub fn try_invalidate(&self, now: SystemTime) -> bool {
        let mut state = lock(&self.state);
        let last = state.failure.as_ref().map(|(_, at)| *at).into_iter().chain(state.renewed_at);
        let is_due = !last.into_iter().any(|at| is_within(at, self.policy.retry_interval, now));
        if is_due {
            state.renewed_at = Some(now);
            state.invalidations += 1;
        }
        is_due
    }
}

impl<T: Clone, E: Clone> State<T, E> {
    /// A value that needs no read: a fresh one, or a usable one right after a failed read.
    fn value_without_read(&self, policy: &RefreshPolicy, now: SystemTime) -> Option<T> {
        let current = self.value.as_ref().filter(|(_, read_at, invalidations)| {
            *invalidations == self.invalidations && is_within(*read_at, policy.fresh_for, now)
        });
        let is_backing_off = self.failure.as_ref().is_some_and(|(_, at)| is_within(*at, policy.retry_interval, now));
        match current {
            Some((value, ..)) => Some(value.clone()),
            None => self.usable_value(policy, now).filter(|_| is_backing_off),
        }
    }

    fn usable_value(&self, policy: &RefreshPolicy, now: SystemTime) -> Option<T> {
        let usable = self.value.as_ref().filter(|(_, read_at, _)| is_within(*read_at, policy.usable_for, now));
        usable.map(|(value, ..)| value.clone())
    }

    /// The outcome of the last read, if it followed the first `reads` ones and its value is not outdated.
    fn outcome_since(&self, reads: u64, policy: &RefreshPolicy, now: SystemTime) -> Option<Result<T, E>> {
        match (&self.failure, &self.value) {
            _ if self.reads == reads => None,
            (Some((error, _)), _) => Some(self.usable_value(policy, now).ok_or_else(|| error.clone())),
            (None, Some((value, _, seen))) => (*seen == self.invalidations).then(|| Ok(value.clone())),
            (None, None) => None,
        }
    }

    fn record(
        &mut self,
        outcome: Result<T, E>,
        invalidations: u64,
        policy: &RefreshPolicy,
        now: SystemTime,
    ) -> Result<T, E> {
        self.reads += 1;
        self.failure = outcome.as_ref().err().map(|error| (error.clone(), now));
        if let Ok(value) = &outcome {
            self.value = Some((value.clone(), now, invalidations));
        }
        outcome.or_else(|error| self.usable_value(policy, now).ok_or(error))
    }
}

fn is_within(since: SystemTime, span: Duration, now: SystemTime) -> bool {
    now.duration_since(since).is_ok_and(|age| age < span)
}

#[cfg(test)]
mod tests;
