use std::time::SystemTime;

use domain::{HistoryTurn, NumberedSources, Owner};
use serde_json::Value;

use super::head::new_lease;
use super::history_builder::stored_request;
use super::sort_keys::message_key;
use super::turn::TurnLease;
use super::{ConversationStore, ReadError, Role, StoredMessage};
use crate::StoreError;
use crate::item::ItemExt;
use crate::key::OwnerPartitions;
use crate::turn_ref::TurnRef;

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
        Ok(StoredResponse {
            question_id: question.text("id")?.to_owned(),
            is_alone: head.tree.subtree(question_seq).count() == head.tree.all().count(),
            is_continued: !message.earlier.is_empty(),
            details: stored_request(&question)?.map(|request| request.details),
            ended_secs: message.ended_secs,
            next: TurnLease { before: head.tree.path(seq), ..lease },
            turn,
            message: message.into_message(&head, now),
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
}
