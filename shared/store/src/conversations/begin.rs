use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::{Owner, new_id};

use super::ConversationStore;
use super::chat_id::{CHAT_ID_ATTRIBUTE, CONVERSATION_ATTRIBUTE, chat_id_item};
use super::continued::continue_update;
use super::head::{HEAD_PREFIX, Head, new_head_item, new_lease};
use super::message::{interrupt_update, running_answer_item, user_message_items};
use super::next_turn::{NextTurn, acquire_update};
use super::tree::MessageTree;
use super::turn::{BeginError, FIRST_ANSWER, NewTurn, TurnLease, UserInput};
use crate::attachments::use_writes;
use crate::backoff::{back_off, within};
use crate::item::{Item, ItemExt, s};
use crate::key::SK;
use crate::table::{Expression, WriteOutcome};
use crate::transaction::TransactionOutcome;
use crate::{Result, StoreError};

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
        let beginning = Beginning { store: self, owner, turn, now };
        match (&turn.conversation_id, &turn.input) {
            (Some(id), _) => beginning.in_conversation(id).await,
            (None, UserInput::Message(_)) => beginning.in_new_conversation().await,
            (None, UserInput::Regenerate | UserInput::Continue) => Err(BeginError::NothingToRegenerate),
        }
    }
}

/// A turn that begins.
struct Beginning<'a> {
    store: &'a ConversationStore,
    owner: &'a Owner,
    turn: &'a NewTurn,
    now: SystemTime,
}

