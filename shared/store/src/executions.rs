//! Tool calls and their outcomes, kept for 30 days.
//!
//! A row is stored under its owner, so that it is deleted with the owner. A pointer to it is stored under the day, so
//! that administrators can list the rows of all owners. A pointer without its row is skipped.

use std::collections::HashSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer_writes::AnswerWrites;
use crate::clock::{millis, rfc3339};
use crate::conversations::{Page, ReadError, cursor};
use crate::item::{Item, ItemExt, UNDER, expires_at, item, n, s, to_json};
use crate::key::{Key, OwnerPartitions, SK, is_ulid};
use crate::table::{Expression, Table};
use crate::{Day, Result};
use domain::Owner;

const TTL: Duration = Duration::from_hours(30 * 24);

/// How many days a list goes back; no older rows exist.
const MAX_DAYS: u32 = 31;

/// More digits than the index of any call has.
const MAX_INDEX_DIGITS: usize = 10;

const CURSOR_LIST: &str = "executions";

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// The id of the call's answer, and its index among the answer's calls.
    pub id: String,
    /// The agent that made it.
    pub agent: String,
    /// The conversation.
    pub conversation_id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments without secrets; very long ones as a shortened text.
    pub arguments: Value,
    /// Whether it succeeded.
    pub ok: bool,
    /// The code of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The length of the result for the model, in bytes.
    pub bytes: usize,
    /// The duration, in milliseconds.
    pub duration_ms: u64,
    /// Whether the result came from a cache or from an equal call.
    pub cached: bool,
    /// The credits that the search provider charged.
    pub credits: u64,
}

/// A call in the administrators' list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedExecution {
    /// The owner of the turn.
    pub owner: String,
    /// The call.
    #[serde(flatten)]
    pub execution: Execution,
    /// RFC 3339, UTC.
    pub at: String,
}

/// Calls in the ephemeral table.
#[derive(Clone)]
pub struct Executions {
    pub(crate) table: Table,
}

impl Executions {
    /// Stores the calls of one turn; repeating it changes nothing.
    pub async fn record(&self, owner: &Owner, calls: &[Execution], now: SystemTime) -> Result<()> {
        self.table.put_all(items(owner, calls, now).collect()).await
    }

    /// Prepares what [`record`](Self::record) writes, for [`finish_with`](crate::ConversationStore::finish_with). Makes no call.
    pub fn prepare(&self, owner: &Owner, calls: &[Execution], now: SystemTime) -> AnswerWrites {
        let items = items(owner, calls, now);
        AnswerWrites(items.map(|item| self.table.put_write(item, Expression::default())).collect())
    }

    /// The calls of all owners, the newest turns first; `limit` is from 1 to 100.
    pub async fn list(
        &self,
        limit: u32,
        cursor: Option<&str>,
        now: SystemTime,
    ) -> Result<Page<ListedExecution>, ReadError> {
        let limit = limit.clamp(1, 100) as usize;
        let after = cursor.map(|text| cursor::read::<(String, String)>(CURSOR_LIST, text)).transpose()?;
        let mut items = Vec::new();
        for day in days(now).skip_while(|day| after.as_ref().is_some_and(|(last, _)| day > last)) {
            let start = after.as_ref().filter(|(last, _)| *last == day).map(|(_, id)| id.as_str());
            let (found, last) = self.list_day(&day, start, limit - items.len()).await?;
            items.extend(found);
            // A full page may be the last one; an empty one follows it then.
            if let Some(id) = last.filter(|_| items.len() >= limit) {
                return Ok(Page { items, next_cursor: Some(cursor::encode(CURSOR_LIST, (&day, id))) });
            }
        }
        Ok(Page { items, next_cursor: None })
    }

    /// The calls of a day after `start`, at most `max_rows`, and the id of the last call that was read.
    async fn list_day(
        &self,
        day: &str,
        start: Option<&str>,
        max_rows: usize,
    ) -> Result<(Vec<ListedExecution>, Option<String>)> {
        let (mut found, mut last) = (Vec::new(), start.map(str::to_owned));
        loop {
            let wanted = i32::try_from(max_rows - found.len()).unwrap_or(i32::MAX);
            let call = self.table.query(&day_partition(day));
            let start = last.as_ref().map(|id| Key::new(day_partition(day), id).attributes());
            let (pointers, next) = self.table.query_page(call.scan_index_forward(false).limit(wanted), start).await?;
            found.extend(self.rows(&pointers).await?);
            if let Some(pointer) = pointers.last() {
                last = Some(pointer.text(SK)?.to_owned());
            }
            if next.is_none() || found.len() >= max_rows {
                return Ok((found, last));
            }
        }
    }

    /// The rows of these pointers, without missing ones.
    async fn rows(&self, pointers: &[Item]) -> Result<Vec<ListedExecution>> {
        let rows = pointers.iter().map(async |pointer| {
            let key = Key::new(pointer.text(UNDER)?, pointer.text(SK)?);
            self.table.get(&key).await?.map(|row| read(&row)).transpose()
        });
        Ok(try_join_all(rows).await?.into_iter().flatten().collect())
    }

