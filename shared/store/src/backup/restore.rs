use std::collections::HashMap;

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{ReturnValue, ReturnValuesOnConditionCheckFailure as OnRefusal};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::attribute::same;
use super::form::{changed, item_of};
use super::place::Place;
use super::{Contents, get, key_of, patient};
use crate::conversations::is_message;
use crate::definitions::{name_of, names};
use crate::error::sort;
use crate::item::{Item, Read, n};
use crate::key::SK;
use crate::shape::{SHAPES, Shapes, VERSION};
use crate::table::Table;
use crate::{Store, StoreError};

/// The number of items in flight at a time.
const TOGETHER: usize = 16;

/// The options of a restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
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
pub struct Restored {
    /// New items.
    pub written: u64,
    /// Overwritten items.
    pub replaced: u64,
    /// Items that existed unchanged.
    pub there: u64,
    /// Items that were not written, because others with the same keys exist or the conversation has continued
    /// differently.
    pub kept: u64,
    /// Skipped API keys.
    pub left_out: u64,
}

/// A restore in progress. An interrupted restore that is started again has the same result.
pub struct Restore {
    table: Table,
    wish: Wish,
    contents: Contents,
    /// The number of lines with items so far.
    at: u64,
    /// The last conversation that has diverged from the backup, and its last seq.
    other: Option<(String, u64)>,
    restored: Restored,
}

/// Heads of conversations, each with the partition of its items.
type Heads = Vec<(String, Item)>;

type Others = Vec<(Place, Item)>;

#[derive(Clone, Copy)]
enum Outcome {
    Written,
    Replaced,
    There,
    Kept,
    LeftOut,
}

impl Store {
    /// Restores a backup into the data table; `summary` is the result of a check of the same lines.
    ///
    /// Existing items with the same key are kept, unless `options` demand otherwise. An API key is never overwritten,
    /// because it may have been revoked since; neither is an item of a newer release.
    pub fn restore(&self, contents: Contents, wish: Wish) -> Restore {
        let [data, _] = &self.tables;
        Restore { table: data.clone(), wish, contents, at: 0, other: None, restored: Restored::default() }
    }
}

impl Restore {
    /// Restores the next lines; the caller chooses a number that fits the memory.
    pub async fn lines(&mut self, lines: &[String]) -> Result<(), StoreError> {
        let (heads, others) = self.sorted(lines)?;
        // The items of a conversation depend on the outcome of its head.
        let heads = stream::iter(&heads).map(|(partition, item)| self.head(partition, item)).buffered(TOGETHER);
        let heads: Vec<_> = heads.try_collect().await?;
        let mut others_of: HashMap<_, _> = self.other.iter().cloned().collect();
        for (partition, outcome, last) in heads {
            self.restored.count(outcome);
            self.other = last.map(|last| (partition, last));
            others_of.extend(self.other.clone());
        }
        let outcomes = stream::iter(&others).map(|(place, item)| self.item(place, item, &others_of));
        let outcomes: Vec<_> = outcomes.buffered(TOGETHER).try_collect().await?;
        for outcome in outcomes {
            self.restored.count(outcome);
        }
        Ok(())
    }

    /// The numbers so far.
    pub fn restored(&self) -> Restored {
        self.restored
    }

    /// Parses the items of lines, without those that later lines replace.
    fn sorted(&mut self, lines: &[String]) -> Result<(Heads, Others), StoreError> {
        let (mut heads, mut others) = (Heads::new(), Others::new());
        for line in lines {
            let Some(item) = item_of(line)? else { continue };
            let is_replaced = self.contents.replaces(self.at);
            self.at += 1;
            match Place::of(&item) {
                _ if is_replaced => {}
                Some(Place::Head(partition)) => heads.push((partition, item)),
                Some(place) => others.push((place, item)),
                None => return Err(changed()),
            }
        }
        Ok((heads, others))
    }

    /// Writes a head; returns the last seq of the existing conversation if it has diverged from the backup.
    async fn head(&self, partition: &str, item: &Item) -> Result<(String, Outcome, Option<u64>), StoreError> {
        if !self.wish.dry_run {
            self.clear(partition, item).await?;
        }
        let (outcome, old) = self.put(item, self.wish.replace).await?;
        let last = old.filter(|_| matches!(outcome, Outcome::Kept)).map(|old| last_place(&old));
        Ok((partition.to_owned(), outcome, last))
    }

