use std::time::Duration;

use super::RateLimit;
use crate::item::{Item, Read, SHAPE, n};
use crate::key::{Key, encode};
use crate::table::Expression;
use crate::{EXPIRES, StoreError};

/// How long an item stays after its time has passed, in seconds, for clocks that differ.
const KEPT: i64 = 60;

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
}

/// What is left for a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// All of the burst: the caller is back at it, and the next request starts afresh.
    Idle,
    /// So many requests.
    Free(u32),
}

impl Bucket {
    /// What names the item; the limit is a part of it: another setting starts afresh instead of reading a number made for
    /// other intervals.
    pub(super) fn id(key: &str, limit: RateLimit) -> String {
        format!("{}{}/{}", of_any_size(key), limit.burst, limit.window_micros())
    }

    /// The key and the limit of which [`Bucket::id`] was made, at this time.
    pub(super) fn new(id: &str, limit: RateLimit, now: i64) -> Self {
        Self { key: Key::new(id.to_owned(), "-"), now, interval: limit.interval(), burst: limit.burst }
    }

    /// The time of one request to come back.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_micros(self.interval.unsigned_abs())
    }

    /// So many more of a caller who is not idle.
    pub(super) fn follow(&self, requests: u32) -> Expression {
        Expression::update(format!("SET tat = tat + :spent, {EXPIRES} = :expires"))
            .and_when("tat > :now AND tat <= :latest")
            .value(":spent", n(self.spent(requests)))
            .value(":expires", n(self.expires()))
            .value(":now", n(self.now))
            .value(":latest", n(self.latest(requests)))
    }

    /// So many of a caller who is idle; an item that outlived its time is the same as none.
    pub(super) fn start(&self, requests: u32) -> Expression {
        Expression::update(format!("SET tat = :next, {EXPIRES} = :expires, v = :v"))
            .and_when("attribute_not_exists(tat) OR tat <= :now")
            .value(":next", n(self.now.saturating_add(self.spent(requests))))
            .value(":expires", n(self.expires()))
            .value(":now", n(self.now))
            .value(":v", n(SHAPE))
    }

    /// How long it is until the caller is back at a full burst, by an item that is there or not.
    pub(super) fn ahead(&self, item: Option<&Item>) -> Result<Duration, StoreError> {
        let ahead = self.tat(item)?.saturating_sub(self.now);
        Ok(Duration::from_micros(u64::try_from(ahead).unwrap_or(0)))
    }

    fn tat(&self, item: Option<&Item>) -> Result<i64, StoreError> {
        Ok(item.map(|item| item.number::<i64>("tat")).transpose()?.unwrap_or(self.now))
    }

    /// How many more may pass now, by an item that is there or not.
    pub(super) fn room(&self, item: Option<&Item>) -> Result<Room, StoreError> {
        let ahead = self.tat(item)?.saturating_sub(self.now);
        if ahead <= 0 {
            return Ok(Room::Idle);
        }
        let free = self.spent(self.burst).saturating_sub(ahead) / self.interval;
        Ok(Room::Free(u32::try_from(free.max(0)).unwrap_or(self.burst).min(self.burst)))
    }

    /// How long a full caller waits for the next place.
    pub(super) fn wait(&self, item: Option<&Item>) -> Result<Duration, StoreError> {
        let over = self.tat(item)?.saturating_sub(self.latest(1));
        Ok(Duration::from_micros(u64::try_from(over).unwrap_or(0)))
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
