//! The owners with usage, for tables of all of them.
//!
//! Holders of keys are listed with their keys. Every other owner has an item here, which an instance writes with the first
//! turn that it ends for the owner on a day, so that most turns write none.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use work::{lock, make_space};

use crate::backoff::within;
use crate::item::{Item, ItemExt, item, s};
use crate::key::{Key, encode};
use crate::table::WriteOutcome;
use crate::{Day, DayUsage, KeyRecord, Result, Store, UsageLedger, UsageScope};
use domain::Owner;

const PARTITION: &str = "USAGE#OWNERS";

/// Timeout of an item; the end of a turn waits for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of owners that an instance remembers.
const MAX_REMEMBERED: usize = 10_000;

const CONCURRENT_READS: usize = 16;

impl UsageLedger {
    /// Lists the owner of a turn among those with usage on that day.
    pub async fn list_owner(&self, owner: &Owner, day: Day) -> Result<()> {
        if owner.is_key_holder() || lock(&self.listed).get(owner) == Some(&day) {
            return Ok(());
        }
        let row = item(&key(owner), [("owner", s(owner.as_str())), ("day", s(day.to_string()))]);
        within(WRITE_TIMEOUT, self.table.put_all(vec![row])).await?;
        let mut listed = lock(&self.listed);
        make_space(&mut listed, MAX_REMEMBERED, |known| *known >= day);
        listed.insert(owner.clone(), day);
        Ok(())
    }

    /// Removes an owner from the list; returns the number of items.
    pub(crate) async fn unlist_owner(&self, owner: &Owner) -> Result<usize> {
        lock(&self.listed).remove(owner);
        let deleted = self.table.delete(&key(owner)).await?;
        Ok(usize::from(matches!(deleted, WriteOutcome::Written(_))))
    }

    /// The listed owners with usage since that day.
    async fn listed_owners(&self, first: Day) -> Result<Vec<Owner>> {
        let items = self.table.query_all(self.table.query(PARTITION)).await?;
        let is_recent = |item: &&Item| item.text("day").ok().and_then(Day::parse).is_some_and(|day| day >= first);
        items.iter().filter(is_recent).map(|item| Ok(Owner::new(item.text("owner")?))).collect()
    }
}

impl Store {
    /// The days from `first` to `last` of every owner with usage, in no order of owners.
    pub async fn usage_by_owner(&self, first: Day, last: Day) -> Result<Vec<(Owner, Vec<DayUsage>)>> {
        let (keys, listed) = tokio::try_join!(self.keys.list(), self.ledger.listed_owners(first))?;
        let owners: HashSet<Owner> = keys.iter().map(KeyRecord::holder).chain(listed).collect();
        let days = owners.into_iter().map(async |owner| {
            let days = self.ledger.days(UsageScope::User(&owner), first, last).await?;
            Ok((owner, days))
        });
        stream::iter(days).buffer_unordered(CONCURRENT_READS).try_collect().await
    }
}

fn key(owner: &Owner) -> Key {
    Key::new(PARTITION, encode(owner.as_str()))
}
