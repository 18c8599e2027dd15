//! The usage of turns by day: one item for each owner, one for each group and one for all owners together.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{Groups, Owner, Usage};
use serde::Serialize;

use crate::answer_writes::AnswerWrites;
use crate::backoff::within;
use crate::coalescer::Coalescer;
use crate::item::{Item, ItemExt, SCHEMA_VERSION, n};
use crate::key::{Key, OwnerPartitions, SK, encode};
use crate::table::{Expression, Table, WriteOutcome};
use crate::{Day, Result, StoreError};

/// The partition of the daily totals of all owners together.
const GLOBAL_PARTITION: &str = "USAGE";

/// The attribute with the number of reserved searches.
const SEARCHES: &str = "searches";

/// The attribute with the groups of an owner on that day.
const MEMBER_OF: &str = "memberOf";

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
    pub(crate) table: Table,
    /// Combines simultaneous entries of one sum and breakdown; no sum waits for another.
    coalescer: Coalescer<(Key, Option<Breakdown>), UsageTotals, Result<()>>,
    /// The day for which this instance has listed an owner.
    pub(crate) listed: Arc<Mutex<HashMap<Owner, Day>>>,
}

/// The usage of a turn, with its model and the groups of its caller.
#[derive(Clone, Copy, Debug)]
pub struct TurnUsage<'a> {
    /// The usage.
    pub usage: &'a Usage,
    /// The configured name of the model that wrote the answer.
    pub model: &'a str,
    /// The caller's groups.
    pub groups: &'a Groups,
    /// Whether it is a task that no person wrote: no turn, only its tokens, searches and cost count.
    pub is_task: bool,
}

/// To what the usage of an owner counts in addition to the sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Breakdown {
    model: String,
    groups: Vec<String>,
}

/// The usage of a day, and how much of it each model had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayUsage {
    /// The day.
    pub day: Day,
    /// All of it.
    pub totals: UsageTotals,
    /// The part of each model, of which the searches are not counted; empty for days of earlier releases.
    pub models: BTreeMap<String, UsageTotals>,
    /// The groups of the owner in the last turn that had any.
    pub groups: Vec<String>,
}

/// The scope of daily totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageScope<'a> {
    /// The totals of one owner.
    User(&'a Owner),
    /// The totals of the members of a group together.
    Group(&'a str),
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
    fn of_turn(TurnUsage { usage, is_task, .. }: &TurnUsage<'_>) -> Self {
        Self {
            turns: u64::from(!is_task),
            estimated_turns: u64::from(usage.estimated && !is_task),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            search_credits: usage.search_credits,
            searches: 0,
            cost_micros: usage.cost_micros,
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(mut self, mut other: Self) -> Self {
        for (_, sum) in SUMS {
            *sum(&mut self) = sum(&mut self).saturating_add(*sum(&mut other));
        }
        let cost = self.cost_micros.into_iter().chain(other.cost_micros);
        Self { cost_micros: cost.reduce(u64::saturating_add), ..self }
    }

    /// Reads the sums of a model, or with an empty suffix all.
    fn read(item: &Item, suffix: &str) -> Self {
        let cost_micros = item.number(&format!("costMicros{suffix}")).ok();
        let mut totals = Self { cost_micros, ..Self::default() };
        for (name, sum) in SUMS {
            // Each attribute exists after its first addition.
            *sum(&mut totals) = item.number(&format!("{name}{suffix}")).unwrap_or_default();
        }
        totals
    }
}

type Sum = fn(&mut UsageTotals) -> &mut u64;

/// The sums with their attributes; the last one is reserved before a search and never added with a turn.
const SUMS: [(&str, Sum); 6] = [
    ("turns", |totals| &mut totals.turns),
    ("estimatedTurns", |totals| &mut totals.estimated_turns),
    ("inputTokens", |totals| &mut totals.input_tokens),
    ("outputTokens", |totals| &mut totals.output_tokens),
    ("searchCredits", |totals| &mut totals.search_credits),
    (SEARCHES, |totals| &mut totals.searches),
];

impl UsageLedger {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, coalescer: Coalescer::default(), listed: Arc::default() }
    }

    /// Adds an ended turn to the totals of its owner, of a group, or of all owners. The entry is added even if the caller is
    /// cancelled.
    ///
    /// # Errors
    /// `Busy` after two seconds; the entry may be added nevertheless.
    pub async fn add(&self, scope: UsageScope<'_>, day: Day, turn: &TurnUsage<'_>) -> Result<()> {
        let (ledger, entry) = (self.clone(), UsageTotals::of_turn(turn));
        let key = (scope.key(day), matches!(scope, UsageScope::User(_)).then(|| turn.into()));
        // A separate task: entries of other turns may wait for it, and a turn's own task runs only while its client
        // reads.
        let added = tokio::spawn(async move { within(ENTRY_TIMEOUT, ledger.add_entry(&key, entry)).await });
        added.await.unwrap_or(Err(StoreError::Busy))
    }

    /// Prepares the addition to the totals of the turn's owner, for
    /// [`finish_with`](crate::ConversationStore::finish_with). Makes no call.
    pub fn prepare(&self, owner: &Owner, day: Day, turn: &TurnUsage<'_>) -> AnswerWrites {
        let addition = addition_update(UsageTotals::of_turn(turn), Some(&turn.into()));
        AnswerWrites(vec![self.table.update_write(&UsageScope::User(owner).key(day), addition)])
    }

    async fn add_entry(&self, key: &(Key, Option<Breakdown>), entry: UsageTotals) -> Result<()> {
        let write = async |entries: Vec<UsageTotals>| {
            let sum = entries.into_iter().fold(UsageTotals::default(), UsageTotals::plus);
            let write = || self.table.update(&key.0, addition_update(sum, key.1.as_ref()));
            let written = match tokio::time::timeout(WRITE_TIMEOUT, write()).await {
                Ok(written) => written,
                Err(_) => write().await,
            };
            written.map(|_| ())
        };
        self.coalescer.send(key, entry, write).await
    }

    /// The usage of a day.
    pub async fn day(&self, scope: UsageScope<'_>, day: Day) -> Result<UsageTotals> {
        let item = self.table.get(&scope.key(day)).await?;
        Ok(item.map(|item| UsageTotals::read(&item, "")).unwrap_or_default())
    }

    /// The days from `first` to `last` with usage, in order.
    pub async fn days(&self, scope: UsageScope<'_>, first: Day, last: Day) -> Result<Vec<DayUsage>> {
        let query = self.table.query_range(&scope.partition(), day_sk(first), day_sk(last));
        let items = self.table.query_all(query).await?;
        items.iter().map(DayUsage::read).collect()
    }

    /// Reserves one of the `limit` searches of a day; `false` when none is left.
    pub async fn reserve_search(&self, scope: UsageScope<'_>, day: Day, limit: u64) -> Result<bool> {
        let one = Expression::update("ADD searches :one SET v = :v")
            .and_when("attribute_not_exists(searches) OR searches < :limit")
            .value(":one", n(1))
            .value(":limit", n(limit))
            .value(":v", n(SCHEMA_VERSION));
        let reserved = within(ENTRY_TIMEOUT, self.table.update(&scope.key(day), one)).await?;
        Ok(matches!(reserved, WriteOutcome::Written(_)))
    }

    /// Releases a reservation whose search was not made.
    pub async fn release_search(&self, scope: UsageScope<'_>, day: Day) -> Result<()> {
        let one = Expression::update("ADD searches :one").and_when("searches > :none").value(":one", n(-1));
        self.table.update(&scope.key(day), one.value(":none", n(0))).await.map(|_| ())
    }
}

impl UsageScope<'_> {
    fn partition(self) -> String {
        match self {
            Self::User(owner) => owner.usage_partition(),
            Self::Group(name) => format!("{GLOBAL_PARTITION}#G#{}", encode(name)),
            Self::Global => GLOBAL_PARTITION.to_owned(),
        }
    }

    fn key(self, day: Day) -> Key {
        Key::new(self.partition(), day_sk(day))
    }
}

