use std::collections::HashMap;
use std::time::SystemTime;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use super::head::Head;
use super::message::{AssembledMessage, is_further_piece};
use super::seq_ranges::{SeqRanges, is_in};
use super::sort_keys::message_sk;
use super::tree::MessageTree;
use super::turn::Target;
use super::{Conversation, ConversationStore, Page, ReadError, StoredMessage, StoredTurn, cursor};
use crate::Result;
use crate::item::{Item, ItemExt};
use crate::key::OwnerPartitions;
use crate::turn_ref::TurnRef;
use domain::Owner;

/// The maximum number of rows on a page.
const MAX_ROWS: u32 = 100;

/// The maximum size of a page of messages, in bytes of their texts: a buffered response of a function holds 6 MB.
const MAX_PAGE_BYTES: usize = 3 * 1024 * 1024;

/// Maximum number of ids that are read at the same time.
const MAX_READS: usize = 16;

/// Which messages of a conversation a page has.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageQuery<'a> {
    /// From 1 to 100.
    pub limit: u32,
    /// The cursor of the page before.
    pub cursor: Option<&'a str>,
    /// The id of a message of the branch, which ends with the newest message after it; `None` for the shown branch.
    pub branch: Option<&'a str>,
    /// Whether the first page has the last messages, and the next ones those before.
    pub from_end: bool,
}

/// What a cursor continues from: the last message of a page, or the first one of a page from the end.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Position {
    After(u64, String),
    /// From an earlier release.
    AfterSeq(u64),
    Before {
        before: u64,
        /// The id of that message; empty from an earlier release.
        #[serde(default)]
        id: String,
    },
}

/// A page of all messages of a conversation.
pub struct AllMessages {
    /// The messages, oldest first, each with whether it is not on the shown branch.
    pub messages: Vec<(bool, StoredMessage)>,
    /// The start of the next page.
    pub next: Option<u64>,
    /// The turns among them that died and whose text may be in their logs.
    pub(crate) recoverable: Vec<TurnRef>,
}

impl ConversationStore {
    /// A conversation.
    pub async fn get(&self, owner: &Owner, id: &str) -> Result<Conversation, ReadError> {
        let head = self.head(owner, id, SystemTime::now()).await?.ok_or(ReadError::NotFound)?;
        Ok(head.into_conversation())
    }

    /// A page of messages, and the turns on it that died and whose text may be in their logs. Very long messages shorten
    /// a page.
    ///
    /// An answer whose turn died is `Interrupted` once its lease has expired.
    /// [`Store::messages`](crate::Store::messages) also recovers its text.
    pub async fn messages_page(
        &self,
        owner: &Owner,
        id: &str,
        query: MessageQuery<'_>,
        now: SystemTime,
    ) -> Result<(Page<StoredMessage>, Vec<TurnRef>), ReadError> {
        let partition = owner.conversation_partition(id);
        let position = query.cursor.map(|text| cursor::read::<Position>(&partition, text)).transpose()?;
        let target = query.branch.map_or(Target::End, |id| Target::Message(id.to_owned()));
        let found = match &position {
            // Only reading many messages may find one by its id.
            Some(Position::After(seq, known) | Position::Before { before: seq, id: known })
                if query.branch == Some(known) =>
            {
                self.head_with_tree(owner, id, now).await?.map(|head| (head, Some(*seq)))
            }
            _ => self.head_and_target(owner, id, &target, now).await?,
        };
        let (head, branch) = found.ok_or(ReadError::NotFound)?;
        let backwards = query.cursor.map_or(query.from_end, |_| matches!(position, Some(Position::Before { .. })));
        let (first, last, known) = match position {
            Some(Position::After(seq, id)) => (seq.saturating_add(1), u64::MAX, Some((seq, id))),
            Some(Position::AfterSeq(seq)) => (seq.saturating_add(1), u64::MAX, None),
            Some(Position::Before { before, .. }) => (1, before.saturating_sub(1), None),
            None => (1, u64::MAX, None),
        };
        let at = if backwards { last.saturating_add(1) } else { first - 1 };
        let seqs = head.branch(branch, at, now)?.between(first, last);
        let (mut messages, next) = self.read_messages(&partition, &seqs, clamp_limit(query.limit), backwards).await?;
        let outermost = if backwards { messages.first() } else { messages.last() };
        let more = outermost.filter(|_| next.is_some()).map(|one| {
            let (seq, id) = (one.seq, one.message.id.clone());
            if backwards { Position::Before { before: seq, id } } else { Position::After(seq, id) }
        });
        let known = known.into_iter().chain(next.map(|next| (next.seq, next.message.id)));
        self.add_relations(&partition, &head.tree, &mut messages, known.collect()).await?;
        let next_cursor = more.map(|position| cursor::encode(&partition, position));
        let recoverable = messages.iter().filter_map(|message| message.recoverable_turn(&head, now)).collect();
        let items = messages.into_iter().map(|message| message.into_message(&head, now)).collect();
        Ok((Page { items, next_cursor }, recoverable))
    }

