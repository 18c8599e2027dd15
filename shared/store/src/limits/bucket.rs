use std::time::Duration;

use domain::Owner;

use super::RateLimit;
use crate::clock::span_micros;
use crate::instructions::{self, TEXT};
use crate::item::{Item, ItemExt, SCHEMA_VERSION, n, s};
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

/// Where the `tat` of a key under a limit is stored. Another limit has another item or attribute, so that it begins empty
/// instead of reading a number made for other intervals.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    /// Differs from that of each other counter.
    pub(super) id: String,
    pub(super) key: Key,
    attribute: String,
    /// Whether it is in the owner's item of instructions, which does not expire.
    pub(super) is_of_owner: bool,
}

impl Counter {
    /// An item of its own in the ephemeral table.
    pub(super) fn of_key(key: &str, limit: RateLimit) -> Self {
        let id = format!("{}{}/{}", key_prefix(key), limit.burst, limit.window_micros());
        Self { key: Key::new(id.clone(), "-"), id, attribute: "tat".to_owned(), is_of_owner: false }
    }

    /// An attribute of an item in the data table, so that one request takes a turn and reads the owner's instructions.
    pub(super) fn of_owner(owner: &Owner, limit: RateLimit) -> Self {
        let (key, attribute) = (instructions::key(owner), format!("tat@{}/{}", limit.burst, limit.window_micros()));
        Self { id: format!("{} {attribute}", key.pk), key, attribute, is_of_owner: true }
    }
}

/// One counter under its limit at one time.
pub(super) struct Bucket {
    pub(super) counter: Counter,
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
    /// Creates a bucket from a counter, its limit and the time. In this instance's memory the caller is back at a full
    /// burst after `remembered`.
    pub(super) fn new(counter: Counter, limit: RateLimit, now: i64, remembered: Duration) -> Self {
        let remembered = now.saturating_add(span_micros(remembered));
        Self { counter, now, interval_micros: limit.interval_micros(), burst: limit.burst, remembered }
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
        self.set_update("#tat + :tat", self.tat_advance(requests))
            .and_when("#tat >= :least AND #tat <= :latest")
            .value(":least", n(self.remembered.max(self.now.saturating_add(1))))
            .value(":latest", n(self.latest_tat(requests)))
    }

    /// Takes `requests` of a caller who is idle; an expired item is the same as none.
    fn start_update(&self, requests: u32) -> Expression {
        self.set_update(":tat", self.now.saturating_add(self.tat_advance(requests)))
            .and_when("attribute_not_exists(#tat) OR #tat <= :now")
            .value(":now", n(self.now))
    }

    /// Takes `requests` of a caller whose stored `tat` differs from the effective one.
    fn replace_update(&self, requests: u32, state: &TatState) -> Expression {
        let change = self.set_update(":tat", state.tat.saturating_add(self.tat_advance(requests)));
        match state.stored {
            Some(stored) => change.and_when("#tat = :stored").value(":stored", n(stored)),
            None => change.and_when("attribute_not_exists(#tat)"),
        }
    }

    /// Builds the update that sets the `tat` to a formula with the number `:tat`.
    fn set_update(&self, formula: &str, number: i64) -> Expression {
        // Instructions keep the version in which they were written.
        let version = if self.counter.is_of_owner { "if_not_exists(v, :v)" } else { ":v" };
        let change = Expression::update(format!("SET #tat = {formula}, v = {version}"))
            .name("#tat".to_owned(), self.counter.attribute.clone())
            .value(":tat", n(number))
            .value(":v", n(SCHEMA_VERSION));
        if self.counter.is_of_owner {
            // Because an earlier release reads no item of instructions without their text.
            change.and(&format!(", {TEXT} = if_not_exists({TEXT}, :none)")).value(":none", s(""))
        } else {
            change.and(&format!(", {EXPIRES} = :expires")).value(":expires", n(self.expires_at_secs()))
        }
    }

    /// Computes the effective `tat` of an item, which may be absent, by this instance's clock and memory.
    ///
    /// A `tat` further ahead than [`Bucket::max_lead`] was written by a clock that is or was ahead. No request waits
    /// for it: the value in this instance's memory applies, and without one a single request may pass.
    pub(super) fn read_tat(&self, item: Option<&Item>) -> Result<TatState> {
        let stored = item.map(|item| item.optional_number::<i64>(&self.counter.attribute)).transpose()?.flatten();
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
