use std::collections::HashMap;

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{ReturnValue, ReturnValuesOnConditionCheckFailure as OnRefusal};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::dynamodb_json::are_equal;
use super::format::{changed_error, parse_item};
use super::item_kind::ItemKind;
use super::{BackupSummary, key_of, read_raw_item, retry_while_busy};
use crate::articles::{article_of_chunks, unused_after};
use crate::conversations::is_message;
use crate::definitions::{name_key_and_id, names_document};
use crate::error::classify;
use crate::item::{Item, ItemExt, n};
use crate::key::SK;
use crate::schema::{SCHEMA, SchemaVersion, VERSION};
use crate::table::Table;
use crate::{Store, StoreError};

/// The number of items in flight at a time.
const MAX_IN_FLIGHT: usize = 16;

/// The options of a restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Whether differing items are overwritten. A conversation then returns to its backed up state, even if it has
    /// continued since.
    pub replace: bool,
    /// Whether nothing is written, and only the report is made.
    pub dry_run: bool,
    /// Whether API keys are skipped.
    pub without_keys: bool,
}

/// The outcome of a restore, in numbers of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// New items.
    pub written: u64,
    /// Overwritten items.
    pub replaced: u64,
    /// Items that existed unchanged.
    pub unchanged: u64,
    /// Items that were not written, because others with the same keys exist or the conversation has continued
    /// differently.
    pub kept: u64,
    /// Skipped API keys.
    pub skipped_keys: u64,
}

/// A restore in progress. An interrupted restore that is started again has the same result.
pub struct Restore {
    table: Table,
    options: RestoreOptions,
    summary: BackupSummary,
    /// The number of lines with items so far.
    at: u64,
    /// The last conversation that has diverged from the backup, and its last seq.
    diverged: Option<(String, u64)>,
    report: RestoreReport,
}

/// Heads of conversations, each with the partition of its items.
type HeadItems = Vec<(String, Item)>;

type OtherItems = Vec<(ItemKind, Item)>;

#[derive(Clone, Copy)]
enum ItemOutcome {
    Written,
    Replaced,
    Unchanged,
    Kept,
    Skipped,
}

impl Store {
    /// Restores a backup into the data table; `summary` is the result of a check of the same lines.
    ///
    /// Existing items with the same key are kept, unless `options` demand otherwise. An API key is never overwritten,
    /// because it may have been revoked since; neither is an item of a newer release.
    pub fn restore(&self, summary: BackupSummary, options: RestoreOptions) -> Restore {
        let [data, _] = &self.tables;
        Restore { table: data.clone(), options, summary, at: 0, diverged: None, report: RestoreReport::default() }
    }
}

impl Restore {
    /// Restores the next lines; the caller chooses a number that fits the memory.
    pub async fn restore_lines(&mut self, lines: &[String]) -> Result<(), StoreError> {
        let (heads, others) = self.split_heads(lines)?;
        // The items of a conversation depend on the outcome of its head.
        let heads =
            stream::iter(&heads).map(|(partition, item)| self.restore_head(partition, item)).buffered(MAX_IN_FLIGHT);
        let heads: Vec<_> = heads.try_collect().await?;
        let mut others_of: HashMap<_, _> = self.diverged.iter().cloned().collect();
        for (partition, outcome, last) in heads {
            self.report.count(outcome);
            self.diverged = last.map(|last| (partition, last));
            others_of.extend(self.diverged.clone());
        }
        let outcomes = stream::iter(&others).map(|(kind, item)| self.restore_item(kind, item, &others_of));
        let outcomes: Vec<_> = outcomes.buffered(MAX_IN_FLIGHT).try_collect().await?;
        for outcome in outcomes {
            self.report.count(outcome);
        }
        Ok(())
    }

    /// The numbers so far.
    pub fn report(&self) -> RestoreReport {
        self.report
    }