    /// A page of the messages of all branches after a seq.
    pub(crate) async fn all_messages(
        &self,
        owner: &Owner,
        id: &str,
        after: u64,
        now: SystemTime,
    ) -> Result<AllMessages, ReadError> {
        let head = self.head_with_tree(owner, id, now).await?.ok_or(ReadError::NotFound)?;
        let (partition, shown) = (owner.conversation_partition(id), head.tree.path(head.shown_leaf(now)));
        let seqs = head.tree.all().between(after.saturating_add(1), u64::MAX);
        let (mut messages, more) = self.read_messages(&partition, &seqs, clamp_limit(MAX_ROWS), false).await?;
        self.add_relations(&partition, &head.tree, &mut messages, HashMap::new()).await?;
        let next = messages.last().filter(|_| more.is_some()).map(|message| message.seq);
        let recoverable = messages.iter().filter_map(|message| message.recoverable_turn(&head, now)).collect();
        let messages = messages.into_iter();
        let messages = messages.map(|message| (!shown.contains(message.seq), message.into_message(&head, now)));
        Ok(AllMessages { messages: messages.collect(), next, recoverable })
    }

    /// A turn, also one whose answer another turn has continued since; the last turn of the answer for an unknown one.
    pub async fn find_turn(&self, owner: &Owner, turn: &TurnRef, now: SystemTime) -> Result<StoredTurn, ReadError> {
        let (id, answer_seq) = (&turn.conversation_id, turn.answer_seq);
        let head = self.head(owner, id, now).await?.ok_or(ReadError::NotFound)?;
        let found = self.message(&owner.conversation_partition(id), answer_seq).await?.ok_or(ReadError::NotFound)?;
        Ok(found.into_turn(&turn.turn_id, &head, now))
    }

    /// The turn that runs in a conversation under a valid lease.
    pub async fn running_turn(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<Option<TurnRef>, ReadError> {
        let head = self.head(owner, id, now).await?.ok_or(ReadError::NotFound)?;
        Ok(head.leased_turn().filter(|_| head.remaining_lease(now).is_some()))
    }

    /// A message with all its pieces.
    pub(super) async fn message(&self, partition: &str, seq: u64) -> Result<Option<AssembledMessage>> {
        let (messages, _) = self.read_messages(partition, &SeqRanges(vec![(seq, seq)]), 1, false).await?;
        Ok(messages.into_iter().next())
    }

    /// The first of these messages, or the last ones, each with all its pieces, up to `limit` or [`MAX_PAGE_BYTES`]; and the
    /// one that would follow, maybe without its pieces.
    async fn read_messages(
        &self,
        partition: &str,
        seqs: &SeqRanges,
        limit: usize,
        backwards: bool,
    ) -> Result<(Vec<AssembledMessage>, Option<AssembledMessage>)> {
        let (mut messages, mut pieces, mut next) = (Vec::new(), Vec::new(), None);
        let mut queries = seqs.queries();
        if backwards {
            queries.reverse();
        }
        'ranges: for (first, last) in queries {
            let query = self.table.query_range(partition, message_sk(first), format!("{}$", message_sk(last)));
            let query = query.scan_index_forward(!backwards);
            let mut start = None;
            loop {
                let wanted = i32::try_from(limit + 1 - messages.len()).unwrap_or(i32::MAX);
                let (items, after) = self.table.query_page(query.clone().limit(wanted), start).await?;
                for item in items.into_iter().filter(|item| is_in(seqs, item)) {
                    push_item(&mut messages, &mut pieces, item, backwards)?;
                }
                if messages.len() > limit || messages.len() > 1 && total_bytes(&messages) > MAX_PAGE_BYTES {
                    // Some pieces of the last one may be unread.
                    next = messages.pop();
                    break 'ranges;
                }
                if after.is_none() {
                    break;
                }
                start = after;
            }
        }
        if backwards {
            messages.reverse();
        }
        Ok((messages, next))
    }

