//! What turns consumed, by the day: one item for each owner and one for all together.

use std::time::Duration;

use conversation::Usage;
use serde::Serialize;

use crate::item::{Item, Read, SHAPE, n, s};
use crate::key::{Key, SK};
use crate::summing::Summing;
use crate::table::{Expression, Table, Write};
use crate::{Day, Owner, StoreError};

/// The partition of the days of all owners together.
const EVERYBODY: &str = "USAGE";

/// How long a turn's end waits for its entry.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long one write may take before it is tried again, in the time that those have left who wait for it.
const HANGS: Duration = Duration::from_secs(1);

/// The days' sums in the data table; they stay until their owner is deleted.
///
/// Entries are added, never read and written back: any number of turns may end at once. Those for one sum that an instance
/// has at the same time go in one write. A write whose answer was lost or is long in coming is sent again and may then
/// count twice, so that a sum errs to more. The item of all together takes a thousand writes a second, as any item does;
/// beyond that entries are lost from it, and from it alone.
#[derive(Clone)]
pub struct Ledger {
    table: Table,
    summing: Summing,
}

/// Whose days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account<'a> {
    /// One owner's.
    Own(&'a Owner),
    /// Those of all owners together.
    Everybody,
}

/// What was consumed on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Turns that ended, whatever ended them.
    pub turns: u64,
    /// Those of them whose token counts are estimates, at least in part.
    pub estimated_turns: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Credits that the search provider charged.
    pub search_credits: u64,
    /// Searches for which a place was booked.
    pub searches: u64,
    /// What models charge, in millionths; `None` when no model that was used has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl Spent {
    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// What one turn used, without its searches.
    fn of_turn(usage: &Usage) -> Self {
        Self {
            turns: 1,
            estimated_turns: u64::from(usage.estimated),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            search_credits: usage.search_credits,
            searches: 0,
            cost_micros: usage.cost_micros,
        }
    }

    fn and(self, other: Self) -> Self {
        let cost = self.cost_micros.into_iter().chain(other.cost_micros);
        Self {
            turns: self.turns.saturating_add(other.turns),
            estimated_turns: self.estimated_turns.saturating_add(other.estimated_turns),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            search_credits: self.search_credits.saturating_add(other.search_credits),
            searches: self.searches.saturating_add(other.searches),
            cost_micros: cost.reduce(u64::saturating_add),
        }
    }

    fn read(item: &Item) -> Self {
        // Each attribute is there from the first time on at which something was added to it.
        let sum = |name: &str| item.number(name).unwrap_or_default();
        Self {
            turns: sum("turns"),
            estimated_turns: sum("estimatedTurns"),
            input_tokens: sum("inputTokens"),
            output_tokens: sum("outputTokens"),
            search_credits: sum("searchCredits"),
            searches: sum("searches"),
            cost_micros: item.number("costMicros").ok(),
        }
    }
}

