//! Search credits by month and day for all instances, and pauses of the provider.
//!
//! There is one item for each provider and month (UTC), with an attribute for each day, so that one read returns
//! everything and one write counts. A retried write may count twice: a budget errs on the side of spending less.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::backoff::within;
use crate::clock::millis;
use crate::item::{Item, ItemExt, expires_at, n, version};
use crate::key::{Key, digest};
use crate::table::{Expression, Table};
use crate::{Day, Result};

/// How long the item of a month is kept after its last write.
const TTL: Duration = Duration::from_hours(40 * 24);

/// Timeout of one call; a count must not be slower than the search.
const CALL_TIMEOUT: Duration = Duration::from_secs(4);

/// Credits in the ephemeral table.
#[derive(Clone)]
pub struct SearchCredits {
    pub(crate) table: Table,
}

/// The credits that a provider charged so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentCredits {
    /// In this month (UTC).
    pub month: u64,
    /// On this day (UTC).
    pub day: u64,
    /// The end of the provider's pause, with millisecond precision; it may have passed.
    pub paused_until: Option<SystemTime>,
}

impl SearchCredits {
    /// The credits that `provider` charged in the month and on the day of `now`.
    pub async fn spent(&self, provider: &str, now: SystemTime) -> Result<SpentCredits> {
        let item = within(CALL_TIMEOUT, self.table.get(&key(provider, now))).await?;
        Ok(SpentCredits::read(item.as_ref(), now))
    }

    /// Adds credits that `provider` charged at `now`.
    pub async fn add(&self, provider: &str, credits: u64, now: SystemTime) -> Result<()> {
        let change = Expression::set([expires_at(now + TTL), version()]);
        let change = change.and(&format!("ADD credits :credits, {} :credits", day_attribute(now)));
        self.write(provider, change.value(":credits", n(credits)), now).await
    }

    /// Pauses `provider` until a time within the month of `now`; the next month has its own allowance.
    pub async fn pause(&self, provider: &str, until: SystemTime, now: SystemTime) -> Result<()> {
        let change = Expression::set([("pausedUntil", n(millis(until))), expires_at(now + TTL), version()]);
        self.write(provider, change, now).await
    }

    async fn write(&self, provider: &str, change: Expression, now: SystemTime) -> Result<()> {
        within(CALL_TIMEOUT, self.table.update(&key(provider, now), change)).await.map(|_| ())
    }
}

impl SpentCredits {
    pub(crate) fn read(item: Option<&Item>, now: SystemTime) -> Self {
        let Some(item) = item.filter(|item| item.is_readable()) else { return Self::default() };
        let paused_until = item.number("pausedUntil").ok().map(Duration::from_millis);
        Self {
            month: item.number("credits").unwrap_or_default(),
            day: item.number(&day_attribute(now)).unwrap_or_default(),
            paused_until: paused_until.and_then(|since| UNIX_EPOCH.checked_add(since)),
        }
    }
}

pub(crate) fn key(provider: &str, now: SystemTime) -> Key {
    let date = Day::of(now).date();
    Key::new(format!("CR#{}#{:04}-{:02}", digest(provider), date.year(), date.month()), "-")
}

fn day_attribute(now: SystemTime) -> String {
    format!("day{:02}", Day::of(now).date().day())
}