    /// Adds to messages the ids of their parents and siblings. Ids that are not known yet are read: those of other branches.
    async fn add_relations(
        &self,
        partition: &str,
        tree: &MessageTree,
        messages: &mut [AssembledMessage],
        mut ids: HashMap<u64, String>,
    ) -> Result<()> {
        ids.extend(messages.iter().map(|one| (one.seq, one.message.id.clone())));
        let siblings: Vec<Vec<u64>> = messages.iter().map(|one| tree.siblings(one.seq)).collect();
        let parents = messages.iter().map(|one| tree.parent(one.seq)).filter(|parent| *parent > 0);
        let related = siblings.iter().filter(|all| all.len() > 1).flatten().copied().chain(parents);
        let mut unknown: Vec<u64> = related.filter(|seq| !ids.contains_key(seq)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let read = stream::iter(unknown).map(|seq| self.message_id(partition, seq)).buffer_unordered(MAX_READS);
        ids.extend(read.try_collect::<Vec<_>>().await?.into_iter().flatten());
        for (one, siblings) in messages.iter_mut().zip(siblings) {
            one.message.parent_id = ids.get(&tree.parent(one.seq)).cloned();
            if siblings.len() > 1 {
                one.message.siblings = siblings.iter().filter_map(|seq| ids.get(seq).cloned()).collect();
            }
        }
        Ok(())
    }

    async fn message_id(&self, partition: &str, seq: u64) -> Result<Option<(u64, String)>> {
        let query = self.table.query_range(partition, message_sk(seq), message_sk(seq)).projection_expression("id");
        let (items, _) = self.table.query_page(query, None).await?;
        items.first().map(|item| Ok((seq, item.text("id")?.to_owned()))).transpose()
    }
}

impl Head {
    /// The messages of the branch through the message with the seq `branch`; without one those of the shown branch, or of
    /// that through the message `at` if it is on another one.
    fn branch(&self, branch: Option<u64>, at: u64, now: SystemTime) -> Result<SeqRanges, ReadError> {
        let shown = self.tree.path(self.shown_leaf(now));
        match branch {
            Some(seq) if self.tree.role(seq).is_none() => Err(ReadError::NotFound),
            Some(seq) => Ok(self.tree.path(self.tree.newest_below(seq))),
            None if self.tree.role(at).is_none() || shown.contains(at) => Ok(shown),
            None => Ok(self.tree.path(self.tree.newest_below(at))),
        }
    }
}

fn total_bytes(messages: &[AssembledMessage]) -> usize {
    messages.iter().map(AssembledMessage::text_bytes).sum()
}

pub(super) fn clamp_limit(limit: u32) -> usize {
    limit.clamp(1, MAX_ROWS) as usize
}

/// Adds the next item of the partition: a message, or a further piece. If the newest come first, the pieces of a message
/// precede it.
fn push_item(messages: &mut Vec<AssembledMessage>, pieces: &mut Vec<Item>, item: Item, backwards: bool) -> Result<()> {
    let is_piece = is_further_piece(&item)?;
    if is_piece {
        pieces.push(item);
    } else {
        messages.push(AssembledMessage::read(&item)?);
        pieces.reverse();
    }
    if let (false, Some(message)) = (is_piece && backwards, messages.last_mut()) {
        for piece in pieces.drain(..) {
            if message.has_piece(&piece)? {
                message.append(&piece)?;
            }
        }
    }
    Ok(())
}
