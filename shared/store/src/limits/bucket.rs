use std::time::Duration;

use super::RateLimit;
use crate::clock::span_micros;
use crate::item::{Item, Read, SHAPE, n};
use crate::key::{Key, encode};
use crate::table::Expression;
use crate::{EXPIRES, StoreError};

/// How long an item is kept after its time has passed, in seconds, for clocks that differ.
const KEPT: i64 = 60;

/// The clock difference that is tolerated with every limit, in microseconds.
const SKEW: i64 = 1_000_000;

/// The prefix of the partition keys of a limit key, for every limit.
pub(crate) fn of_any_size(key: &str) -> String {
    format!("RL#{}#", encode(key))
}

/// One key under one limit at one time.
pub(super) struct Bucket {
    pub(super) key: Key,
    now: i64,
    interval: i64,
    pub(super) burst: u32,
    /// The `tat` in this instance's memory, by its own clock; at most `now` if it has none.
    remembered: i64,
}

/// The `tat` of a caller, as a write returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    stored: Option<i64>,
    /// The effective value.
    tat: i64,
}

impl Bucket {
    /// The partition key of the item. It includes the limit, so that another limit starts with a new item instead of
    /// reading a number made for other intervals.
    pub(super) fn id(key: &str, limit: RateLimit) -> String {
        format!("{}{}/{}", of_any_size(key), limit.burst, limit.window_micros())
    }

    /// Creates a bucket from the result of [`Bucket::id`], its limit and the time. In this instance's memory the caller
    /// is back at a full burst after `remembered`.
    pub(super) fn new(id: &str, limit: RateLimit, now: i64, remembered: Duration) -> Self {
        let remembered = now.saturating_add(span_micros(remembered));
        let key = Key::new(id.to_owned(), "-");
        Self { key, now, interval: limit.interval(), burst: limit.burst, remembered }
    }

    /// Builds the write that takes `requests`, based on the item that the last write returned; `None` before the first
    /// one.
    pub(super) fn spend(&self, requests: u32, found: Option<&Found>) -> Expression {
        match found {
            Some(found) if found.stored.unwrap_or(self.now) != found.tat => self.replace(requests, found),
            Some(found) if found.tat > self.now => self.follow(requests),
            None if self.is_busy() => self.follow(requests),
            Some(_) | None => self.start(requests),
        }
    }

    /// The time after which one request is available again.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_micros(self.interval.unsigned_abs())
    }

    /// Takes `requests` of a caller who is not idle.
    fn follow(&self, requests: u32) -> Expression {
        Expression::update(format!("SET tat = tat + :spent, {EXPIRES} = :expires"))
            .and_when("tat >= :least AND tat <= :latest")
            .value(":spent", n(self.spent(requests)))
            .value(":expires", n(self.expires()))
            .value(":least", n(self.remembered.max(self.now.saturating_add(1))))
            .value(":latest", n(self.latest(requests)))
    }

    /// Takes `requests` of a caller who is idle; an expired item is the same as none.
    fn start(&self, requests: u32) -> Expression {
        Expression::update(format!("SET tat = :next, {EXPIRES} = :expires, v = :v"))
            .and_when("attribute_not_exists(tat) OR tat <= :now")
            .value(":next", n(self.now.saturating_add(self.spent(requests))))
            .value(":expires", n(self.expires()))
            .value(":now", n(self.now))
            .value(":v", n(SHAPE))
    }

    /// Takes `requests` of a caller whose stored `tat` differs from the effective one.
    fn replace(&self, requests: u32, found: &Found) -> Expression {
        let change = Expression::update(format!("SET tat = :next, {EXPIRES} = :expires, v = :v"))
            .value(":next", n(found.tat.saturating_add(self.spent(requests))))
            .value(":expires", n(self.expires()))
            .value(":v", n(SHAPE));
        match found.stored {
            Some(stored) => change.and_when("tat = :stored").value(":stored", n(stored)),
            None => change.and_when("attribute_not_exists(tat)"),
        }
    }

    /// Computes the effective `tat` of an item, which may be absent, by this instance's clock and memory.
    ///
    /// A `tat` further ahead than [`Bucket::max_lead`] was written by a clock that is or was ahead. No request waits
    /// for it: the value in this instance's memory applies, and without one a single request may pass.
    pub(super) fn found(&self, item: Option<&Item>) -> Result<Found, StoreError> {
        let stored = item.map(|item| item.number::<i64>("tat")).transpose()?;
        let tat = match stored.unwrap_or(self.now) {
            tat if tat > self.now.saturating_add(self.reach()) && self.is_busy() => self.remembered,
            tat if tat > self.now.saturating_add(self.reach()) => self.latest(1),
            tat if self.is_busy() => tat.max(self.remembered),
            tat => tat,
        };
        Ok(Found { stored, tat })
    }

    /// Whether this instance's memory shows the caller below a full burst.
    fn is_busy(&self) -> bool {
        self.remembered > self.now
    }

    /// The maximum valid distance of a `tat` from this clock, in microseconds: a caller then waits at most for the
    /// window, or an interval and [`MAX_SKEW_MICROS`].
    fn reach(&self) -> i64 {
        self.spent(self.burst).saturating_add(self.spent(self.burst.saturating_sub(1)).max(SKEW))
    }

    /// The time until the caller is back at a full burst.
    pub(super) fn ahead(&self, found: &Found) -> Duration {
        Duration::from_micros(u64::try_from(found.tat.saturating_sub(self.now)).unwrap_or(0))
    }

    /// The number of requests that may pass now.
    pub(super) fn free(&self, found: &Found) -> u32 {
        let ahead = found.tat.saturating_sub(self.now).max(0);
        let free = self.spent(self.burst).saturating_sub(ahead) / self.interval;
        u32::try_from(free.max(0)).unwrap_or(self.burst).min(self.burst)
    }

    /// The time until a caller without free requests may send the next one.
    pub(super) fn wait(&self, found: &Found) -> Duration {
        Duration::from_micros(u64::try_from(found.tat.saturating_sub(self.latest(1))).unwrap_or(0))
    }

    /// The latest `tat` at which `requests` may pass.
    fn latest(&self, requests: u32) -> i64 {
        self.now.saturating_add(self.spent(self.burst.saturating_sub(requests)))
    }

    fn spent(&self, requests: u32) -> i64 {
        self.interval.saturating_mul(i64::from(requests))
    }

    fn expires(&self) -> i64 {
        self.now.saturating_add(self.spent(self.burst)) / 1_000_000 + KEPT
    }
}