    /// Parses the items of lines, without those that later lines replace.
    fn split_heads(&mut self, lines: &[String]) -> Result<(HeadItems, OtherItems), StoreError> {
        let (mut heads, mut others) = (HeadItems::new(), OtherItems::new());
        for line in lines {
            let Some(item) = parse_item(line)? else { continue };
            let is_replaced = self.summary.is_replaced(self.at);
            self.at += 1;
            match ItemKind::of(&item) {
                _ if is_replaced => {}
                Some(ItemKind::Head(partition)) => heads.push((partition, item)),
                Some(kind) => others.push((kind, item)),
                None => return Err(changed_error()),
            }
        }
        Ok((heads, others))
    }

    /// Writes a head; returns the last seq of the existing conversation if it has diverged from the backup.
    async fn restore_head(
        &self,
        partition: &str,
        item: &Item,
    ) -> Result<(String, ItemOutcome, Option<u64>), StoreError> {
        if !self.options.dry_run {
            self.clear_leftovers(partition, item).await?;
        }
        let (outcome, old) = self.put_item(item, self.options.replace).await?;
        let last = old.filter(|_| matches!(outcome, ItemOutcome::Kept)).map(|old| last_seq(&old));
        Ok((partition.to_owned(), outcome, last))
    }

    async fn restore_item(
        &self,
        kind: &ItemKind,
        item: &Item,
        others: &HashMap<String, u64>,
    ) -> Result<ItemOutcome, StoreError> {
        match kind {
            ItemKind::ApiKey if self.options.without_keys => Ok(ItemOutcome::Skipped),
            // It would mix with the existing conversation's later messages, or summarise turns that it does not have.
            ItemKind::ConversationItem(partition, seq) if others.get(partition).is_some_and(|last| seq > last) => {
                Ok(ItemOutcome::Kept)
            }
            ItemKind::Article => self.restore_article_item(item).await,
            ItemKind::Definition if !self.options.replace && self.is_name_taken(item).await? => Ok(ItemOutcome::Kept),
            _ => {
                let replace = self.options.replace && *kind != ItemKind::ApiKey;
                self.put_item(item, replace).await.map(|(outcome, _)| outcome)
            }
        }
    }

    /// Restores an item of a collection of articles. Chunks of a version that another one has replaced since are left
    /// out, and those that the backup's version replaces are listed for deletion.
    async fn restore_article_item(&self, item: &Item) -> Result<ItemOutcome, StoreError> {
        if !self.options.replace && self.is_chunk_of_old_version(item).await? {
            return Ok(ItemOutcome::Kept);
        }
        let (outcome, old) = self.put_item(item, self.options.replace).await?;
        let is_replaced = matches!(outcome, ItemOutcome::Replaced) && !self.options.dry_run;
        let unused = old.filter(|_| is_replaced).and_then(|old| unused_after(&old, item));
        retry_while_busy(|| self.table.put_all(unused.iter().cloned().collect())).await?;
        Ok(outcome)
    }

    async fn is_chunk_of_old_version(&self, item: &Item) -> Result<bool, StoreError> {
        let Some((article, generation)) = article_of_chunks(item) else { return Ok(false) };
        let article = read_raw_item(&self.table, &article).await?;
        Ok(article.is_some_and(|article| article.text("generation") != Ok(generation)))
    }

    /// Whether another document has the name by now: names are unique.
    async fn is_name_taken(&self, item: &Item) -> Result<bool, StoreError> {
        let Some((key, id)) = name_key_and_id(item) else { return Ok(false) };
        Ok(read_raw_item(&self.table, &key).await?.is_some_and(|name| !names_document(&name, id)))
    }

    /// Deletes the items that would mix with a restored conversation: those of a diverged one, and leftovers of an
    /// interrupted deletion.
    ///
    /// This happens before the head is written. Without a head no turn begins, and after a written head the next
    /// restore would find nothing to do.
    async fn clear_leftovers(&self, partition: &str, head: &Item) -> Result<(), StoreError> {
        match read_raw_item(&self.table, &key_of(head)?).await? {
            Some(old) if !self.options.replace || are_equal(&old, head)? || !is_writable(&old) => Ok(()),
            _ => self.delete_after(partition, last_seq(head)).await,
        }
    }

