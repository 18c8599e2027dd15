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

/// How many items are on their way at a time.
const TOGETHER: usize = 16;

/// How a backup shall be restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Whether what differs is written over. A conversation then becomes what it was, also where it went on since.
    pub replace: bool,
    /// Whether nothing is written, and only said what would be.
    pub dry_run: bool,
    /// Whether API keys are left out.
    pub without_keys: bool,
}

/// What became of the items of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// They were not there.
    pub written: u64,
    /// Others were there under the same keys.
    pub replaced: u64,
    /// They were there.
    pub there: u64,
    /// Others are there under the same keys, or the conversation went on otherwise since.
    pub kept: u64,
    /// They are API keys, which were not wished for.
    pub left_out: u64,
}

/// A restore as far as it got. Broken off and begun again it ends the same.
pub struct Restore {
    table: Table,
    wish: Wish,
    contents: Contents,
    /// The number of lines with items so far.
    at: u64,
    /// The last conversation that is not the backup's any more, and the last place that it has.
    other: Option<(String, u64)>,
    restored: Restored,
}

/// Heads of conversations, each with the partition under it.
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
    /// Writes a backup into the data table; `contents` is what a check of the same lines gave.
    ///
    /// What is there under the same key stays as it is, unless `wish` says otherwise: an API key is never written over,
    /// because it may have been revoked since, and neither is an item that a newer release has to itself.
    pub fn restore(&self, contents: Contents, wish: Wish) -> Restore {
        let [data, _] = &self.tables;
        Restore { table: data.clone(), wish, contents, at: 0, other: None, restored: Restored::default() }
    }
}

impl Restore {
    /// Takes the next lines, as many as fit the memory.
    pub async fn lines(&mut self, lines: &[String]) -> Result<(), StoreError> {
        let (heads, others) = self.sorted(lines)?;
        // What is done under a conversation depends on what its head came to.
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

    /// What became of them so far.
    pub fn restored(&self) -> Restored {
        self.restored
    }

    /// The items of lines without those that others replace.
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

    /// Writes a head; gives the last place of the conversation where that is another one than the backup's.
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
            // It would lie where the conversation as it is now goes on, or sum up turns that it has not.
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

    /// Whether a document's name stands for another one by now: no two have the same.
    async fn is_name_taken(&self, item: &Item) -> Result<bool, StoreError> {
        let Some((key, id)) = name_of(item) else { return Ok(false) };
        Ok(get(&self.table, &key).await?.is_some_and(|name| !names(&name, id)))
    }

    /// Makes way for a conversation: for one that is to become another, and for one that is not there but may have left
    /// something, when its deletion was broken off.
    ///
    /// Before the head is written: no turn begins without one, and after it the next restore would find nothing to do.
    async fn clear(&self, partition: &str, head: &Item) -> Result<(), StoreError> {
        match get(&self.table, &key_of(head)?).await? {
            Some(old) if !self.wish.replace || same(&old, head)? || !is_writable(&old) => Ok(()),
            _ => self.cut(partition, last_place(head)).await,
        }
    }

    /// Deletes what lies behind the last place. What is to be replaced loses also what belongs to its messages: further
    /// pieces and transcripts, of which the backup's messages may have fewer.
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

    /// Writes an item where there is none, or with `replace` over another one; gives what was there.
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

/// Whether it was written, and what was there.
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

/// The place that a head says its last message has.
fn last_place(head: &Item) -> u64 {
    head.number("seq").unwrap_or_default()
}

impl Restored {
    /// How many items a restore has dealt with.
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
