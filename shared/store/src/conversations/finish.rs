use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::TransactWriteItem;

use super::head::{ANSWERING, BACK, STOPPING, TITLE_FROM, TITLED_IN, lease_end, truncate_title};
use super::message::{answer_key, end_answer, is_ended_by};
use super::sort_keys::transcript_key;
use super::sources::{LAST_SOURCE, added_sources};
use super::stop::lease_state;
use super::transcript::{Transcript, reserve_update, summary_item};
use super::turn::{Answer, LeaseError, LeaseState, TurnLease};
use super::{ConversationStore, TitleSource};
use crate::answer_writes::AnswerWrites;
use crate::backoff::within;
use crate::clock::millis;
use crate::item::{ItemExt, n, s, variant};
use crate::table::{Expression, WriteOutcome};
use crate::transaction::TransactionOutcome;
use crate::{Result, StoreError, UPDATED_AT};

/// Timeout of the optional writes, a transcript in advance and what is stored with the answer: the lease is not renewed
/// meanwhile, and the answer is worth more.
const OPTIONAL_WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// The outcome of the transaction that ends a turn.
#[derive(PartialEq, Eq)]
enum EndOutcome {
    Stored,
    /// Stored together with the further writes.
    StoredTogether,
    ConditionFailed,
}

impl ConversationStore {
    /// Extends the lease by its full length from `now`, and returns whether a stop was requested.
    pub async fn renew(&self, lease: &TurnLease, now: SystemTime) -> Result<LeaseState, LeaseError> {
        let extended = Expression::update("SET leaseUntil = :until")
            .and_when("turn = :turn")
            .value(":until", n(lease_end(now)))
            .value(":turn", s(&lease.turn_id));
        match self.table.update_and_read(&lease.head, extended).await? {
            WriteOutcome::Written(head) => Ok(lease_state(&head.unwrap_or_default(), lease)),
            WriteOutcome::ConditionFailed(_) => Err(LeaseError::Lost),
        }
    }

    /// Stores the answer and frees the conversation in one transaction, once. The answer holds its transcript; a long one
    /// is written before, and becomes valid with the answer. If the storage is too busy or too slow for it, the answer is
    /// stored without it.
    ///
    /// The branch of a regenerated answer remains the shown one if it is complete and has text. Nothing is stored if the
    /// answer has a title that is no longer the conversation's. A second call for the same turn changes nothing and succeeds.
    /// An expired lease is still valid while no other turn has acquired the conversation. Nothing is written into a
    /// deleted conversation.
    ///
    /// Further writes are stored in the same transaction; returns whether they surely are. So they exist only if the
    /// answer is stored, and a deletion of the conversation finds them. If all of it cannot be stored together within two
    /// seconds, or another transaction holds one of the items, the answer is stored alone.
    pub async fn finish_with(
        &self,
        lease: &TurnLease,
        answer: &Answer,
        further: AnswerWrites,
        now: SystemTime,
    ) -> Result<bool, LeaseError> {
        let end = self.commit_end(lease, answer, further, now).await;
        self.resolve_end(lease, answer, end).await.map(|end| end == EndOutcome::StoredTogether)
    }

    /// Resolves an end that may have been stored by an earlier call, or by a call without a response.
    async fn resolve_end(
        &self,
        lease: &TurnLease,
        answer: &Answer,
        end: Result<EndOutcome>,
    ) -> Result<EndOutcome, LeaseError> {
        match end {
            Ok(EndOutcome::ConditionFailed) if self.has_ended(lease).await? => Ok(EndOutcome::Stored),
            // While the lease is held, only the title can have failed.
            Ok(EndOutcome::ConditionFailed) if answer.title.is_some() && self.is_held(lease).await? => {
                Err(LeaseError::Renamed)
            }
            Ok(EndOutcome::ConditionFailed) => Err(LeaseError::Lost),
            Err(StoreError::Busy) if self.has_ended(lease).await.unwrap_or(false) => Ok(EndOutcome::Stored),
            end => Ok(end?),
        }
    }

    async fn commit_end(
        &self,
        lease: &TurnLease,
        answer: &Answer,
        further: AnswerWrites,
        now: SystemTime,
    ) -> Result<EndOutcome> {
        let transcript = match Transcript::for_answer(answer) {
            Some(large) if large.is_large() => match self.write_transcript_in_time(lease, &large).await {
                Ok(true) => Some(large),
                Ok(false) => return Ok(EndOutcome::ConditionFailed),
                // A late write of it is never read.
                Err(StoreError::Busy) => None,
                Err(error) => return Err(error),
            },
            small => small,
        };
        let writes = self.end_writes(lease, answer, transcript.as_ref(), now);
        if !further.is_empty() && further.fit() {
            let together = self.table.transact([writes.as_slice(), &further.0].concat());
            match within(OPTIONAL_WRITE_TIMEOUT, together).await {
                Ok(TransactionOutcome::Committed) => return Ok(EndOutcome::StoredTogether),
                Ok(TransactionOutcome::ConditionFailed(_)) => return Ok(EndOutcome::ConditionFailed),
                // Turns of one owner that end at the same time share its sum: their own requests add to it one after the other.
                Ok(TransactionOutcome::Conflict) => {}
                Err(error) => tracing::warn!(%error, "an answer could not be stored with its log, calls and usage"),
            }
        }
        Ok(if self.commit(writes).await? { EndOutcome::Stored } else { EndOutcome::ConditionFailed })
    }