    async fn item(&self, place: &Place, item: &Item, others: &HashMap<String, u64>) -> Result<Outcome, StoreError> {
        match place {
            Place::Key if self.wish.without_keys => Ok(Outcome::LeftOut),
            // It would mix with the existing conversation's later messages, or summarise turns that it does not have.
            Place::Under(partition, place) if others.get(partition).is_some_and(|last| place > last) => {
                Ok(Outcome::Kept)
            }
            Place::Definition if !self.wish.replace && self.is_name_taken(item).await? => Ok(Outcome::Kept),
            _ => {
                let replace = self.wish.replace && *place != Place::Key;
                self.put(item, replace).await.map(|(outcome, _)| outcome)
            }
        }
    }

    /// Whether another document has the name by now: names are unique.
    async fn is_name_taken(&self, item: &Item) -> Result<bool, StoreError> {
        let Some((key, id)) = name_of(item) else { return Ok(false) };
        Ok(get(&self.table, &key).await?.is_some_and(|name| !names(&name, id)))
    }

    /// Deletes the items that would mix with a restored conversation: those of a diverged one, and leftovers of an
    /// interrupted deletion.
    ///
    /// This happens before the head is written. Without a head no turn begins, and after a written head the next
    /// restore would find nothing to do.
    async fn clear(&self, partition: &str, head: &Item) -> Result<(), StoreError> {
        match get(&self.table, &key_of(head)?).await? {
            Some(old) if !self.wish.replace || same(&old, head)? || !is_writable(&old) => Ok(()),
            _ => self.cut(partition, last_place(head)).await,
        }
    }

    /// Deletes the items after the last seq. A conversation to be replaced also loses the further pieces and
    /// transcripts of its messages, because the backup's messages may have fewer.
    async fn cut(&self, partition: &str, last: u64) -> Result<(), StoreError> {
        let goes = |key: &Item| match Place::of(key) {
            Some(Place::Under(_, place)) => place > last || self.wish.replace && !key.text(SK).is_ok_and(is_message),
            _ => false,
        };
        let mut start = None;
        loop {
            let query = self.table.query(partition).key_condition_expression("pk = :pk");
            let query = query.projection_expression("pk, sk");
            let (mut keys, next) = patient(|| self.table.page(query.clone(), start.clone())).await?;
            keys.retain(goes);
            patient(|| self.table.delete_all(&keys)).await?;
            start = next;
            if start.is_none() {
                return Ok(());
            }
        }
    }

    /// Writes an item if there is none, or with `replace` over another one; returns the previous item.
    async fn put(&self, item: &Item, replace: bool) -> Result<(Outcome, Option<Item>), StoreError> {
        let (done, old) = if self.wish.dry_run {
            let old = get(&self.table, &key_of(item)?).await?;
            (old.as_ref().is_none_or(|old| replace && is_writable(old)), old)
        } else {
            let call = self.putting(item, replace);
            patient(|| send(call.clone())).await?
        };
        let outcome = match &old {
            None if done => Outcome::Written,
            Some(old) if same(old, item)? => Outcome::There,
            Some(_) if done => Outcome::Replaced,
            _ => Outcome::Kept,
        };
        Ok((outcome, old))
    }

    fn putting(&self, item: &Item, replace: bool) -> PutItemFluentBuilder {
        let put = self.table.client.put_item().table_name(&*self.table.name).set_item(Some(item.clone()));
        let put = put.return_values_on_condition_check_failure(OnRefusal::AllOld);
        if !replace {
            return put.condition_expression("attribute_not_exists(pk)");
        }
        let put = put.condition_expression(Shapes::writable()).return_values(ReturnValue::AllOld);
        put.expression_attribute_values(":shape", n(SHAPES.current))
    }
}

/// Sends a put; returns whether it was written, and the previous item.
async fn send(put: PutItemFluentBuilder) -> Result<(bool, Option<Item>), StoreError> {
    match Box::pin(put.send()).await {
        Ok(answer) => Ok((true, answer.attributes)),
        Err(error) => match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(why)) => Ok((false, why.item.clone())),
            _ => Err(sort("PutItem", &error)),
        },
    }
}

fn is_writable(item: &Item) -> bool {
    item.is_understood() || !item.contains_key(VERSION)
}

/// The seq of the last message, from a head.
fn last_place(head: &Item) -> u64 {
    head.number("seq").unwrap_or_default()
}

impl Restored {
    /// The number of processed items.
    pub fn all(&self) -> u64 {
        self.written + self.replaced + self.there + self.kept + self.left_out
    }

    fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Written => &mut self.written,
            Outcome::Replaced => &mut self.replaced,
            Outcome::There => &mut self.there,
            Outcome::Kept => &mut self.kept,
            Outcome::LeftOut => &mut self.left_out,
        } += 1;
    }
}