    /// A call of any owner; `None` for an id that is none, or of one that is older than the rows.
    pub async fn get(&self, id: &str, now: SystemTime) -> Result<Option<ListedExecution>> {
        if !id.split_once('-').is_some_and(|(message, call)| is_ulid(message) && call.len() <= MAX_INDEX_DIGITS) {
            return Ok(None);
        }
        // An answer that was continued has calls of several days.
        let pointers = days(now).map(async |day| self.table.get(&Key::new(day_partition(&day), id)).await);
        let pointers: Vec<Item> = try_join_all(pointers).await?.into_iter().flatten().collect();
        Ok(self.rows(&pointers).await?.pop())
    }

    /// The calls for one answer of an owner, in order; none for a malformed id, which may be too long for a key.
    pub async fn list_for_answer(&self, owner: &Owner, message_id: &str) -> Result<Vec<ListedExecution>> {
        if !is_ulid(message_id) {
            return Ok(Vec::new());
        }
        let query = self.table.query_prefix(&owner_partition(owner), &format!("{message_id}-"));
        self.table.query_all(query).await?.iter().map(read).collect()
    }

    /// A page of the calls of an owner in order, and the start of the next page.
    pub(crate) async fn page_for_owner(
        &self,
        owner: &Owner,
        start: Option<Item>,
        now: SystemTime,
    ) -> Result<(Vec<ListedExecution>, Option<Item>)> {
        let (rows, next) = self.table.query_page(self.query_owner(owner).limit(100), start).await?;
        Ok((rows.iter().filter(|row| row.is_unexpired(now)).map(read).collect::<Result<_, _>>()?, next))
    }

    /// Deletes the calls of a conversation.
    pub async fn delete_for_conversation(&self, owner: &Owner, conversation_id: &str) -> Result<()> {
        self.delete(self.query_conversation(owner, conversation_id), |_| true).await.map(drop)
    }

    /// Deletes the calls of these answers of a conversation, which are named by their ids.
    pub async fn delete_for_answers(&self, owner: &Owner, id: &str, messages: &HashSet<String>) -> Result<()> {
        let is_deleted = |call: &str| call.split_once('-').is_some_and(|(message, _)| messages.contains(message));
        self.delete(self.query_conversation(owner, id), is_deleted).await.map(drop)
    }

    /// Deletes the calls of an owner; returns the number of items.
    pub(crate) async fn delete_by_owner(&self, owner: &Owner) -> Result<usize> {
        self.delete(self.query_owner(owner), |_| true).await
    }

    fn query_owner(&self, owner: &Owner) -> QueryFluentBuilder {
        self.table.query(&owner_partition(owner))
    }

    fn query_conversation(&self, owner: &Owner, conversation_id: &str) -> QueryFluentBuilder {
        let call = self.query_owner(owner).filter_expression("conversation = :conversation");
        call.expression_attribute_values(":conversation", s(conversation_id))
    }

    /// Deletes the rows with these ids, and each one's pointer before it: a pointer is found by its row alone.
    async fn delete(&self, rows: QueryFluentBuilder, is_deleted: impl Fn(&str) -> bool) -> Result<usize> {
        let (mut pages, mut count) = (self.table.pages(rows.projection_expression("pk, sk, madeAt")), 0);
        while let Some(mut rows) = pages.next().await? {
            rows.retain(|row| row.text(SK).is_ok_and(&is_deleted));
            let pointers = rows.iter().map(pointer_key).collect::<Result<Vec<_>, _>>()?;
            self.table.delete_all(pointers).await?;
            count += 2 * rows.len();
            self.table.delete_all(rows).await?;
        }
        Ok(count)
    }
}

fn pointer_key(row: &Item) -> Result<Item> {
    let made = UNIX_EPOCH + Duration::from_millis(row.number("madeAt")?);
    Ok(Key::new(day_partition(&Day::of(made).to_string()), row.text(SK)?).attributes())
}

/// Builds the row of each call and the pointer to it.
fn items(owner: &Owner, calls: &[Execution], now: SystemTime) -> impl Iterator<Item = Item> {
    let (partition, day) = (owner_partition(owner), day_partition(&Day::of(now).to_string()));
    let expires = expires_at(now + TTL);
    calls.iter().flat_map(move |call| {
        let row = [
            ("call", s(to_json(call))),
            ("owner", s(owner.as_str())),
            ("conversation", s(&call.conversation_id)),
            ("madeAt", n(millis(now))),
            expires.clone(),
        ];
        let pointer = [(UNDER, s(&partition)), expires.clone()];
        [item(&Key::new(&partition, &call.id), row), item(&Key::new(&day, &call.id), pointer)]
    })
}

fn read(row: &Item) -> Result<ListedExecution> {
    row.check_version("a call")?;
    Ok(ListedExecution {
        owner: row.text("owner")?.to_owned(),
        execution: row.json("call")?,
        at: rfc3339(row.number("madeAt")?),
    })
}

pub(crate) fn owner_partition(owner: &Owner) -> String {
    format!("{}#X", owner.partition())
}

fn day_partition(day: &str) -> String {
    format!("X#{day}")
}

/// The days that may have rows, today first.
fn days(now: SystemTime) -> impl Iterator<Item = String> {
    (0..MAX_DAYS).map(move |days| Day::of(now).before(days).to_string())
}
