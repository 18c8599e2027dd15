use std::time::SystemTime;

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::ConversationStore;
use super::head::lease_end;
use super::message::{answer_key, ended_answer, is_ended_by};
use super::transcript::{ended, summary_item};
use super::turn::{Answer, LeaseError, TurnLease};
use crate::clock::millis;
use crate::item::{n, s};
use crate::pause::pause;
use crate::table::{Expression, Write};
use crate::transaction::{Outcome, transact};
use crate::{StoreError, UPDATED_AT};

/// How often an end is tried again when something else changes the conversation at the same moment.
const ATTEMPTS: u32 = 5;

impl ConversationStore {
    /// Extends the lease by its full length from `now`.
    pub async fn renew(&self, lease: &TurnLease, now: SystemTime) -> Result<(), LeaseError> {
        let extended = Expression::update("SET leaseUntil = :until")
            .and_when("turn = :turn")
            .value(":until", n(lease_end(now)))
            .value(":turn", s(&lease.turn_id));
        match self.table.update(&lease.head, extended).await? {
            Write::Done(_) => Ok(()),
            Write::Refused(_) => Err(LeaseError::Lost),
        }
    }

    /// Stores the answer and frees the conversation, in one transaction; once.
    ///
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
        let freed = Expression::update(format!("SET {UPDATED_AT} = :updated REMOVE turn, leaseUntil"))
            .and_when("turn = :turn")
            .value(":updated", n(millis(now)))
            .value(":turn", s(&lease.turn_id));
        let (answer_key, answered, further) = ended_answer(lease, answer, now)?;
        let (transcript_key, said) = ended(lease, &answer.transcript)?;
        let mut writes = vec![
            self.table.updating(&lease.head, freed)?,
            self.table.updating(&answer_key, answered)?,
            self.table.updating(&transcript_key, said)?,
        ];
        if let Some(summary) = &answer.summary {
            writes.push(self.table.putting(summary_item(lease, summary)?, Expression::default())?);
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