    /// Deletes the items after the last seq. A conversation to be replaced also loses the further pieces and
    /// transcripts of its messages, because the backup's messages may have fewer.
    async fn delete_after(&self, partition: &str, last: u64) -> Result<(), StoreError> {
        let is_obsolete = |key: &Item| match ItemKind::of(key) {
            Some(ItemKind::ConversationItem(_, seq)) => {
                seq > last || self.options.replace && !key.text(SK).is_ok_and(is_message)
            }
            _ => false,
        };
        let mut start = None;
        loop {
            let query = self.table.query(partition).key_condition_expression("pk = :pk");
            let query = query.projection_expression("pk, sk");
            let (mut keys, next) = retry_while_busy(|| self.table.query_page(query.clone(), start.clone())).await?;
            keys.retain(is_obsolete);
            retry_while_busy(|| self.table.delete_all(&keys)).await?;
            start = next;
            if start.is_none() {
                return Ok(());
            }
        }
    }

    /// Writes an item if there is none, or with `replace` over another one; returns the previous item.
    async fn put_item(&self, item: &Item, replace: bool) -> Result<(ItemOutcome, Option<Item>), StoreError> {
        let (done, old) = if self.options.dry_run {
            let old = read_raw_item(&self.table, &key_of(item)?).await?;
            (old.as_ref().is_none_or(|old| replace && is_writable(old)), old)
        } else {
            let call = self.put_request(item, replace);
            retry_while_busy(|| send_put(call.clone())).await?
        };
        let outcome = match &old {
            None if done => ItemOutcome::Written,
            Some(old) if are_equal(old, item)? => ItemOutcome::Unchanged,
            Some(_) if done => ItemOutcome::Replaced,
            _ => ItemOutcome::Kept,
        };
        Ok((outcome, old))
    }

    fn put_request(&self, item: &Item, replace: bool) -> PutItemFluentBuilder {
        let put = self.table.client.put_item().table_name(&*self.table.name).set_item(Some(item.clone()));
        let put = put.return_values_on_condition_check_failure(OnRefusal::AllOld);
        if !replace {
            return put.condition_expression("attribute_not_exists(pk)");
        }
        let put = put.condition_expression(SchemaVersion::writable()).return_values(ReturnValue::AllOld);
        put.expression_attribute_values(":shape", n(SCHEMA.current))
    }
}

/// Sends a put; returns whether it was written, and the previous item.
async fn send_put(put: PutItemFluentBuilder) -> Result<(bool, Option<Item>), StoreError> {
    match Box::pin(put.send()).await {
        Ok(answer) => Ok((true, answer.attributes)),
        Err(error) => match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(why)) => Ok((false, why.item.clone())),
            _ => Err(classify("PutItem", &error)),
        },
    }
}

fn is_writable(item: &Item) -> bool {
    item.is_readable() || !item.contains_key(VERSION)
}

/// The seq of the last message, from a head.
fn last_seq(head: &Item) -> u64 {
    head.number("seq").unwrap_or_default()
}

impl RestoreReport {
    /// The number of processed items.
    pub fn all(&self) -> u64 {
        self.written + self.replaced + self.unchanged + self.kept + self.skipped_keys
    }

    fn count(&mut self, outcome: ItemOutcome) {
        *match outcome {
            ItemOutcome::Written => &mut self.written,
            ItemOutcome::Replaced => &mut self.replaced,
            ItemOutcome::Unchanged => &mut self.unchanged,
            ItemOutcome::Kept => &mut self.kept,
            ItemOutcome::Skipped => &mut self.skipped_keys,
        } += 1;
    }
}
