use std::time::SystemTime;

use super::cursor;
use super::head::{Head, head_key};
use super::message::{AssembledMessage, is_further_piece};
use super::sort_keys::{AFTER_MESSAGES, message_sk};
use super::turn::FIRST_ANSWER;
use super::{Conversation, ConversationStore, Page, ReadError, StoredMessage, StoredTurn};
use crate::item::{Item, n};
use crate::key::{OwnerPartitions, is_ulid};
use crate::turn_ref::TurnRef;
use crate::{StoreError, UPDATED_AT, UPDATED_INDEX};
use domain::Owner;

/// The maximum number of rows on a page.
const MAX_ROWS: u32 = 100;

/// The maximum size of a page of messages, in bytes of their texts: a buffered response of a function holds 6 MB.
const MAX_PAGE_BYTES: usize = 3 * 1024 * 1024;

/// A page of all messages of a conversation.
pub(crate) struct AllMessages {
    /// The messages, each with whether another answer supersedes it.
    pub(crate) messages: Vec<(bool, StoredMessage)>,
    /// The start of the next page.
    pub(crate) next: Option<u64>,
    /// The turns among them that died and whose text may be in their logs.
    pub(crate) recoverable: Vec<TurnRef>,
}

impl ConversationStore {
    /// The owner's conversations, last updated first; `limit` is from 1 to 100.
    pub async fn list(&self, owner: &Owner, limit: u32, cursor: Option<&str>) -> Result<Page<Conversation>, ReadError> {
        let partition = owner.partition();
        let after = cursor.map(|text| cursor::read::<(i64, String)>(&partition, text)).transpose()?;
        let limit = clamp_limit(limit);
        let mut heads = self.heads(owner, after, limit + 1).await?;
        let has_more = heads.len() > limit;
        heads.truncate(limit);
        let last = heads.last().filter(|_| has_more).map(|head| (head.updated_at, head.id.clone()));
        let next_cursor = last.map(|at| cursor::encode(&partition, at)).transpose()?;
        Ok(Page { items: heads.into_iter().map(Head::into_conversation).collect(), next_cursor })
    }

    async fn heads(&self, owner: &Owner, after: Option<(i64, String)>, count: usize) -> Result<Vec<Head>, ReadError> {
        let start = after.map(|(updated_at, id)| index_start(owner, updated_at, &id)).transpose()?;
        let query = self.table.query(&owner.partition()).index_name(UPDATED_INDEX).scan_index_forward(false);
        let mut pages = self.table.pages(query.limit(i32::try_from(count).unwrap_or(i32::MAX))).after(start);
        let mut heads = Vec::new();
        while heads.len() < count
            && let Some(items) = pages.next().await?
        {
            for item in &items {
                heads.push(Head::read(item)?);
            }
        }
        Ok(heads)
    }

    /// A conversation.
    pub async fn get(&self, owner: &Owner, id: &str) -> Result<Conversation, ReadError> {
        let head = self.head(owner, id).await?.ok_or(ReadError::NotFound)?;
        Ok(head.into_conversation())
    }

    /// The messages of a conversation, oldest first; `limit` is from 1 to 100. Very long messages shorten a page.
    ///
    /// An answer whose turn died is `Interrupted` once its lease has expired.
    /// [`Store::messages`](crate::Store::messages) also recovers its text.
    pub async fn messages(
        &self,
        owner: &Owner,
        id: &str,
        limit: u32,
        cursor: Option<&str>,
        now: SystemTime,
    ) -> Result<Page<StoredMessage>, ReadError> {
        self.messages_page(owner, id, limit, cursor, now).await.map(|(page, _)| page)
    }

    /// A page of messages, and the turns on it that died and whose text may be in their logs.
    pub(crate) async fn messages_page(
        &self,
        owner: &Owner,
        id: &str,
        limit: u32,
        cursor: Option<&str>,
        now: SystemTime,
    ) -> Result<(Page<StoredMessage>, Vec<TurnRef>), ReadError> {
        let partition = owner.conversation_partition(id);
        let after = cursor.map(|text| cursor::read(&partition, text)).transpose();
        let page =
            self.page_after(owner, id, after, limit, now, |head, one| head.is_visible(one.seq, one.is_superseded, now));
        let AllMessages { messages, next, recoverable } = page.await?;
        let next_cursor = next.map(|at| cursor::encode(&partition, at)).transpose()?;
        Ok((Page { items: messages.into_iter().map(|(_, message)| message).collect(), next_cursor }, recoverable))
    }

