use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::ConversationStore;
use super::aside::{replaced, stands};
use super::head::lease_end;
use super::message::{answer_key, ended_answer, is_ended_by};
use super::stop::{STOPPING, renewed};
use super::transcript::{Transcript, placed, summary_item};
use super::turn::{Answer, LeaseError, Renewed, TurnLease};
use crate::clock::millis;
use crate::item::{n, s};
use crate::pause::pause;
use crate::stream_log::LoggedEnd;
use crate::table::{Expression, Write};
use crate::transaction::{Outcome, transact};
use crate::{StoreError, UPDATED_AT};

/// How often an end is retried when others change the conversation at the same moment.
const ATTEMPTS: u32 = 5;

/// Timeout of the optional writes, a transcript in advance and the end of a log: the lease is not renewed meanwhile,
/// and the answer is worth more.
const PATIENCE: Duration = Duration::from_secs(2);

/// The outcome of the transaction that ends a turn.
#[derive(PartialEq, Eq)]
enum End {
    Stored,
    /// Stored with the end of the log.
    Logged,
    /// A condition failed.
    Refused,
}

impl ConversationStore {
    /// Extends the lease by its full length from `now`, and returns whether a stop was requested.
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

    /// Stores the answer and frees the conversation in one transaction, once. A long transcript is written before, and
    /// becomes valid with the answer. If the storage is too busy or too slow for it, the answer is stored without it.
    ///
    /// A regenerated answer supersedes the earlier one if it is complete and has text. A second call for the same turn
    /// changes nothing and succeeds. An expired lease is still valid while no other turn has acquired the conversation.
    /// Nothing is written into a deleted conversation.
    pub async fn finish(&self, lease: &TurnLease, answer: &Answer, now: SystemTime) -> Result<(), LeaseError> {
        let end = self.end(lease, answer, None, now).await;
        self.ended(lease, end).await.map(drop)
    }

    /// Like [`finish`](Self::finish), but also stores the tail of the turn's log in the same transaction; returns
    /// whether the log surely has it.
    ///
    /// So the log has its tail only if the answer is stored, and a deletion of the conversation finds it. If the two
    /// cannot be stored together within two seconds, the answer is stored without the log.
    pub async fn finish_logged(
        &self,
        lease: &TurnLease,
        answer: &Answer,
        log: LoggedEnd,
        now: SystemTime,
    ) -> Result<bool, LeaseError> {
        let end = self.end(lease, answer, Some(log), now).await;
        self.ended(lease, end).await.map(|end| end == End::Logged)
    }

    /// Resolves an end that may have been stored by an earlier call, or by a call without a response.
    async fn ended(&self, lease: &TurnLease, end: Result<End, StoreError>) -> Result<End, LeaseError> {
        match end {
            Ok(End::Refused) if self.has_ended(lease).await? => Ok(End::Stored),
            Ok(End::Refused) => Err(LeaseError::Lost),
            Err(StoreError::Busy) if self.has_ended(lease).await.unwrap_or(false) => Ok(End::Stored),
            end => Ok(end?),
        }
    }

    async fn end(
        &self,
        lease: &TurnLease,
        answer: &Answer,
        log: Option<LoggedEnd>,
        now: SystemTime,
    ) -> Result<End, StoreError> {
        let transcript = match Transcript::of(lease, answer)? {
            Some(large) if large.is_large() => match self.write_in_time(lease, &large).await {
                Ok(true) => Some(large),
                Ok(false) => return Ok(End::Refused),
                // A late write of it is never read.
                Err(StoreError::Busy) => None,
                Err(error) => return Err(error),
            },
            small => small,
        };
        let writes = self.last_writes(lease, answer, transcript.as_ref(), now)?;
        if let Some(LoggedEnd(put)) = log {
            let written = self.written([writes.as_slice(), &[put]].concat());
            match tokio::time::timeout(PATIENCE, written).await.unwrap_or(Err(StoreError::Busy)) {
                Ok(true) => return Ok(End::Logged),
                Ok(false) => return Ok(End::Refused),
                Err(error) => tracing::warn!(%error, "an answer could not be stored with the end of its log"),
            }
        }
        Ok(if self.written(writes).await? { End::Stored } else { End::Refused })
    }

