//! Backup of the data table as lines of text, and its restore.

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

/// How often a conversation that changes during each reading is read again. A reading fails only if a turn begins or
/// ends during it.
const READINGS: u32 = 20;

/// The attempt after which the pause before a reading no longer grows: some hundred milliseconds each, some seconds in
/// total.
const LONGEST_PAUSE: u32 = 4;

/// How often a call is retried on a busy table, in addition to the SDK's own attempts.
const ATTEMPTS: u32 = 8;

/// The attribute of a head that changes every 3 seconds while a turn runs.
const LEASE_END: &str = "leaseUntil";

/// A backup in progress; it holds one page of the table at a time, which ends at 1 MB.
///
/// Items outside of conversations are in the state at their reading. A conversation is read together with its head and
/// its chat id, and read again if the head has changed meanwhile: so it is consistent. Leftovers of a conversation
/// without a head are skipped.
pub struct Backup {
    table: Table,
    begun: SystemTime,
    /// The remaining steps, the next one last.
    steps: Vec<Step>,
    items: u64,
    unknown: u64,
    sum: Sha256,
}

/// Why a backup failed, named by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The table does not respond, or holds an invalid item.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A conversation changed during every reading: back up again when it is idle.
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
    /// The start of the next page; `None` before the first.
    start: Option<Item>,
    /// The number of its items in the backup so far.
    items: u64,
    /// The number of earlier readings.
    readings: u32,
}

impl Store {
    /// Backs up the whole data table as lines of text.
    pub fn backup(&self, now: SystemTime) -> Backup {
        let [data, _] = &self.tables;
        let steps = vec![Step::End, Step::Scan(None), Step::Begin];
        Backup { table: data.clone(), begun: now, steps, items: 0, unknown: 0, sum: Sha256::new() }
    }
}

impl Backup {
    /// Returns the next lines, maybe none, each without its line end; `None` after the last.
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

    /// The number of items so far.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The number of items that this release does not know; if there are any, it cannot restore the backup.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    fn begin(&mut self, lines: &mut Vec<String>) -> Result<(), StoreError> {
        let (table, at) = (self.table.name.to_string(), rfc3339(millis(self.begun)));
        self.say(&Line::Head(Header { form: FORM, table, at, shape: SHAPE }), lines)
    }

    /// Reads a page of the table, without the items that are read with their conversation.
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

    /// Checks that a conversation has not changed during its reading.
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
        // The conversation may have changed during the pause.
        if let Some(head) = self.get(&key_of(&reading.head)?).await? {
            let readings = reading.readings + 1;
            self.steps.push(Step::Conversation(Reading { head, items: 0, readings, ..reading }));
        }
        Ok(())
    }

    /// The item that maps a client's chat id to the conversation.
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

/// Reads one item without upgrading it.
async fn get(table: &Table, key: &Key) -> Result<Option<Item>, StoreError> {
    let call = table.client.get_item().table_name(&*table.name).set_key(Some(key.attributes())).consistent_read(true);
    patient(|| {
        let call = call.clone();
        async move { Box::pin(call.send()).await.map_err(|error| sort("GetItem", &error)).map(|answer| answer.item) }
    })
    .await
}

/// Retries a call while the table is busy: the backup itself causes the load.
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