    /// A page of all messages after a seq, also of superseded answers.
    pub(crate) async fn all_messages(
        &self,
        owner: &Owner,
        id: &str,
        after: u64,
        now: SystemTime,
    ) -> Result<AllMessages, ReadError> {
        self.page_after(owner, id, Ok(Some(after)), MAX_ROWS, now, |_, _| true).await
    }

    /// A page of messages after a seq, which may be missing or invalid.
    async fn page_after(
        &self,
        owner: &Owner,
        id: &str,
        after: Result<Option<u64>, ReadError>,
        limit: u32,
        now: SystemTime,
        is_visible: impl Fn(&Head, &AssembledMessage) -> bool,
    ) -> Result<AllMessages, ReadError> {
        // The head is read first: answers that begin after this read have a higher seq, which identifies them.
        let head = self.head(owner, id).await?.ok_or(ReadError::NotFound)?;
        let (partition, after) = (owner.conversation_partition(id), after?.unwrap_or_default());
        let page = self.read_messages(&partition, after, clamp_limit(limit), |one| is_visible(&head, one));
        let (messages, has_more) = page.await?;
        let next = messages.last().filter(|_| has_more).map(|message| message.seq);
        let recoverable = messages.iter().filter_map(|message| message.recoverable_turn(&head, now)).collect();
        let messages = messages.into_iter().map(|message| (message.is_superseded, message.into_message(&head, now)));
        Ok(AllMessages { messages: messages.collect(), next, recoverable })
    }

    /// The turn whose answer has this seq, even if another answer supersedes it by now.
    pub async fn get_turn(
        &self,
        owner: &Owner,
        id: &str,
        answer_seq: u64,
        now: SystemTime,
    ) -> Result<StoredTurn, ReadError> {
        let head = self.head(owner, id).await?.ok_or(ReadError::NotFound)?;
        let partition = owner.conversation_partition(id);
        let (messages, _) = self.read_messages(&partition, answer_seq.saturating_sub(1), 1, |_| true).await?;
        let found = messages.into_iter().next().filter(|found| found.seq == answer_seq).ok_or(ReadError::NotFound)?;
        let outcome = found.outcome.clone();
        let title = (answer_seq == FIRST_ANSWER).then(|| head.title.clone());
        Ok(StoredTurn { message: found.into_message(&head, now), outcome, title })
    }

    /// The turn that runs in a conversation under a valid lease.
    pub async fn running_turn(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<Option<TurnRef>, ReadError> {
        let head = self.head(owner, id).await?.ok_or(ReadError::NotFound)?;
        let running = head.running.filter(|running| running.remaining_lease(now).is_some());
        Ok(running.map(|running| TurnRef {
            turn_id: running.turn_id,
            conversation_id: head.id,
            answer_seq: head.last_seq,
        }))
    }

    /// The messages after a seq, each with all its pieces, up to `limit` or [`MAX_PAGE_BYTES`]; and whether more
    /// follow.
    async fn read_messages(
        &self,
        partition: &str,
        after: u64,
        limit: usize,
        is_visible: impl Fn(&AssembledMessage) -> bool,
    ) -> Result<(Vec<AssembledMessage>, bool), StoreError> {
        let (mut start, mut messages) = (None, Vec::new());
        loop {
            let wanted = i32::try_from(limit + 1 - messages.len()).unwrap_or(i32::MAX);
            let call = self.table.query_range(partition, message_sk(after.saturating_add(1)), AFTER_MESSAGES);
            let (items, next) = self.table.query_page(call.limit(wanted), start).await?;
            for item in &items {
                push_item(&mut messages, item, &is_visible)?;
            }
            let full = messages.len() > limit || messages.len() > 1 && total_bytes(&messages) > MAX_PAGE_BYTES;
            if full {
                // Some pieces of the last one may be unread.
                messages.pop();
            }
            if full || next.is_none() {
                return Ok((messages, full));
            }
            start = next;
        }
    }
}

fn total_bytes(messages: &[AssembledMessage]) -> usize {
    messages.iter().map(AssembledMessage::text_bytes).sum()
}

fn clamp_limit(limit: u32) -> usize {
    limit.clamp(1, MAX_ROWS) as usize
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

/// Adds the next item of the partition: a visible message, or a further piece of the previous one.
fn push_item(
    messages: &mut Vec<AssembledMessage>,
    item: &Item,
    is_visible: impl Fn(&AssembledMessage) -> bool,
) -> Result<(), StoreError> {
    if !is_further_piece(item)? {
        messages.extend(Some(AssembledMessage::read(item)?).filter(is_visible));
        return Ok(());
    }
    match messages.last_mut() {
        Some(message) if message.has_piece(item)? => message.append(item),
        _ => Ok(()),
    }
}
