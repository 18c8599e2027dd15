//! The usage of turns by day: one item for each owner and one for all owners together.

use std::time::Duration;

use domain::Usage;
use serde::Serialize;

use crate::answer_writes::AnswerWrites;
use crate::backoff::within;
use crate::coalescer::Coalescer;
use crate::item::{Item, ItemExt, SCHEMA_VERSION, n};
use crate::key::{Key, OwnerPartitions, SK};
use crate::table::{Expression, Table, WriteOutcome};
use crate::{Day, StoreError};
use domain::Owner;

/// The partition of the daily totals of all owners together.
const GLOBAL_PARTITION: &str = "USAGE";

/// Timeout of an entry; the end of a turn waits for it.
const ENTRY_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeout of the first write; it is retried in the remaining time of its waiting tasks.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The daily totals in the data table; they are kept until their owner is deleted.
///
/// Entries are added atomically and never read and written back, so any number of turns may end at once. Simultaneous
/// entries of an instance to one sum share a write. A write without a response, or with a late one, is sent again and
/// may then count twice, so a sum errs upwards. The global item accepts a thousand writes a second, like any item;
/// beyond that it loses entries, and only it.
#[derive(Clone)]
pub struct UsageLedger {
    table: Table,
    /// Combines simultaneous entries of one sum; no sum waits for another.
    coalescer: Coalescer<Key, UsageTotals, Result<(), StoreError>>,
}

/// The scope of daily totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageScope<'a> {
    /// The totals of one owner.
    User(&'a Owner),
    /// The totals of all owners together.
    Global,
}

/// The usage of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageTotals {
    /// Turns that ended, for any reason.
    pub turns: u64,
    /// Turns whose token counts are estimates, at least in part.
    pub estimated_turns: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models generated.
    pub output_tokens: u64,
    /// Credits that the search provider charged.
    pub search_credits: u64,
    /// Reserved searches.
    pub searches: u64,
    /// The models' charges, in millionths; `None` when no used model has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl UsageTotals {
    /// Input and output tokens.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The usage of one turn, without its searches.
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

    fn plus(self, other: Self) -> Self {
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
        // Each attribute exists after its first addition.
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

impl UsageLedger {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, coalescer: Coalescer::default() }
    }

    /// Adds an ended turn to the totals of its owner, or of all owners. The entry is added even if the caller is
    /// cancelled.
    ///
    /// # Errors
    /// `Busy` after two seconds; the entry may be added nevertheless.
    pub async fn add(&self, scope: UsageScope<'_>, day: Day, usage: &Usage) -> Result<(), StoreError> {
        let (ledger, key, entry) = (self.clone(), scope.key(day), UsageTotals::of_turn(usage));
        // A separate task: entries of other turns may wait for it, and a turn's own task runs only while its client
        // reads.
        let added = tokio::spawn(async move {
            let added = tokio::time::timeout(ENTRY_TIMEOUT, ledger.add_entry(&key, entry)).await;
            added.unwrap_or(Err(StoreError::Busy))
        });
        added.await.unwrap_or(Err(StoreError::Busy))
    }

    /// Prepares the addition to the totals of the turn's owner, for
    /// [`finish_with`](crate::ConversationStore::finish_with). Makes no call.
    pub fn prepare(&self, owner: &Owner, day: Day, usage: &Usage) -> Result<AnswerWrites, StoreError> {
        let addition = addition_update(UsageTotals::of_turn(usage));
        Ok(AnswerWrites(vec![self.table.update_write(&UsageScope::User(owner).key(day), addition)?]))
    }

    async fn add_entry(&self, key: &Key, entry: UsageTotals) -> Result<(), StoreError> {
        let write = async |entries: Vec<UsageTotals>| {
            let sum = entries.into_iter().fold(UsageTotals::default(), UsageTotals::plus);
            let write = || self.table.update(key, addition_update(sum));
            let written = match tokio::time::timeout(WRITE_TIMEOUT, write()).await {
                Ok(written) => written,
                Err(_) => write().await,
            };
            written.map(|_| ())
        };
        self.coalescer.send(key, entry, write).await
    }

    /// The usage of a day.
    pub async fn day(&self, scope: UsageScope<'_>, day: Day) -> Result<UsageTotals, StoreError> {
        let item = self.table.get(&scope.key(day)).await?;
        Ok(item.as_ref().map(UsageTotals::read).unwrap_or_default())
    }

    /// The days from `first` to `last` with usage, in order; at most some thousands.
    pub async fn days(
        &self,
        scope: UsageScope<'_>,
        first: Day,
        last: Day,
    ) -> Result<Vec<(Day, UsageTotals)>, StoreError> {
        let query = self.table.query_range(&scope.partition(), day_sk(first), day_sk(last));
        let (items, _) = self.table.query_page(query, None).await?;
        items.iter().map(|item| Ok((day_of(item)?, UsageTotals::read(item)))).collect()
    }

    /// Reserves one of the `limit` searches of a day; `false` when none is left.
    pub async fn reserve_search(&self, scope: UsageScope<'_>, day: Day, limit: u64) -> Result<bool, StoreError> {
        let one = Expression::update("ADD searches :one SET v = :v")
            .and_when("attribute_not_exists(searches) OR searches < :limit")
            .value(":one", n(1))
            .value(":limit", n(limit))
            .value(":v", n(SCHEMA_VERSION));
        let reserved = within(ENTRY_TIMEOUT, self.table.update(&scope.key(day), one)).await?;
        Ok(matches!(reserved, WriteOutcome::Written(_)))
    }

    /// Releases a reservation whose search was not made.
    pub async fn release_search(&self, scope: UsageScope<'_>, day: Day) -> Result<(), StoreError> {
        let one = Expression::update("ADD searches :one").and_when("searches > :none").value(":one", n(-1));
        self.table.update(&scope.key(day), one.value(":none", n(0))).await.map(|_| ())
    }
}

impl UsageScope<'_> {
    fn partition(self) -> String {
        match self {
            Self::User(owner) => owner.usage_partition(),
            Self::Global => GLOBAL_PARTITION.to_owned(),
        }
    }

    fn key(self, day: Day) -> Key {
        Key::new(self.partition(), day_sk(day))
    }
}

/// Builds the update that adds the usage of turns; their searches were reserved before.
fn addition_update(totals: UsageTotals) -> Expression {
    let sums =
        "turns :turns, estimatedTurns :estimated, inputTokens :input, outputTokens :output, searchCredits :credits";
    let cost = if totals.cost_micros.is_some() { ", costMicros :cost" } else { "" };
    let sum = Expression::update(format!("ADD {sums}{cost} SET v = :v"))
        .value(":turns", n(totals.turns))
        .value(":estimated", n(totals.estimated_turns))
        .value(":input", n(totals.input_tokens))
        .value(":output", n(totals.output_tokens))
        .value(":credits", n(totals.search_credits))
        .value(":v", n(SCHEMA_VERSION));
    match totals.cost_micros {
        Some(cost) => sum.value(":cost", n(cost)),
        None => sum,
    }
}

/// The sort key of a day; keys sort by date.
fn day_sk(day: Day) -> String {
    format!("D#{day}")
}

fn day_of(item: &Item) -> Result<Day, StoreError> {
    let date = item.text(SK)?.strip_prefix("D#").and_then(Day::parse);
    date.ok_or_else(|| StoreError::fault("a day of the ledger is not readable"))
}
