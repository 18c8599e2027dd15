use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::TransactWriteItem;
use conversation::new_id;

use super::ConversationStore;
use super::chat::{CHAT, LEADS_TO, chat_item};
use super::head::{Head, first, lease, taken};
use super::message::{cut_off, running_answer, user_message};
use super::turn::{BeginError, NewTurn, Question, TurnLease};
use crate::StoreError;
use crate::item::{Read, s};
use crate::key::Owner;
use crate::pause::pause;
use crate::table::Expression;
use crate::transaction::{Outcome, transact};

/// How often a begin is retried when others change the conversation at the same moment.
const ATTEMPTS: u32 = 5;

impl ConversationStore {
    /// Creates or acquires the conversation. Stores the user's message, if it is a new one, and a running answer in the
    /// same transaction.
    ///
    /// A repeated call with the same turn id returns the same lease while that turn runs. If a concurrent request has
    /// created a conversation for the chat id, the turn continues that one: a chat id maps to one conversation.
    pub async fn begin(&self, owner: &Owner, turn: &NewTurn, now: SystemTime) -> Result<TurnLease, BeginError> {
        match (&turn.conversation_id, &turn.question) {
            (Some(id), _) => self.begin_next(owner, id, turn, now).await,
            (None, Question::Words(_)) => self.begin_new(owner, turn, now).await,
            (None, Question::Again) => Err(BeginError::NothingAsked),
        }
    }

    async fn begin_new(&self, owner: &Owner, turn: &NewTurn, now: SystemTime) -> Result<TurnLease, BeginError> {
        let lease = lease(owner, &new_id(), &turn.turn_id, 2);
        let mut writes = self.opening(owner, &lease, turn, now)?;
        writes.extend(self.messages_of(&lease, turn, now)?);
        for attempt in 0..ATTEMPTS {
            match transact(&self.table.client, writes.clone()).await {
                Ok(Outcome::Done) => return Ok(lease),
                Ok(Outcome::Refused(Some(leads))) if turn.chat_id.is_some() => {
                    return self.begin_next(owner, leads.text(LEADS_TO)?, turn, now).await;
                }
                Ok(Outcome::Refused(_)) => return Err(StoreError::fault("a fresh conversation id is taken").into()),
                Ok(Outcome::Conflict) => pause(attempt).await,
                Err(error) => return self.settle(owner, &lease.conversation_id, turn, error).await,
            }
        }
        Err(StoreError::Busy.into())
    }

    /// The writes that create the head and its chat id.
    fn opening(
        &self,
        owner: &Owner,
        lease: &TurnLease,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let absent = Expression::when("attribute_not_exists(pk)");
        let mut head = first(lease, turn, now);
        let Some(chat_id) = &turn.chat_id else { return Ok(vec![self.table.putting(head, absent)?]) };
        head.insert(CHAT.to_owned(), s(chat_id));
        let leads = chat_item(owner, chat_id, &lease.conversation_id);
        Ok(vec![self.table.putting(leads, absent.clone())?, self.table.putting(head, absent)?])
    }

    async fn begin_next(
        &self,
        owner: &Owner,
        id: &str,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<TurnLease, BeginError> {
        let mut head = self.head(owner, id).await?;
        for attempt in 0..ATTEMPTS {
            let before = head.ok_or(BeginError::NotFound)?;
            if let Some(lease) = before.lease_of(owner, &turn.turn_id) {
                return Ok(lease);
            }
            if let Some(retry_after) = before.running.as_ref().and_then(|running| running.left(now)) {
                return Err(BeginError::InProgress { retry_after });
            }
            let lease = next(owner, &before, turn);
            head = match self.take(&before, &lease, turn, now).await {
                Ok(Outcome::Done) => return Ok(lease),
                Ok(Outcome::Refused(item)) => item.map(|item| Head::read(&item)).transpose()?,
                Ok(Outcome::Conflict) => {
                    pause(attempt).await;
                    self.head(owner, id).await?
                }
                Err(error) => return self.settle(owner, id, turn, error).await,
            };
        }
        Err(StoreError::Busy.into())
    }

    async fn take(
        &self,
        before: &Head,
        lease: &TurnLease,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<Outcome, StoreError> {
        let mut writes = vec![self.table.updating(&lease.head, taken(before, lease, turn, now))?];
        writes.extend(self.messages_of(lease, turn, now)?);
        if before.running.is_some() {
            let (key, change) = cut_off(&lease.partition, before.seq);
            writes.push(self.table.updating(&key, change)?);
        }
        transact(&self.table.client, writes).await
    }

    fn messages_of(
        &self,
        lease: &TurnLease,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let mut items = match &turn.question {
            Question::Words(words) => user_message(lease, turn, words, now),
            Question::Again => Vec::new(),
        };
        items.push(running_answer(lease, turn, now));
        items.into_iter().map(|item| self.table.putting(item, Expression::default())).collect()
    }

    /// Resolves a write without a response, which may have been applied: the head shows whether this turn runs.
    async fn settle(
        &self,
        owner: &Owner,
        id: &str,
        turn: &NewTurn,
        error: StoreError,
    ) -> Result<TurnLease, BeginError> {
        if error != StoreError::Busy {
            return Err(error.into());
        }
        let head = tokio::time::timeout(SETTLE_TIMEOUT, self.head(owner, id)).await;
        let head = head.ok().and_then(Result::ok).flatten();
        head.and_then(|head| head.lease_of(owner, &turn.turn_id)).ok_or(BeginError::Store(error))
    }
}

/// Timeout of the read after a write without a response; the caller has waited already.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(3);

/// The lease of the next turn of an existing conversation.
fn next(owner: &Owner, before: &Head, turn: &NewTurn) -> TurnLease {
    let place = |answer| lease(owner, &before.id, &turn.turn_id, answer);
    match &turn.question {
        Question::Words(_) => place(before.seq + 2),
        Question::Again => TurnLease { replaces: Some(before.tip), ..place(before.seq + 1) },
    }
}