    async fn write_transcript_in_time(&self, lease: &TurnLease, large: &Transcript) -> Result<bool> {
        let written = within(OPTIONAL_WRITE_TIMEOUT, self.write_transcript_first(lease, large)).await;
        if written == Err(StoreError::Busy) {
            tracing::warn!("an answer is stored without its transcript, which could not be written");
        }
        written
    }

    /// Writes a transcript that is not valid yet; false if the turn has lost its lease, or has ended.
    ///
    /// A transaction under the lease reserves its key before the head can be deleted, so a deletion of the items under
    /// a head finds it. A late transcript is written to this key only.
    async fn write_transcript_first(&self, lease: &TurnLease, transcript: &Transcript) -> Result<bool> {
        // Changes nothing; a condition check costs the same and needs one more permission.
        let holds = Expression::update("SET turn = :turn").and_when("turn = :turn").value(":turn", s(&lease.turn_id));
        let (key, reservation) = reserve_update(lease);
        let reservations =
            vec![self.table.update_write(&lease.head, holds), self.table.update_write(&key, reservation)];
        let if_refused = match self.commit(reservations).await {
            // The key may have been reserved although the response was lost.
            Err(StoreError::Busy) => Err(StoreError::Busy),
            Ok(true) => Ok(false),
            other => return other,
        };
        match self.table.update(&key, transcript.store_update(lease)).await? {
            WriteOutcome::Written(_) => Ok(true),
            WriteOutcome::ConditionFailed(_) => if_refused,
        }
    }

    /// Applies all writes; false if a condition failed.
    pub(super) async fn commit(&self, writes: Vec<TransactWriteItem>) -> Result<bool> {
        Ok(matches!(self.table.commit(writes).await?, WriteOutcome::Written(_)))
    }

    fn end_writes(
        &self,
        lease: &TurnLease,
        answer: &Answer,
        transcript: Option<&Transcript>,
        now: SystemTime,
    ) -> Vec<TransactWriteItem> {
        let added_sources = added_sources(lease, answer);
        let last_source = added_sources.as_ref().map(|(_, last)| *last);
        let freed = free_update(lease, answer, last_source, now);
        let sources = added_sources.and_then(|(item, _)| item);
        let (answer_key, answered, further) = end_answer(lease, answer, transcript, now);
        let mut writes =
            vec![self.table.update_write(&lease.head, freed), self.table.update_write(&answer_key, answered)];
        let summary = answer.summary.as_ref().map(|summary| summary_item(lease, summary));
        let items = summary.into_iter().chain(sources).chain(further);
        writes.extend(items.map(|item| self.table.put_write(lease.expiring(item), Expression::default())));
        let had_transcript = lease.continued.as_ref().is_some_and(|continued| continued.has_transcript);
        if had_transcript && transcript.is_some_and(|transcript| !transcript.is_large()) {
            // The item of an earlier release would be only the beginning for a release that does not read the answer's own one.
            writes.push(self.table.delete_write(&transcript_key(&lease.partition, lease.answer_seq)));
        }
        writes
    }

    /// Whether the turn still holds the conversation.
    async fn is_held(&self, lease: &TurnLease) -> Result<bool> {
        let head = self.table.get(&lease.head).await?;
        Ok(head.is_some_and(|head| head.text("turn").is_ok_and(|turn| turn == lease.turn_id)))
    }

    /// Whether this same turn ended earlier, also by a write whose response was lost.
    async fn has_ended(&self, lease: &TurnLease) -> Result<bool> {
        let message = self.table.get(&answer_key(lease)).await?;
        Ok(message.is_some_and(|message| is_ended_by(&message, &lease.turn_id)))
    }
}

/// Builds the update that frees the conversation; with a title, only if it is still the conversation's, and with a new one
/// only if it is not the user's either.
fn free_update(lease: &TurnLease, answer: &Answer, last_source: Option<usize>, now: SystemTime) -> Expression {
    let last_source = last_source.map(|last| (LAST_SOURCE, n(last)));
    let new_title = answer.new_title.as_deref().map(|title| {
        let source = (TITLE_FROM, variant(TitleSource::Model));
        [("title", s(truncate_title(title))), source, (TITLED_IN, n(lease.answer_seq))]
    });
    let attributes = [(UPDATED_AT, n(millis(now)))].into_iter().chain(last_source);
    let change = Expression::set(attributes.chain(new_title.into_iter().flatten()));
    // Unless another branch was selected meanwhile.
    let keeps = lease.keeps_branch(answer);
    let returned = if keeps { String::new() } else { format!(", tip = if_not_exists({BACK}, tip)") };
    let change = change.and(&format!("{returned} REMOVE turn, leaseUntil, {STOPPING}, {BACK}, {ANSWERING}"));
    let change = change.and_when("turn = :turn").value(":turn", s(&lease.turn_id));
    let Some(title) = &answer.title else { return change };
    let change = change.and_also("title = :before").value(":before", s(truncate_title(title)));
    match answer.new_title {
        None => change,
        Some(_) => {
            change.and_also(&format!("{TITLE_FROM} = :message")).value(":message", variant(TitleSource::Message))
        }
    }
}