impl From<&TurnUsage<'_>> for Breakdown {
    fn from(turn: &TurnUsage<'_>) -> Self {
        Self { model: turn.model.to_owned(), groups: turn.groups.names().to_vec() }
    }
}

impl DayUsage {
    fn read(item: &Item) -> Result<Self> {
        let models = item.keys().filter_map(|name| name.strip_prefix("turns@"));
        let of_model = |model: &str| (model.to_owned(), UsageTotals::read(item, &format!("@{model}")));
        let groups = item.get(MEMBER_OF).and_then(|groups| groups.as_ss().ok()).cloned();
        Ok(Self {
            day: day_of(item)?,
            totals: UsageTotals::read(item, ""),
            models: models.map(of_model).collect(),
            groups: groups.unwrap_or_default(),
        })
    }
}

/// Builds the update that adds the usage of turns; their searches were reserved before. The part of a model is in attributes
/// of the same item, because another item would cost another write.
fn addition_update(mut totals: UsageTotals, breakdown: Option<&Breakdown>) -> Expression {
    let sums = SUMS.map(|(name, sum)| (name, *sum(&mut totals))).into_iter().filter(|(name, _)| *name != SEARCHES);
    let (mut additions, mut update) = (Vec::new(), Expression::default().value(":v", n(SCHEMA_VERSION)));
    for (name, sum) in sums.chain(totals.cost_micros.map(|cost| ("costMicros", cost))) {
        additions.push(format!("{name} :{name}"));
        update = update.value(&format!(":{name}"), n(sum));
        if let Some(Breakdown { model, .. }) = breakdown {
            additions.push(format!("#{name} :{name}"));
            update = update.name(format!("#{name}"), format!("{name}@{model}"));
        }
    }
    let groups = breakdown.map(|breakdown| &breakdown.groups).filter(|groups| !groups.is_empty());
    let set_groups = groups.map(|_| format!(", {MEMBER_OF} = :groups")).unwrap_or_default();
    update.update = Some(format!("ADD {} SET v = :v{set_groups}", additions.join(", ")));
    match groups {
        Some(groups) => update.value(":groups", AttributeValue::Ss(groups.clone())),
        None => update,
    }
}

/// The sort key of a day; keys sort by date.
fn day_sk(day: Day) -> String {
    format!("D#{day}")
}

fn day_of(item: &Item) -> Result<Day> {
    let date = item.text(SK)?.strip_prefix("D#").and_then(Day::parse);
    date.ok_or_else(|| StoreError::fault("a day of the ledger is not readable"))
}
