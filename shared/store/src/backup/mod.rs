//! Backup of the data table as lines of text, and its restore.

mod dynamodb_json;
mod format;
mod item_kind;
mod restore;

use std::time::SystemTime;

use aws_sdk_dynamodb::types::AttributeValue;
use sha2::{Digest, Sha256};

pub use self::format::{BackupCheck, BackupFileError, BackupSummary};
pub use self::restore::{Restore, RestoreOptions, RestoreReport};

use self::dynamodb_json::to_json;
use self::format::{BackupHeader, BackupLine, FORM, update_checksum};
use self::item_kind::ItemKind;
use crate::backoff::back_off;
use crate::clock::{millis, rfc3339};
use crate::conversations::{CHAT_ID_ATTRIBUTE, CONVERSATION_ATTRIBUTE, chat_id_key_in, is_head};
use crate::error::classify;
use crate::item::{Item, ItemExt, SCHEMA_VERSION, s};
use crate::key::{Key, PK, SK, hex};
use crate::table::Table;
use crate::{Store, StoreError};

/// How often a conversation that changes during each reading is read again. A reading fails only if a turn begins or
/// ends during it.
const MAX_READINGS: u32 = 20;

/// The attempt after which the pause before a reading no longer grows: some hundred milliseconds each, some seconds in
/// total.
const MAX_BACKOFF_STEP: u32 = 4;

/// How often a call is retried on a busy table, in addition to the SDK's own attempts.
const MAX_ATTEMPTS: u32 = 8;

/// The attribute of a head that changes every 3 seconds while a turn runs.
const LEASE_END_ATTRIBUTE: &str = "leaseUntil";

/// A backup in progress; it holds one page of the table at a time, which ends at 1 MB.
///
/// Items outside of conversations are in the state at their reading. A conversation is read together with its head and
/// its chat id, and read again if the head has changed meanwhile: so it is consistent. Leftovers of a conversation
/// without a head are skipped.
pub struct Backup {
    table: Table,
    started_at: SystemTime,
    /// The remaining steps, the next one last.
    steps: Vec<BackupStep>,
    items: u64,
    unknown: u64,
    checksum: Sha256,
}

/// Why a backup failed, named by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The table does not respond, or holds an invalid item.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A conversation changed during every reading: back up again when it is idle.
    #[error("a conversation changes all the time: back up again when it rests")]
    NeverIdle,
}

enum BackupStep {
    Begin,
    Scan(Option<Item>),
    Conversation(ConversationReading),
    End,
}

/// A conversation that is being read.
struct ConversationReading {
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
        let steps = vec![BackupStep::End, BackupStep::Scan(None), BackupStep::Begin];
        Backup { table: data.clone(), started_at: now, steps, items: 0, unknown: 0, checksum: Sha256::new() }
    }
}

