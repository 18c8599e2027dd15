use std::time::Duration;

use super::RateLimit;
use crate::clock::span_micros;
use crate::item::{Item, Read, SHAPE, n};
use crate::key::{Key, encode};
use crate::table::Expression;
use crate::{EXPIRES, StoreError};

/// How long an item stays after its time has passed, in seconds, for clocks that differ.
const KEPT: i64 = 60;

/// The difference between clocks, in microseconds, that is taken for ordinary whatever the limit.
const SKEW: i64 = 1_000_000;

/// What names the items of a key begin with, whatever its limit.
pub(crate) fn of_any_size(key: &str) -> String {
    format!("RL#{}#", encode(key))
}

/// One key under one limit at one time.
pub(super) struct Bucket {
    pub(super) key: Key,
    now: i64,
    interval: i64,
    pub(super) burst: u32,
    /// The `tat` that this instance remembers by its own clock; at most `now` if it remembers none.
    remembered: i64,
}

/// The `tat` of a caller, as a write found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    stored: Option<i64>,
    /// The one that counts.
    tat: i64,
}

impl Bucket {
    /// What names the item; the limit is a part of it: another setting starts afresh instead of reading a number made for
    /// other intervals.
    pub(super) fn id(key: &str, limit: RateLimit) -> String {
        format!("{}{}/{}", of_any_size(key), limit.burst, limit.window_micros())
    }

    /// The key and the limit of which [`Bucket::id`] was made, at this time, for which this instance remembers a caller who
    /// is back at a full burst after `remembered`.
    pub(super) fn new(id: &str, limit: RateLimit, now: i64, remembered: Duration) -> Self {
        let remembered = now.saturating_add(span_micros(remembered));
        let key = Key::new(id.to_owned(), "-");
        Self { key, now, interval: limit.interval(), burst: limit.burst, remembered }
    }

    /// The write that takes so many requests, judging by the item that the last write found; `None` before the first one.
    pub(super) fn spend(&self, requests: u32, found: Option<&Found>) -> Expression {
        match found {
            Some(found) if found.stored.unwrap_or(self.now) != found.tat => self.replace(requests, found),
            Some(found) if found.tat > self.now => self.follow(requests),
            None if self.is_busy() => self.follow(requests),
            Some(_) | None => self.start(requests),
        }
    }

    /// The time of one request to come back.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_micros(self.interval.unsigned_abs())
    }

    /// So many more of a caller who is not idle.
    fn follow(&self, requests: u32) -> Expression {
        Expression::update(format!("SET tat = tat + :spent, {EXPIRES} = :expires"))
            .and_when("tat >= :least AND tat <= :latest")
            .value(":spent", n(self.spent(requests)))
            .value(":expires", n(self.expires()))
            .value(":least", n(self.remembered.max(self.now.saturating_add(1))))
            .value(":latest", n(self.latest(requests)))
    }

    /// So many of a caller who is idle; an item that outlived its time is the same as none.
    fn start(&self, requests: u32) -> Expression {
        Expression::update(format!("SET tat = :next, {EXPIRES} = :expires, v = :v"))
            .and_when("attribute_not_exists(tat) OR tat <= :now")
            .value(":next", n(self.now.saturating_add(self.spent(requests))))
            .value(":expires", n(self.expires()))
            .value(":now", n(self.now))
            .value(":v", n(SHAPE))
    }

    /// So many of a caller whose stored `tat` is not the one that counts.
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

    /// What an item, there or not, comes to by this instance's clock and memory.
    ///
    /// A `tat` further ahead than [`Bucket::reach`] was written by a clock that is or was ahead. It is not waited for: what
    /// counts is what this instance remembers, and without a memory one request may pass.
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

    /// Whether this instance remembers the caller as not back at a full burst.
    fn is_busy(&self) -> bool {
        self.remembered > self.now
    }

    /// How far ahead of this clock a `tat` may lie: nobody then waits longer than the window, or an interval and [`SKEW`].
    fn reach(&self) -> i64 {
        self.spent(self.burst).saturating_add(self.spent(self.burst.saturating_sub(1)).max(SKEW))
    }

    /// How long it is until the caller is back at a full burst.
    pub(super) fn ahead(&self, found: &Found) -> Duration {
        Duration::from_micros(u64::try_from(found.tat.saturating_sub(self.now)).unwrap_or(0))
    }

    /// How many more may pass now.
    pub(super) fn free(&self, found: &Found) -> u32 {
        let ahead = found.tat.saturating_sub(self.now).max(0);
        let free = self.spent(self.burst).saturating_sub(ahead) / self.interval;
        u32::try_from(free.max(0)).unwrap_or(self.burst).min(self.burst)
    }

    /// How long a full caller waits for the next place.
    pub(super) fn wait(&self, found: &Found) -> Duration {
        Duration::from_micros(u64::try_from(found.tat.saturating_sub(self.latest(1))).unwrap_or(0))
    }

    /// The latest `tat` at which so many may pass.
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
