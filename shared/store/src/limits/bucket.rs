use std::time::Duration;

use super::RateLimit;
use crate::clock::span_micros;
use crate::item::{Item, ItemExt, n, version};
use crate::key::{Key, encode};
use crate::table::Expression;
use crate::{EXPIRES, Result};

/// How long an item is kept after its time has passed, in seconds, for clocks that differ.
const EXPIRY_MARGIN_SECS: i64 = 60;

/// The clock difference that is tolerated with every limit, in microseconds.
const MAX_SKEW_MICROS: i64 = 1_000_000;

/// The prefix of the partition keys of a limit key, for every limit.
pub(crate) fn key_prefix(key: &str) -> String {
    format!("RL#{}#", encode(key))
}

/// One key under one limit at one time.
pub(super) struct Bucket {
    pub(super) key: Key,
    now: i64,
    interval_micros: i64,
    pub(super) burst: u32,
    /// The `tat` in this instance's memory, by its own clock; at most `now` if it has none.
    remembered: i64,
}

/// The `tat` of a caller, as a write returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TatState {
    stored: Option<i64>,
    /// The effective value.
    tat: i64,
}

impl Bucket {
    /// The partition key of the item. It includes the limit, so that another limit starts with a new item instead of
    /// reading a number made for other intervals.
    pub(super) fn id(key: &str, limit: RateLimit) -> String {
        format!("{}{}/{}", key_prefix(key), limit.burst, limit.window_micros())
    }

    /// Creates a bucket from the result of [`Bucket::id`], its limit and the time. In this instance's memory the caller
    /// is back at a full burst after `remembered`.
    pub(super) fn new(id: &str, limit: RateLimit, now: i64, remembered: Duration) -> Self {
        let remembered = now.saturating_add(span_micros(remembered));
        let key = Key::new(id.to_owned(), "-");
        Self { key, now, interval_micros: limit.interval_micros(), burst: limit.burst, remembered }
    }

    /// Builds the write that takes `requests`, based on the item that the last write returned; `None` before the first
    /// one.
    pub(super) fn spend_update(&self, requests: u32, state: Option<&TatState>) -> Expression {
        match state {
            Some(state) if state.stored.unwrap_or(self.now) != state.tat => self.replace_update(requests, state),
            Some(state) if state.tat > self.now => self.advance_update(requests),
            None if self.is_busy() => self.advance_update(requests),
            Some(_) | None => self.start_update(requests),
        }
    }

    /// The time after which one request is available again.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_micros(self.interval_micros.unsigned_abs())
    }

    /// Takes `requests` of a caller who is not idle.
    fn advance_update(&self, requests: u32) -> Expression {
        Expression::update(format!("SET tat = tat + :spent, {EXPIRES} = :expires"))
            .and_when("tat >= :least AND tat <= :latest")
            .value(":spent", n(self.tat_advance(requests)))
            .value(":expires", n(self.expires_at_secs()))
            .value(":least", n(self.remembered.max(self.now.saturating_add(1))))
            .value(":latest", n(self.latest_tat(requests)))
    }

    /// Takes `requests` of a caller who is idle; an expired item is the same as none.
    fn start_update(&self, requests: u32) -> Expression {
        let next = self.now.saturating_add(self.tat_advance(requests));
        Expression::set([("tat", n(next)), (EXPIRES, n(self.expires_at_secs())), version()])
            .and_when("attribute_not_exists(tat) OR tat <= :now")
            .value(":now", n(self.now))
    }

    /// Takes `requests` of a caller whose stored `tat` differs from the effective one.
    fn replace_update(&self, requests: u32, state: &TatState) -> Expression {
        let next = state.tat.saturating_add(self.tat_advance(requests));
        let change = Expression::set([("tat", n(next)), (EXPIRES, n(self.expires_at_secs())), version()]);
        match state.stored {
            Some(stored) => change.and_when("tat = :stored").value(":stored", n(stored)),
            None => change.and_when("attribute_not_exists(tat)"),
        }
    }

    /// Computes the effective `tat` of an item, which may be absent, by this instance's clock and memory.
    ///
    /// A `tat` further ahead than [`Bucket::max_lead`] was written by a clock that is or was ahead. No request waits
    /// for it: the value in this instance's memory applies, and without one a single request may pass.
    pub(super) fn read_tat(&self, item: Option<&Item>) -> Result<TatState> {
        let stored = item.map(|item| item.number::<i64>("tat")).transpose()?;
        let tat = match stored.unwrap_or(self.now) {
            tat if tat > self.now.saturating_add(self.max_lead()) && self.is_busy() => self.remembered,
            tat if tat > self.now.saturating_add(self.max_lead()) => self.latest_tat(1),
            tat if self.is_busy() => tat.max(self.remembered),
            tat => tat,
        };
        Ok(TatState { stored, tat })
    }

    /// Whether this instance's memory shows the caller below a full burst.
    fn is_busy(&self) -> bool {
        self.remembered > self.now
    }

    /// The maximum valid distance of a `tat` from this clock, in microseconds: a caller then waits at most for the
    /// window, or an interval and [`MAX_SKEW_MICROS`].
    fn max_lead(&self) -> i64 {
        self.tat_advance(self.burst).saturating_add(self.tat_advance(self.burst.saturating_sub(1)).max(MAX_SKEW_MICROS))
    }

    /// The time until the caller is back at a full burst.
    pub(super) fn time_to_full(&self, state: &TatState) -> Duration {
        Duration::from_micros(u64::try_from(state.tat.saturating_sub(self.now)).unwrap_or(0))
    }

    /// The number of requests that may pass now.
    pub(super) fn free_requests(&self, state: &TatState) -> u32 {
        let lead = state.tat.saturating_sub(self.now).max(0);
        let free = self.tat_advance(self.burst).saturating_sub(lead) / self.interval_micros;
        u32::try_from(free.max(0)).unwrap_or(self.burst).min(self.burst)
    }

    /// The time until a caller without free requests may send the next one.
    pub(super) fn wait_time(&self, state: &TatState) -> Duration {
        Duration::from_micros(u64::try_from(state.tat.saturating_sub(self.latest_tat(1))).unwrap_or(0))
    }

    /// The latest `tat` at which `requests` may pass.
    fn latest_tat(&self, requests: u32) -> i64 {
        self.now.saturating_add(self.tat_advance(self.burst.saturating_sub(requests)))
    }

    fn tat_advance(&self, requests: u32) -> i64 {
        self.interval_micros.saturating_mul(i64::from(requests))
    }

    fn expires_at_secs(&self) -> i64 {
        self.now.saturating_add(self.tat_advance(self.burst)) / 1_000_000 + EXPIRY_MARGIN_SECS
    }
}
