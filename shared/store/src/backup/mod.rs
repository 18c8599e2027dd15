//! The data table as lines of text, and back: what a backup holds, and what a restore writes.

mod attribute;
mod form;
mod place;
mod restore;

use std::time::SystemTime;

use aws_sdk_dynamodb::types::AttributeValue;
use sha2::{Digest, Sha256};

pub use self::form::{Check, Contents, Unusable};
pub use self::restore::{Restore, Restored, Wish};

use self::attribute::to_json;
use self::form::{FORM, Header, Line, add};
use self::place::Place;
use crate::clock::{millis, rfc3339};
use crate::conversations::{CHAT, LEADS_TO, chat_key_in, is_head};
use crate::error::sort;
use crate::item::{Item, Read, SHAPE, s};
use crate::key::{Key, PK, SK, hex};
use crate::pause::pause;
use crate::table::Table;
use crate::{Store, StoreError};

/// How often a conversation is read again that changes each time meanwhile: that takes a turn's begin or end within the
/// moment of each of them.
const READINGS: u32 = 20;

/// After so many pauses before a reading they grow no longer: some hundred milliseconds each, some seconds in all.
const LONGEST_PAUSE: u32 = 4;

/// How often a call is made again that a busy table refuses, besides the SDK's own attempts.
const ATTEMPTS: u32 = 8;

/// What a head says of a running turn besides which one it is; it moves every few seconds.
const LEASE_END: &str = "leaseUntil";

/// A backup as far as it got; what it holds at a time is a page of the table, which ends at 1 MB.
///
/// Items that belong to nothing are as they were when they were read. A conversation is read at once with its head and
/// the chat id that leads to it, and read again if the head has changed meanwhile: so it is as it was at one moment. What
/// is left of a conversation without a head is left out.
pub struct Backup {
    table: Table,
    begun: SystemTime,
    /// What is still to do, the next step last.
    steps: Vec<Step>,
    items: u64,
    unknown: u64,
    sum: Sha256,
}

/// Why a backup ends before its end, named by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The table does not answer, or holds what it should not.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A conversation was never the same at the begin and the end of a reading: back up again when it rests.
    #[error("a conversation changes all the time: back up again when it rests")]
    Restless,
}

enum Step {
    Begin,
    Scan(Option<Item>),
    Conversation(Reading),
    End,
}

/// A conversation that is being read.
struct Reading {
    head: Item,
    partition: String,
    /// Where the next page begins; `None` before the first.
    start: Option<Item>,
    /// The number of its items that were given.
    items: u64,
    /// How often it was read before.
    readings: u32,
}

impl Store {
    /// Everything that the data table holds, as lines of text.
    pub fn backup(&self, now: SystemTime) -> Backup {
        let [data, _] = &self.tables;
        let steps = vec![Step::End, Step::Scan(None), Step::Begin];
        Backup { table: data.clone(), begun: now, steps, items: 0, unknown: 0, sum: Sha256::new() }
    }
}