impl Backup {
    /// Returns the next lines, maybe none, each without its line end; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Vec<String>>, BackupError> {
        let Some(step) = self.steps.pop() else { return Ok(None) };
        let mut lines = Vec::new();
        match step {
            BackupStep::Begin => self.push_header(&mut lines)?,
            BackupStep::Scan(start) => self.scan_page(start, &mut lines).await?,
            BackupStep::Conversation(reading) => self.read_conversation(reading, &mut lines).await?,
            BackupStep::End => {
                let sha256 = hex(&self.checksum.finalize_reset());
                self.push_line(&BackupLine::End { items: self.items, sha256 }, &mut lines)?;
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

    fn push_header(&mut self, lines: &mut Vec<String>) -> Result<(), StoreError> {
        let (table, at) = (self.table.name.to_string(), rfc3339(millis(self.started_at)));
        self.push_line(
            &BackupLine::Header(BackupHeader { form: FORM, table, at, schema_version: SCHEMA_VERSION }),
            lines,
        )
    }

    /// Reads a page of the table, without the items that are read with their conversation.
    async fn scan_page(&mut self, start: Option<Item>, lines: &mut Vec<String>) -> Result<(), StoreError> {
        let scan = self.table.client.scan().table_name(&*self.table.name).consistent_read(true);
        let scan = scan.filter_expression("NOT contains(pk, :under)").expression_attribute_values(":under", s("#C#"));
        let scan = scan.set_exclusive_start_key(start);
        let page = retry_while_busy(|| {
            let scan = scan.clone();
            async move { Box::pin(scan.send()).await.map_err(|error| classify("Scan", &error)) }
        });
        let page = page.await?;
        self.steps.extend(page.last_evaluated_key.map(|next| BackupStep::Scan(Some(next))));
        for item in page.items.unwrap_or_default() {
            match ItemKind::of(&item) {
                Some(ItemKind::Head(partition)) => {
                    let reading = ConversationReading { head: item, partition, start: None, items: 0, readings: 0 };
                    self.steps.push(BackupStep::Conversation(reading));
                }
                Some(ItemKind::ChatId) => {}
                _ => self.push_item(&item, lines)?,
            }
        }
        Ok(())
    }

    async fn read_conversation(
        &mut self,
        mut reading: ConversationReading,
        lines: &mut Vec<String>,
    ) -> Result<(), BackupError> {
        let before = self.items;
        if reading.items == 0 {
            self.push_item(&reading.head, lines)?;
            if let Some(chat) = self.read_chat_id(&reading.head).await? {
                self.push_item(&chat, lines)?;
            }
        }
        let query = self.table.query(&reading.partition).key_condition_expression("pk = :pk");
        let query = query.set_exclusive_start_key(reading.start.take());
        let page = retry_while_busy(|| {
            let query = query.clone();
            async move { Box::pin(query.send()).await.map_err(|error| classify("Query", &error)) }
        });
        let page = page.await?;
        for item in page.items.unwrap_or_default() {
            self.push_item(&item, lines)?;
        }
        reading.items += self.items - before;
        reading.start = page.last_evaluated_key;
        if reading.start.is_some() {
            self.steps.push(BackupStep::Conversation(reading));
            return Ok(());
        }
        self.verify_unchanged(reading, lines).await
    }

    /// Checks that a conversation has not changed during its reading.
    async fn verify_unchanged(
        &mut self,
        reading: ConversationReading,
        lines: &mut Vec<String>,
    ) -> Result<(), BackupError> {
        let now = self.read(&key_of(&reading.head)?).await?;
        if now.as_ref().is_some_and(|now| stable_attributes(now) == stable_attributes(&reading.head)) {
            return Ok(());
        }
        self.push_line(&BackupLine::Reread(reading.items), lines)?;
        if now.is_none() {
            return Ok(());
        }
        if reading.readings == MAX_READINGS {
            return Err(BackupError::NeverIdle);
        }
        back_off(reading.readings.min(MAX_BACKOFF_STEP)).await;
        // The conversation may have changed during the pause.
        if let Some(head) = self.read(&key_of(&reading.head)?).await? {
            let readings = reading.readings + 1;
            self.steps.push(BackupStep::Conversation(ConversationReading { head, items: 0, readings, ..reading }));
        }
        Ok(())
    }

    /// The item that maps a client's chat id to the conversation.
    async fn read_chat_id(&self, head: &Item) -> Result<Option<Item>, StoreError> {
        let Ok(chat) = head.text(CHAT_ID_ATTRIBUTE) else { return Ok(None) };
        let found = self.read(&chat_id_key_in(head.text(PK)?, chat)).await?;
        Ok(found.filter(|found| {
            found.text(CONVERSATION_ATTRIBUTE).is_ok_and(|id| head.text(SK).is_ok_and(|sk| sk.ends_with(id)))
        }))
    }

    async fn read(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        read_raw_item(&self.table, key).await
    }

    fn push_item(&mut self, item: &Item, lines: &mut Vec<String>) -> Result<(), StoreError> {
        self.items += 1;
        let is_known = match ItemKind::of(item) {
            Some(ItemKind::Head(_)) => is_head(item),
            kind => kind.is_some() && item.is_readable(),
        };
        self.unknown += u64::from(!is_known);
        self.push_line(&BackupLine::Item(to_json(item)?), lines)
    }

    fn push_line(&mut self, line: &BackupLine, lines: &mut Vec<String>) -> Result<(), StoreError> {
        let text = serde_json::to_string(line).map_err(|_| StoreError::fault("a line that JSON cannot hold"))?;
        update_checksum(&mut self.checksum, &text);
        lines.push(text);
        Ok(())
    }
}

fn stable_attributes(head: &Item) -> Vec<(&String, &AttributeValue)> {
    let mut attributes: Vec<_> = head.iter().filter(|(name, _)| *name != LEASE_END_ATTRIBUTE).collect();
    attributes.sort_unstable_by_key(|(name, _)| *name);
    attributes
}

fn key_of(item: &Item) -> Result<Key, StoreError> {
    Ok(Key::new(item.text(PK)?, item.text(SK)?))
}

/// Reads one item without upgrading it.
async fn read_raw_item(table: &Table, key: &Key) -> Result<Option<Item>, StoreError> {
    let call = table.client.get_item().table_name(&*table.name).set_key(Some(key.attributes())).consistent_read(true);
    retry_while_busy(|| {
        let call = call.clone();
        async move { Box::pin(call.send()).await.map_err(|error| classify("GetItem", &error)).map(|answer| answer.item) }
    })
    .await
}

/// Retries a call while the table is busy: the backup itself causes the load.
async fn retry_while_busy<T, F>(call: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    for attempt in 0..MAX_ATTEMPTS {
        match call().await {
            Err(StoreError::Busy) => back_off(attempt).await,
            outcome => return outcome,
        }
    }
    call().await
}