impl Beginning<'_> {
    async fn in_new_conversation(&self) -> Result<TurnLease, BeginError> {
        let Self { store, owner, turn, now } = *self;
        let tree = MessageTree::linear(FIRST_ANSWER);
        let lease = new_lease(owner, &new_id(), &turn.turn_id, turn.language, &tree, FIRST_ANSWER).beginning(turn, now);
        let mut writes = self.create_writes(&lease);
        writes.extend(self.message_writes(&lease));
        match store.table.commit(writes).await {
            Ok(WriteOutcome::Written(_)) => Ok(lease),
            Ok(WriteOutcome::ConditionFailed(Some(item))) if turn.is_key_record(&item) => Err(BeginError::KeyInUse),
            Ok(WriteOutcome::ConditionFailed(Some(pointer))) if turn.chat_id.is_some() => {
                self.in_conversation(pointer.text(CONVERSATION_ATTRIBUTE)?).await
            }
            // A file was deleted meanwhile.
            Ok(WriteOutcome::ConditionFailed(None)) => Err(BeginError::NotFound),
            Ok(WriteOutcome::ConditionFailed(_)) => Err(StoreError::fault("a fresh conversation id is taken").into()),
            Err(error) => self.resolve_unknown_write(&lease, error).await,
        }
    }

    /// The writes that create the head and its chat id.
    fn create_writes(&self, lease: &TurnLease) -> Vec<TransactWriteItem> {
        let (table, absent) = (&self.store.table, Expression::when("attribute_not_exists(pk)"));
        let mut head = new_head_item(lease, self.turn, self.now);
        let Some(chat_id) = &self.turn.chat_id else { return vec![table.put_write(head, absent)] };
        head.insert(CHAT_ID_ATTRIBUTE.to_owned(), s(chat_id));
        let pointer = chat_id_item(self.owner, chat_id, &lease.conversation_id);
        vec![table.put_write(pointer, absent.clone()), table.put_write(head, absent)]
    }

    async fn in_conversation(&self, id: &str) -> Result<TurnLease, BeginError> {
        let Self { store, owner, turn, now } = *self;
        let (mut head, target) = match store.head_and_target(owner, id, &turn.target, now).await? {
            Some((head, target)) => (Some(head), target),
            None => return Err(BeginError::NotFound),
        };
        for attempt in 0..MAX_ATTEMPTS {
            let before = head.ok_or(BeginError::NotFound)?;
            if turn.temporary && before.expires_secs.is_none() {
                return Err(BeginError::NotTemporary);
            }
            if let Some(lease) = before.lease_of(owner, &turn.turn_id) {
                return store.with_continued(lease, turn).await;
            }
            if let Some(retry_after) = before.remaining_lease(now) {
                return Err(BeginError::InProgress { retry_after });
            }
            let mut next = NextTurn::after(owner, &before, turn, target, now)?;
            next.lease = store.with_continued(next.lease, turn).await?;
            head = match self.acquire(&before, &next).await {
                Ok(TransactionOutcome::Committed) => return Ok(next.lease),
                Ok(TransactionOutcome::ConditionFailed(Some(item))) if turn.is_key_record(&item) => {
                    return Err(BeginError::KeyInUse);
                }
                // An answer that another turn has continued since is no head.
                Ok(TransactionOutcome::ConditionFailed(Some(item))) if !is_head(&item) => {
                    store.head_with_tree(owner, id, now).await?
                }
                Ok(TransactionOutcome::ConditionFailed(None)) => None,
                Ok(TransactionOutcome::ConditionFailed(Some(item))) => {
                    Some(store.with_tree(owner, Head::read(&item)?).await?)
                }
                Ok(TransactionOutcome::Conflict) => {
                    back_off(attempt).await;
                    store.head_with_tree(owner, id, now).await?
                }
                Err(error) => return self.resolve_unknown_write(&next.lease, error).await,
            };
        }
        Err(StoreError::Busy.into())
    }

    async fn acquire(&self, before: &Head, next: &NextTurn) -> Result<TransactionOutcome> {
        let (table, lease) = (&self.store.table, &next.lease);
        let mut writes = vec![table.update_write(&lease.head, acquire_update(before, next, self.turn, self.now))];
        writes.extend(self.message_writes(lease));
        // The answer of a dead turn that is continued runs again.
        if let Some(dead) = before.running.as_ref().filter(|dead| dead.answer_seq != lease.answer_seq) {
            let (key, change) = interrupt_update(&lease.partition, dead.answer_seq);
            writes.push(table.update_write(&key, change));
        }
        table.transact(writes).await
    }

    fn message_writes(&self, lease: &TurnLease) -> Vec<TransactWriteItem> {
        let Self { store: ConversationStore { table, ephemeral }, owner, turn, now } = *self;
        let mut items = match &turn.input {
            UserInput::Message(text) => user_message_items(lease, turn, text, now),
            UserInput::Regenerate | UserInput::Continue => Vec::new(),
        };
        let continued = lease.continued.as_ref().map(|continued| {
            let (key, change) = continue_update(lease, continued, turn, now);
            table.update_write(&key, change)
        });
        items.extend(continued.is_none().then(|| running_answer_item(lease, turn, now)));
        let writes = items.into_iter().map(|item| table.put_write(lease.expiring(item), Expression::default()));
        let turn_ref = lease.turn_ref();
        let claim = turn.idempotency.iter().map(|claim| claim.write(ephemeral, &turn_ref, lease.expires_secs, now));
        let message = (lease.conversation_id.as_str(), turn.user_message_id.as_str());
        let files = use_writes(table, owner, message, &turn.attachments, lease.expires_secs);
        continued.into_iter().chain(writes).chain(files).chain(claim).collect()
    }

    /// Resolves a write without a response, which may have been applied: the head shows whether this turn runs.
    async fn resolve_unknown_write(&self, requested: &TurnLease, error: StoreError) -> Result<TurnLease, BeginError> {
        if error != StoreError::Busy {
            return Err(error.into());
        }
        let read = self.store.head(self.owner, &requested.conversation_id, self.now);
        let head = within(RESOLVE_TIMEOUT, read).await.ok().flatten();
        let lease = head.and_then(|head| head.lease_of(self.owner, &requested.turn_id));
        let lease = lease.ok_or(BeginError::Store(error))?;
        Ok(TurnLease { interrupted: requested.interrupted.clone(), continued: requested.continued.clone(), ..lease })
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

fn is_head(item: &Item) -> bool {
    item.text(SK).is_ok_and(|sk| sk.starts_with(HEAD_PREFIX))
}