impl Ledger {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, summing: Summing::default() }
    }

    /// Adds a turn that ended to the day of its owner and to that of everybody; the two do not wait for each other. It is
    /// added also when nobody waits for that any more.
    ///
    /// # Errors
    /// The first failure, `Busy` after two seconds; what was written before it stays.
    pub async fn add(&self, owner: &Owner, day: Day, usage: &Usage) -> Result<(), StoreError> {
        let (own, all) = (Account::Own(owner).key(day), Account::Everybody.key(day));
        let (ledger, entry) = (self.clone(), Spent::of_turn(usage));
        // A task of its own: entries of other turns may wait for it, and a turn's own task runs when its client reads.
        let added = tokio::spawn(async move {
            let both = async { tokio::join!(ledger.enter(&own, entry), ledger.enter(&all, entry)) };
            let (own, all) = tokio::time::timeout(PATIENCE, both).await.map_err(|_| StoreError::Busy)?;
            own.and(all)
        });
        added.await.unwrap_or(Err(StoreError::Busy))
    }

    async fn enter(&self, key: &Key, entry: Spent) -> Result<(), StoreError> {
        let place = self.summing.place(key);
        let write = async |entries: Vec<Spent>| {
            let sum = entries.into_iter().fold(Spent::default(), Spent::and);
            let write = || self.table.update(key, addition(sum));
            let written = match tokio::time::timeout(HANGS, write()).await {
                Ok(written) => written,
                Err(_) => write().await,
            };
            written.map(|_| ())
        };
        place.gathering().send(entry, write).await
    }

    /// What was consumed on a day.
    pub async fn day(&self, account: Account<'_>, day: Day) -> Result<Spent, StoreError> {
        let item = self.table.get(&account.key(day)).await?;
        Ok(item.as_ref().map(Spent::read).unwrap_or_default())
    }

    /// The days from `first` to `last` on which something was consumed, in their order; at most some thousands.
    pub async fn days(&self, account: Account<'_>, first: Day, last: Day) -> Result<Vec<(Day, Spent)>, StoreError> {
        let between = self.table.query(&account.partition());
        let between = between
            .key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":first", s(place(first)))
            .expression_attribute_values(":last", s(place(last)));
        let (items, _) = self.table.page(between, None).await?;
        items.iter().map(|item| Ok((day_of(item)?, Spent::read(item)))).collect()
    }

    /// Books a place for one search among the `limit` of a day; `false` when all are taken.
    pub async fn book_search(&self, account: Account<'_>, day: Day, limit: u64) -> Result<bool, StoreError> {
        let one = Expression::update("ADD searches :one SET v = :v")
            .and_when("attribute_not_exists(searches) OR searches < :limit")
            .value(":one", n(1))
            .value(":limit", n(limit))
            .value(":v", n(SHAPE));
        let booked = tokio::time::timeout(PATIENCE, self.table.update(&account.key(day), one)).await;
        Ok(matches!(booked.unwrap_or(Err(StoreError::Busy))?, Write::Done(_)))
    }

    /// Gives a place back that came to nothing.
    pub async fn return_search(&self, account: Account<'_>, day: Day) -> Result<(), StoreError> {
        let one = Expression::update("ADD searches :one").and_when("searches > :none").value(":one", n(-1));
        self.table.update(&account.key(day), one.value(":none", n(0))).await.map(|_| ())
    }
}

impl Account<'_> {
    fn partition(self) -> String {
        match self {
            Self::Own(owner) => owner.usage_partition(),
            Self::Everybody => EVERYBODY.to_owned(),
        }
    }

    fn key(self, day: Day) -> Key {
        Key::new(self.partition(), place(day))
    }
}

/// Adds what turns used; their searches were booked before they were made.
fn addition(spent: Spent) -> Expression {
    let sums =
        "turns :turns, estimatedTurns :estimated, inputTokens :input, outputTokens :output, searchCredits :credits";
    let cost = if spent.cost_micros.is_some() { ", costMicros :cost" } else { "" };
    let sum = Expression::update(format!("ADD {sums}{cost} SET v = :v"))
        .value(":turns", n(spent.turns))
        .value(":estimated", n(spent.estimated_turns))
        .value(":input", n(spent.input_tokens))
        .value(":output", n(spent.output_tokens))
        .value(":credits", n(spent.search_credits))
        .value(":v", n(SHAPE));
    match spent.cost_micros {
        Some(cost) => sum.value(":cost", n(cost)),
        None => sum,
    }
}

/// Whether this is the key of a day's sums.
pub(crate) fn is_day(pk: &str, sk: &str) -> bool {
    let of_owner = pk.strip_prefix("U#").and_then(|rest| rest.strip_suffix("#U")).is_some_and(|one| !one.contains('#'));
    (of_owner || pk == EVERYBODY) && sk.strip_prefix("D#").and_then(Day::parse).is_some()
}

/// Days sort as their dates do.
fn place(day: Day) -> String {
    format!("D#{day}")
}

fn day_of(item: &Item) -> Result<Day, StoreError> {
    let date = item.text(SK)?.strip_prefix("D#").and_then(Day::parse);
    date.ok_or_else(|| StoreError::fault("a day of the ledger is not readable"))
}
