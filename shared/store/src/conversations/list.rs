//! The conversations of an owner, page by page.

use domain::Owner;

use super::head::{ARCHIVED, HEAD_PREFIX, Head, PINNED, head_key};
use super::read::clamp_limit;
use super::{Conversation, ConversationStore, Page, ReadError, cursor};
use crate::item::{Item, ItemExt, n};
use crate::key::{OwnerPartitions, SK, is_ulid};
use crate::{EXPIRES, Result, UPDATED_AT, UPDATED_INDEX};

/// Heads in each further read, if the first one found fewer conversations than a page has.
const HEADS_PER_READ: usize = 200;

/// Maximum number of reads for a page: a list that leaves out nearly all conversations has short pages.
const MAX_READS: usize = 4;

/// The conversations of a list; all by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConversationFilter {
    /// Only those that are archived, or only the others.
    pub archived: Option<bool>,
    /// Only those that are pinned, or only the others.
    pub pinned: Option<bool>,
    /// Only temporary ones, or only the others.
    pub temporary: Option<bool>,
}

/// The position of a conversation in the list: its last update, and its id.
pub(super) type Position = (i64, String);

impl ConversationStore {
    /// All conversations of the owner, last updated first; `limit` is from 1 to 100.
    pub async fn list(&self, owner: &Owner, limit: u32, cursor: Option<&str>) -> Result<Page<Conversation>, ReadError> {
        self.list_filtered(owner, ConversationFilter::default(), limit, cursor).await
    }

    /// Some of the conversations in the order of [`list`](Self::list). A page may have fewer than `limit`, also none, although
    /// more follow: the number of conversations that it reads is bounded.
    pub async fn list_filtered(
        &self,
        owner: &Owner,
        filter: ConversationFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<Page<Conversation>, ReadError> {
        let partition = owner.partition();
        let after = cursor.map(|text| cursor::read::<Position>(&partition, text)).transpose()?;
        let limit = clamp_limit(limit);
        let (mut heads, read_to) = self.heads(owner, filter, after, limit + 1).await?;
        let has_more = heads.len() > limit;
        heads.truncate(limit);
        let last = heads.last().filter(|_| has_more).map(|head| (head.updated_at, head.id.clone()));
        let next_cursor = last.or(read_to).map(|at| cursor::encode(&partition, at));
        Ok(Page { items: heads.into_iter().map(Head::into_conversation).collect(), next_cursor })
    }

    /// At least `count` heads unless there are fewer, and where the list continues if not all of it was read.
    pub(super) async fn heads(
        &self,
        owner: &Owner,
        filter: ConversationFilter,
        after: Option<Position>,
        count: usize,
    ) -> Result<(Vec<Head>, Option<Position>), ReadError> {
        let mut start = after.map(|(updated_at, id)| index_start(owner, updated_at, &id)).transpose()?;
        let query = self.table.query(&owner.partition()).index_name(UPDATED_INDEX).scan_index_forward(false);
        let query = query.set_filter_expression(filter.expression());
        let (mut heads, mut rows) = (Vec::new(), count);
        for _ in 0..MAX_READS {
            let limit = i32::try_from(rows).unwrap_or(i32::MAX);
            let (items, next) = self.table.query_page(query.clone().limit(limit), start).await?;
            heads.extend(items.iter().map(Head::read).collect::<Result<Vec<_>, _>>()?);
            (start, rows) = (next, HEADS_PER_READ);
            if heads.len() >= count || start.is_none() {
                break;
            }
        }
        Ok((heads, start.as_ref().map(position_of).transpose()?))
    }
}

impl ConversationFilter {
    /// The condition of a query; `None` if all conversations satisfy it.
    fn expression(self) -> Option<String> {
        // `temporary` is a reserved keyword in expressions; what is temporary expires.
        let rules = [(ARCHIVED, self.archived), (PINNED, self.pinned), (EXPIRES, self.temporary)];
        let rule = |(name, wanted): (&str, Option<bool>)| {
            Some(if wanted? { format!("attribute_exists({name})") } else { format!("attribute_not_exists({name})") })
        };
        let rules: Vec<String> = rules.into_iter().filter_map(rule).collect();
        (!rules.is_empty()).then(|| rules.join(" AND "))
    }
}

/// The index key of a conversation, from a cursor.
fn index_start(owner: &Owner, updated_at: i64, id: &str) -> Result<Item, ReadError> {
    if !is_ulid(id) {
        return Err(ReadError::BadCursor);
    }
    let mut key = head_key(owner, id).attributes();
    key.insert(UPDATED_AT.to_owned(), n(updated_at));
    Ok(key)
}

/// The position of an index key.
fn position_of(key: &Item) -> Result<Position> {
    Ok((key.number(UPDATED_AT)?, key.text(SK)?.trim_start_matches(HEAD_PREFIX).to_owned()))
}
