use std::time::SystemTime;

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::ConversationStore;
use super::head::lease_end;
use super::message::{ASIDE, answer_key, ended_answer, is_ended_by, message_key, stands};
use super::stop::{STOPPING, renewed};
use super::transcript::{ended, summary_item, transcript_key};
use super::turn::{Answer, LeaseError, Renewed, TurnLease};
use crate::clock::millis;
use crate::item::{n, s};
use crate::key::Key;
use crate::pause::pause;
use crate::table::{Expression, Write};
use crate::transaction::{Outcome, transact};
use crate::{StoreError, UPDATED_AT};

/// How often an end is tried again when something else changes the conversation at the same moment.
const ATTEMPTS: u32 = 5;

impl ConversationStore {
    /// Extends the lease by its full length from `now`, and says whether the turn shall go on.
    pub async fn renew(&self, lease: &TurnLease, now: SystemTime) -> Result<Renewed, LeaseError> {
        let extended = Expression::update("SET leaseUntil = :until")
            .and_when("turn = :turn")
            .value(":until", n(lease_end(now)))
            .value(":turn", s(&lease.turn_id));
        match self.table.update_and_read(&lease.head, extended).await? {
            Write::Done(head) => Ok(renewed(&head.unwrap_or_default(), lease)),
            Write::Refused(_) => Err(LeaseError::Lost),
        }
    }

    /// Stores the answer and frees the conversation, in one transaction; once.
    ///
    /// An answer to a question that was answered before stands for the earlier answer from now on, unless it says nothing.
    /// A second call for the same turn changes nothing and succeeds. A lease that ran out still counts as long as no other
    /// turn took the conversation. Nothing is written into a conversation that was deleted.
    pub async fn finish(&self, lease: &TurnLease, answer: &Answer, now: SystemTime) -> Result<(), LeaseError> {
        for attempt in 0..ATTEMPTS {
            let outcome = transact(&self.table.client, self.end(lease, answer, now)?).await;
            match outcome {
                Ok(Outcome::Done) => return Ok(()),
                Ok(Outcome::Refused(_)) if self.has_ended(lease).await? => return Ok(()),
                Ok(Outcome::Refused(_)) => return Err(LeaseError::Lost),
                Ok(Outcome::Conflict) => pause(attempt).await,
                // A write without an answer may have happened.
                Err(StoreError::Busy) if self.has_ended(lease).await.unwrap_or(false) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Busy.into())
    }

    fn end(&self, lease: &TurnLease, answer: &Answer, now: SystemTime) -> Result<Vec<TransactWriteItem>, StoreError> {
        let tip = lease.replaces.filter(|_| !stands(lease, answer)).unwrap_or(lease.answer);
        let freed =
            Expression::update(format!("SET {UPDATED_AT} = :updated, tip = :tip REMOVE turn, leaseUntil, {STOPPING}"))
                .and_when("turn = :turn")
                .value(":tip", n(tip))
                .value(":updated", n(millis(now)))
                .value(":turn", s(&lease.turn_id));
        let (answer_key, answered, further) = ended_answer(lease, answer, now)?;
        let (transcript_key, said) = ended(lease, answer)?;
        let mut writes = vec![
            self.table.updating(&lease.head, freed)?,
            self.table.updating(&answer_key, answered)?,
            self.table.updating(&transcript_key, said)?,
        ];
        if let Some(summary) = &answer.summary {
            writes.push(self.table.putting(summary_item(lease, summary)?, Expression::default())?);
        }
        for key in replaced(lease).filter(|_| stands(lease, answer)) {
            let aside = Expression::update(format!("SET {ASIDE} = :aside")).and_when("attribute_exists(pk)");
            writes.push(self.table.updating(&key, aside.value(":aside", n(1)))?);
        }
        for item in further {
            writes.push(self.table.putting(item, Expression::default())?);
        }
        Ok(writes)
    }

    /// Whether this same turn ended earlier, also by a write whose answer was lost.
    async fn has_ended(&self, lease: &TurnLease) -> Result<bool, StoreError> {
        let message = self.table.get(&answer_key(lease)).await?;
        Ok(message.is_some_and(|message| is_ended_by(&message, &lease.turn_id)))
    }
}

/// The message and the transcript that the turn's own stand for.
fn replaced(lease: &TurnLease) -> impl Iterator<Item = Key> {
    let keys = |place| [message_key(&lease.partition, place), transcript_key(&lease.partition, place)];
    lease.replaces.into_iter().flat_map(keys)
}
