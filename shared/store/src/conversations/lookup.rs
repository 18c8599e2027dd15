//! What is found by the id of a message or of a turn.

use std::time::{Duration, SystemTime};

use domain::{HistoryTurn, NumberedSources, Owner};
use serde_json::Value;

use super::head::{Head, new_lease};
use super::history_builder::stored_request;
use super::sort_keys::{AFTER_MESSAGES, MESSAGE_PREFIX, message_key, seq_in_sk};
use super::turn::{Target, TurnLease};
use super::{ConversationStore, ReadError, Role, Status, StoredMessage};
use crate::clock::{millis, span_millis};
use crate::item::{Item, ItemExt, n, s};
use crate::key::{OwnerPartitions, SK, is_ulid};
use crate::turn_ref::TurnRef;
use crate::{Result, StoreError};

/// How long after its end a turn can be replayed, like one with a log.
const REPLAYABLE: Duration = Duration::from_hours(1);

/// Messages in one read: a client usually resumes the last turn or the one before.
const MESSAGES_PER_READ: i32 = 8;

/// Maximum number of reads, for a turn that is not among the latest.
const MAX_READS: usize = 8;

/// An answer with the request that led to it.
#[derive(Clone, Debug)]
pub struct StoredResponse {
    /// The turn that wrote it last.
    pub turn: TurnRef,
    /// The answer.
    pub message: StoredMessage,
    /// The id of the user's message.
    pub question_id: String,
    /// Whether its conversation has nothing but its question and what follows.
    pub is_alone: bool,
    /// Whether several turns have written it.
    pub is_continued: bool,
    /// [`StoredRequest::details`](super::StoredRequest::details); `None` if the request had another form.
    pub details: Option<Value>,
    /// When its turn ended, in seconds since 1970; `None` for one that has not ended regularly.
    pub ended_secs: Option<u64>,
    /// What a turn after it reads. Nothing was acquired.
    next: TurnLease,
}

impl StoredResponse {
    /// Whether its conversation is temporary.
    pub fn is_temporary(&self) -> bool {
        self.next.is_temporary()
    }
}

impl ConversationStore {
    /// The answer with this id, which other messages may follow.
    ///
    /// # Errors
    /// [`ReadError::NotFound`] for any other id.
    pub async fn response(
        &self,
        owner: &Owner,
        id: &str,
        message_id: &str,
        now: SystemTime,
    ) -> Result<StoredResponse, ReadError> {
        let (head, seq) = self.head_and_message(owner, id, message_id, now).await?;
        let partition = owner.conversation_partition(id);
        let question_seq = head.tree.parent(seq);
        if head.tree.role(seq) != Some(Role::Assistant) || question_seq == 0 {
            return Err(ReadError::NotFound);
        }
        let question = self.table.get(&message_key(&partition, question_seq)).await?;
        let question = question.ok_or_else(|| StoreError::fault("an answer without its question"))?;
        let message = self.message(&partition, seq).await?.ok_or(ReadError::NotFound)?;
        let lease = new_lease(owner, id, &message.turn_id, head.language, &head.tree, seq).continuing(&head);
        let turn = TurnRef::new(&message.turn_id, id, seq);
        let (is_continued, ended_secs) = (!message.earlier.is_empty(), message.ended_secs);
        let message = message.into_message(&head, now);
        let interrupted = (message.status == Status::Interrupted).then(|| turn.clone());
        Ok(StoredResponse {
            question_id: question.text("id")?.to_owned(),
            is_alone: head.tree.subtree(question_seq).count() == head.tree.all().count(),
            is_continued,
            details: stored_request(&question)?.map(|request| request.details),
            ended_secs,
            next: TurnLease { before: head.tree.path(seq), interrupted, ..lease },
            turn,
            message,
        })
    }

    /// The turns up to an answer as [`Self::history`] has those before a turn, and the conversation's numbered pages.
    pub async fn history_to(
        &self,
        StoredResponse { next, .. }: &StoredResponse,
        budget: usize,
    ) -> Result<(Vec<HistoryTurn>, NumberedSources), StoreError> {
        futures_util::try_join!(self.history(next, budget), self.sources(next))
    }

    /// The turn with this id if it ended within the last hour and its answer is among the latest messages, also if another
    /// answer supersedes it; `None` for any other turn.
    pub async fn find_ended_turn(
        &self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        now: SystemTime,
    ) -> Result<Option<TurnRef>> {
        if !is_ulid(conversation_id) || !is_ulid(turn_id) {
            return Ok(None);
        }
        let partition = owner.conversation_partition(conversation_id);
        let query = self.table.query_range(&partition, MESSAGE_PREFIX, AFTER_MESSAGES);
        let query = query
            .filter_expression("turn = :turn AND endedAt > :since")
            .expression_attribute_values(":turn", s(turn_id))
            .expression_attribute_values(":since", n(millis(now).saturating_sub(span_millis(REPLAYABLE))));
        let query = query.projection_expression("sk").scan_index_forward(false).limit(MESSAGES_PER_READ);
        let mut pages = self.table.pages(query);
        for _ in 0..MAX_READS {
            let Some(items) = pages.next().await? else { break };
            if let Some(item) = items.last() {
                return Ok(seq_in_sk(item.text(SK)?).map(|seq| TurnRef::new(turn_id, conversation_id, seq)));
            }
        }
        Ok(None)
    }

    /// Whether a conversation has a message with this id, on any branch.
    pub async fn has_message(&self, owner: &Owner, id: &str, message: &str) -> Result<bool> {
        match self.head_and_message(owner, id, message, SystemTime::now()).await {
            Ok((head, seq)) => Ok(head.tree.role(seq).is_some()),
            Err(ReadError::Store(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// The head, and the seq of the target if it is a message; `None` if one of them is unknown.
    pub(super) async fn head_and_target(
        &self,
        owner: &Owner,
        id: &str,
        target: &Target,
        now: SystemTime,
    ) -> Result<Option<(Head, Option<u64>)>> {
        let Target::Message(message) = target else {
            return Ok(self.head_with_tree(owner, id, now).await?.map(|head| (head, None)));
        };
        match self.head_and_message(owner, id, message, now).await {
            Ok((head, seq)) => Ok(Some((head, Some(seq)))),
            Err(ReadError::Store(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The head, and the seq of a message, which may be deleted.
    pub(super) async fn head_and_message(
        &self,
        owner: &Owner,
        id: &str,
        message: &str,
        now: SystemTime,
    ) -> Result<(Head, u64), ReadError> {
        if !is_ulid(id) {
            return Err(ReadError::NotFound);
        }
        let (head, found) =
            futures_util::try_join!(self.head_with_tree(owner, id, now), self.find_message(owner, id, message))?;
        let seq = found.and_then(|item| seq_in_sk(item.text(SK).ok()?));
        head.zip(seq).ok_or(ReadError::NotFound)
    }

    /// The item of the message with this id, on any branch; `None` for an unknown one.
    pub(super) async fn find_message(&self, owner: &Owner, id: &str, message: &str) -> Result<Option<Item>> {
        if !is_ulid(id) || !is_ulid(message) {
            return Ok(None);
        }
        let query = self.table.query_range(&owner.conversation_partition(id), MESSAGE_PREFIX, AFTER_MESSAGES);
        let query = query.filter_expression("id = :id").expression_attribute_values(":id", s(message));
        // Usually one of the last is meant.
        self.table.first(query.scan_index_forward(false)).await
    }
}