    async fn write_in_time(&self, lease: &TurnLease, large: &Transcript) -> Result<bool, StoreError> {
        let ahead = tokio::time::timeout(PATIENCE, self.write_ahead(lease, large)).await;
        let ahead = ahead.unwrap_or(Err(StoreError::Busy));
        if ahead == Err(StoreError::Busy) {
            tracing::warn!("an answer is stored without its transcript, which could not be written");
        }
        ahead
    }

    /// Writes a transcript that is not valid yet; false if the turn has lost its lease, or has ended.
    ///
    /// A transaction under the lease reserves its key before the head can be deleted, so a deletion of the items under
    /// a head finds it. A late transcript is written to this key only.
    async fn write_ahead(&self, lease: &TurnLease, transcript: &Transcript) -> Result<bool, StoreError> {
        // Changes nothing; a condition check costs the same and needs one more permission.
        let holds = Expression::update("SET turn = :turn").and_when("turn = :turn").value(":turn", s(&lease.turn_id));
        let (key, place) = placed(lease);
        let kept = vec![self.table.updating(&lease.head, holds)?, self.table.updating(&key, place)?];
        let known = match self.written(kept).await {
            // The key may have been reserved although the response was lost.
            Err(StoreError::Busy) => Err(StoreError::Busy),
            Ok(true) => Ok(false),
            other => return other,
        };
        match self.table.update(&key, transcript.written(lease)).await? {
            Write::Done(_) => Ok(true),
            Write::Refused(_) => known,
        }
    }

    /// Applies all writes; false if a condition failed.
    async fn written(&self, writes: Vec<TransactWriteItem>) -> Result<bool, StoreError> {
        for attempt in 0..ATTEMPTS {
            match transact(&self.table.client, writes.clone()).await? {
                Outcome::Done => return Ok(true),
                Outcome::Refused(_) => return Ok(false),
                Outcome::Conflict => pause(attempt).await,
            }
        }
        Err(StoreError::Busy)
    }

    fn last_writes(
        &self,
        lease: &TurnLease,
        answer: &Answer,
        transcript: Option<&Transcript>,
        now: SystemTime,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let tip = lease.replaces.filter(|_| !stands(lease, answer)).unwrap_or(lease.answer);
        let freed =
            Expression::update(format!("SET {UPDATED_AT} = :updated, tip = :tip REMOVE turn, leaseUntil, {STOPPING}"))
                .and_when("turn = :turn")
                .value(":tip", n(tip))
                .value(":updated", n(millis(now)))
                .value(":turn", s(&lease.turn_id));
        let (answer_key, answered, further) = ended_answer(lease, answer, transcript, now)?;
        let mut writes = vec![self.table.updating(&lease.head, freed)?, self.table.updating(&answer_key, answered)?];
        if let Some((key, aside)) = replaced(lease, answer) {
            writes.push(self.table.updating(&key, aside)?);
        }
        let summary = answer.summary.as_ref().map(|summary| summary_item(lease, summary)).transpose()?;
        let transcript = transcript.filter(|transcript| !transcript.is_large()).map(|small| small.item(lease));
        for item in transcript.into_iter().chain(summary).chain(further) {
            writes.push(self.table.putting(item, Expression::default())?);
        }
        Ok(writes)
    }

    /// Whether this same turn ended earlier, also by a write whose response was lost.
    async fn has_ended(&self, lease: &TurnLease) -> Result<bool, StoreError> {
        let message = self.table.get(&answer_key(lease)).await?;
        Ok(message.is_some_and(|message| is_ended_by(&message, &lease.turn_id)))
    }
}
