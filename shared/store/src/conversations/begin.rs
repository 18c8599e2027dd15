use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::new_id;

use super::ConversationStore;
use super::chat_id::{CHAT_ID_ATTRIBUTE, CONVERSATION_ATTRIBUTE, chat_id_item};
use super::head::{Head, acquire_update, new_head_item, new_lease};
use super::message::{interrupt_update, running_answer_item, user_message_items};
use super::turn::{BeginError, NewTurn, TurnLease, UserInput};
use crate::StoreError;
use crate::backoff::{back_off, within};
use crate::item::{Item, ItemExt, s};
use crate::table::{Expression, WriteOutcome};
use crate::transaction::TransactionOutcome;
use domain::Owner;

/// How often a begin is retried when others change the conversation at the same moment.
const MAX_ATTEMPTS: u32 = 5;

impl ConversationStore {
    /// Creates or acquires the conversation. Stores the user's message, if it is a new one, and a running answer in the
    /// same transaction.
    ///
    /// The idempotency key of the turn is mapped to it in that transaction too.
    ///
    /// A repeated call with the same turn id returns the same lease while that turn runs. If a concurrent request has
    /// created a conversation for the chat id, the turn continues that one: a chat id maps to one conversation.
    pub async fn begin(&self, owner: &Owner, turn: &NewTurn, now: SystemTime) -> Result<TurnLease, BeginError> {
        match (&turn.conversation_id, &turn.input) {
            (Some(id), _) => self.begin_next(owner, id, turn, now).await,
            (None, UserInput::Message(_)) => self.begin_new(owner, turn, now).await,
            (None, UserInput::Regenerate) => Err(BeginError::NothingToRegenerate),
        }
    }

    async fn begin_new(&self, owner: &Owner, turn: &NewTurn, now: SystemTime) -> Result<TurnLease, BeginError> {
        let lease = new_lease(owner, &new_id(), &turn.turn_id, turn.language, 2);
        let mut writes = self.create_writes(owner, &lease, turn, now)?;
        writes.extend(self.message_writes(&lease, turn, now)?);
        match self.table.commit(writes).await {
            Ok(WriteOutcome::Written(_)) => Ok(lease),
            Ok(WriteOutcome::ConditionFailed(Some(item))) if turn.is_key_record(&item) => Err(BeginError::KeyInUse),
            Ok(WriteOutcome::ConditionFailed(Some(pointer))) if turn.chat_id.is_some() => {
                self.begin_next(owner, pointer.text(CONVERSATION_ATTRIBUTE)?, turn, now).await
            }
            Ok(WriteOutcome::ConditionFailed(_)) => Err(StoreError::fault("a fresh conversation id is taken").into()),
            Err(error) => self.resolve_unknown_write(owner, &lease, error).await,
        }
    }

    /// The writes that create the head and its chat id.
    fn create_writes(
        &self,
        owner: &Owner,
        lease: &TurnLease,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let absent = Expression::when("attribute_not_exists(pk)");
        let mut head = new_head_item(lease, turn, now);
        let Some(chat_id) = &turn.chat_id else { return Ok(vec![self.table.put_write(head, absent)?]) };
        head.insert(CHAT_ID_ATTRIBUTE.to_owned(), s(chat_id));
        let pointer = chat_id_item(owner, chat_id, &lease.conversation_id);
        Ok(vec![self.table.put_write(pointer, absent.clone())?, self.table.put_write(head, absent)?])
    }

    async fn begin_next(
        &self,
        owner: &Owner,
        id: &str,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<TurnLease, BeginError> {
        let mut head = self.head(owner, id).await?;
        for attempt in 0..MAX_ATTEMPTS {
            let before = head.ok_or(BeginError::NotFound)?;
            if let Some(lease) = before.lease_of(owner, &turn.turn_id) {
                return Ok(lease);
            }
            if let Some(retry_after) = before.running.as_ref().and_then(|running| running.remaining_lease(now)) {
                return Err(BeginError::InProgress { retry_after });
            }
            let lease = next_lease(owner, &before, turn);
            head = match self.acquire(&before, &lease, turn, now).await {
                Ok(TransactionOutcome::Committed) => return Ok(lease),
                Ok(TransactionOutcome::ConditionFailed(Some(item))) if turn.is_key_record(&item) => {
                    return Err(BeginError::KeyInUse);
                }
                Ok(TransactionOutcome::ConditionFailed(item)) => item.map(|item| Head::read(&item)).transpose()?,
                Ok(TransactionOutcome::Conflict) => {
                    back_off(attempt).await;
                    self.head(owner, id).await?
                }
                Err(error) => return self.resolve_unknown_write(owner, &lease, error).await,
            };
        }
        Err(StoreError::Busy.into())
    }

    async fn acquire(
        &self,
        before: &Head,
        lease: &TurnLease,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<TransactionOutcome, StoreError> {
        let mut writes = vec![self.table.update_write(&lease.head, acquire_update(before, lease, turn, now))?];
        writes.extend(self.message_writes(lease, turn, now)?);
        if before.running.is_some() {
            let (key, change) = interrupt_update(&lease.partition, before.last_seq);
            writes.push(self.table.update_write(&key, change)?);
        }
        self.table.transact(writes).await
    }

    fn message_writes(
        &self,
        lease: &TurnLease,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let mut items = match &turn.input {
            UserInput::Message(text) => user_message_items(lease, turn, text, now),
            UserInput::Regenerate => Vec::new(),
        };
        items.push(running_answer_item(lease, turn, now));
        let writes = items.into_iter().map(|item| self.table.put_write(item, Expression::default()));
        let turn_ref = lease.turn_ref();
        writes.chain(turn.idempotency.iter().map(|claim| claim.write(&turn_ref, now))).collect()
    }

    /// Resolves a write without a response, which may have been applied: the head shows whether this turn runs.
    async fn resolve_unknown_write(
        &self,
        owner: &Owner,
        requested: &TurnLease,
        error: StoreError,
    ) -> Result<TurnLease, BeginError> {
        if error != StoreError::Busy {
            return Err(error.into());
        }
        let head = within(RESOLVE_TIMEOUT, self.head(owner, &requested.conversation_id)).await.ok().flatten();
        let lease = head.and_then(|head| head.lease_of(owner, &requested.turn_id)).ok_or(BeginError::Store(error))?;
        Ok(TurnLease { interrupted: requested.interrupted.clone(), ..lease })
    }
}

impl NewTurn {
    /// Whether an item is the record of the turn's idempotency key.
    fn is_key_record(&self, item: &Item) -> bool {
        self.idempotency.as_ref().is_some_and(|claim| claim.is_record(item))
    }
}

/// Timeout of the read after a write without a response; the caller has waited already.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);

/// The lease of the next turn of an existing conversation.
fn next_lease(owner: &Owner, before: &Head, turn: &NewTurn) -> TurnLease {
    let lease_at = |answer| TurnLease {
        interrupted: before.leased_turn(),
        ..new_lease(owner, &before.id, &turn.turn_id, before.language, answer).with_sources_of(before)
    };
    match &turn.input {
        UserInput::Message(_) => lease_at(before.last_seq + 2),
        UserInput::Regenerate => {
            TurnLease { replaced_seq: Some(before.current_answer_seq), ..lease_at(before.last_seq + 1) }
        }
    }
}