impl Backup {
    /// The next lines, maybe none, each without its line end; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Vec<String>>, BackupError> {
        let Some(step) = self.steps.pop() else { return Ok(None) };
        let mut lines = Vec::new();
        match step {
            Step::Begin => self.begin(&mut lines)?,
            Step::Scan(start) => self.scan(start, &mut lines).await?,
            Step::Conversation(reading) => self.conversation(reading, &mut lines).await?,
            Step::End => {
                let sha256 = hex(&self.sum.finalize_reset());
                self.say(&Line::End { items: self.items, sha256 }, &mut lines)?;
            }
        }
        Ok(Some(lines))
    }

    /// The name of the table.
    pub fn table(&self) -> &str {
        &self.table.name
    }

    /// How many items were given.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// How many of them this release does not know, so that it cannot restore the backup.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    fn begin(&mut self, lines: &mut Vec<String>) -> Result<(), StoreError> {
        let (table, at) = (self.table.name.to_string(), rfc3339(millis(self.begun)));
        self.say(&Line::Head(Header { form: FORM, table, at, shape: SHAPE }), lines)
    }

    /// A page of the table without what is read with its conversation.
    async fn scan(&mut self, start: Option<Item>, lines: &mut Vec<String>) -> Result<(), StoreError> {
        let scan = self.table.client.scan().table_name(&*self.table.name).consistent_read(true);
        let scan = scan.filter_expression("NOT contains(pk, :under)").expression_attribute_values(":under", s("#C#"));
        let scan = scan.set_exclusive_start_key(start);
        let page = patient(|| {
            let scan = scan.clone();
            async move { Box::pin(scan.send()).await.map_err(|error| sort("Scan", &error)) }
        });
        let page = page.await?;
        self.steps.extend(page.last_evaluated_key.map(|next| Step::Scan(Some(next))));
        for item in page.items.unwrap_or_default() {
            match Place::of(&item) {
                Some(Place::Head(partition)) => {
                    let reading = Reading { head: item, partition, start: None, items: 0, readings: 0 };
                    self.steps.push(Step::Conversation(reading));
                }
                Some(Place::Chat) => {}
                _ => self.item(&item, lines)?,
            }
        }
        Ok(())
    }

    async fn conversation(&mut self, mut reading: Reading, lines: &mut Vec<String>) -> Result<(), BackupError> {
        let before = self.items;
        if reading.items == 0 {
            self.item(&reading.head, lines)?;
            if let Some(chat) = self.chat(&reading.head).await? {
                self.item(&chat, lines)?;
            }
        }
        let query = self.table.query(&reading.partition).key_condition_expression("pk = :pk");
        let query = query.set_exclusive_start_key(reading.start.take());
        let page = patient(|| {
            let query = query.clone();
            async move { Box::pin(query.send()).await.map_err(|error| sort("Query", &error)) }
        });
        let page = page.await?;
        for item in page.items.unwrap_or_default() {
            self.item(&item, lines)?;
        }
        reading.items += self.items - before;
        reading.start = page.last_evaluated_key;
        if reading.start.is_some() {
            self.steps.push(Step::Conversation(reading));
            return Ok(());
        }
        self.settle(reading, lines).await
    }

    /// Looks whether a conversation is still as it was when it began to be read.
    async fn settle(&mut self, reading: Reading, lines: &mut Vec<String>) -> Result<(), BackupError> {
        let now = self.get(&key_of(&reading.head)?).await?;
        if now.as_ref().is_some_and(|now| without_lease_end(now) == without_lease_end(&reading.head)) {
            return Ok(());
        }
        self.say(&Line::Again(reading.items), lines)?;
        if now.is_none() {
            return Ok(());
        }
        if reading.readings == READINGS {
            return Err(BackupError::Restless);
        }
        pause(reading.readings.min(LONGEST_PAUSE)).await;
        // What was seen before the pause may have changed in it.
        if let Some(head) = self.get(&key_of(&reading.head)?).await? {
            let readings = reading.readings + 1;
            self.steps.push(Step::Conversation(Reading { head, items: 0, readings, ..reading }));
        }
        Ok(())
    }

    /// The item that leads to a conversation from the id that its client knows it by.
    async fn chat(&self, head: &Item) -> Result<Option<Item>, StoreError> {
        let Ok(chat) = head.text(CHAT) else { return Ok(None) };
        let found = self.get(&chat_key_in(head.text(PK)?, chat)).await?;
        Ok(found.filter(|found| found.text(LEADS_TO).is_ok_and(|id| head.text(SK).is_ok_and(|sk| sk.ends_with(id)))))
    }

    async fn get(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        get(&self.table, key).await
    }

    fn item(&mut self, item: &Item, lines: &mut Vec<String>) -> Result<(), StoreError> {
        self.items += 1;
        let is_known = match Place::of(item) {
            Some(Place::Head(_)) => is_head(item),
            place => place.is_some() && item.is_understood(),
        };
        self.unknown += u64::from(!is_known);
        self.say(&Line::Item(to_json(item)?), lines)
    }

    fn say(&mut self, line: &Line, lines: &mut Vec<String>) -> Result<(), StoreError> {
        let text = serde_json::to_string(line).map_err(|_| StoreError::fault("a line that JSON cannot hold"))?;
        add(&mut self.sum, &text);
        lines.push(text);
        Ok(())
    }
}

fn without_lease_end(head: &Item) -> Vec<(&String, &AttributeValue)> {
    let mut said: Vec<_> = head.iter().filter(|(name, _)| *name != LEASE_END).collect();
    said.sort_unstable_by_key(|(name, _)| *name);
    said
}

fn key_of(item: &Item) -> Result<Key, StoreError> {
    Ok(Key::new(item.text(PK)?, item.text(SK)?))
}

/// Reads one item as it is stored.
async fn get(table: &Table, key: &Key) -> Result<Option<Item>, StoreError> {
    let call = table.client.get_item().table_name(&*table.name).set_key(Some(key.attributes())).consistent_read(true);
    patient(|| {
        let call = call.clone();
        async move { Box::pin(call.send()).await.map_err(|error| sort("GetItem", &error)).map(|answer| answer.item) }
    })
    .await
}

/// Makes a call again while the table is busy: who copies all of it is who keeps it busy.
async fn patient<T, F>(call: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    for attempt in 0..ATTEMPTS {
        match call().await {
            Err(StoreError::Busy) => pause(attempt).await,
            outcome => return outcome,
        }
    }
    call().await
}
