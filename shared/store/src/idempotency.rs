//! Idempotency keys: a caller's key maps to the turn that its first request began.
//!
//! The record of a key is written in the transaction that begins its turn, so that no moment at which a process dies
//! leaves one without the other. Records are stored under their owner, so that those of a deleted conversation can be
//! found.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::TransactWriteItem;

use crate::clock::{millis, seconds};
use crate::item::{Item, ItemExt, item, n, s};
use crate::key::{Key, OwnerPartitions, PK, SK, digest};
use crate::table::{Expression, Table, WriteOutcome};
use crate::turn_ref::TurnRef;
use crate::{EXPIRES, Result};
use domain::Owner;

/// How long a key maps to its turn.
const TTL: Duration = Duration::from_hours(24);

/// Idempotency keys in the ephemeral table, each under its owner.
#[derive(Clone)]
pub struct Idempotency {
    pub(crate) table: Table,
}

/// The status of a key, which decides the caller's next step.
#[derive(Clone, Debug)]
pub enum IdempotencyStatus {
    /// The key is free: begin the turn with this claim.
    New(IdempotencyClaim),
    /// The same request began this turn: attach to it or replay it.
    Existing(TurnRef),
    /// An instance of an earlier release, which claims a key before its turn begins, is about to begin it.
    Pending,
    /// The key was used for another request.
    Mismatch,
}

/// A key that was free, to be mapped to the turn that begins with it.
#[derive(Clone, Debug)]
pub struct IdempotencyClaim {
    key: Key,
    print: String,
}

impl Idempotency {
    /// The status of `key` of this owner; equal requests have equal `fingerprint`s.
    pub async fn status(
        &self,
        owner: &Owner,
        key: &str,
        fingerprint: &[u8],
        now: SystemTime,
    ) -> Result<IdempotencyStatus> {
        let print = digest(&String::from_utf8_lossy(fingerprint));
        // Callers' keys are any text: hashed, they are short and reveal nothing.
        let claim = IdempotencyClaim { key: Key::new(partition(owner), digest(key)), print };
        match self.table.get(&claim.key).await? {
            Some(record) if !is_free(&record, now)? => claim.status_of_record(&record),
            _ => Ok(IdempotencyStatus::New(claim)),
        }
    }

    /// Maps the key of a claim to an import, if it is still free; returns whether it was.
    pub async fn record_import(&self, claim: &IdempotencyClaim, seed: &str, now: SystemTime) -> Result<bool> {
        let write = claim.write(&self.table, &TurnRef::new(seed, seed, 0), None, now);
        Ok(matches!(self.table.commit(vec![write]).await?, WriteOutcome::Written(_)))
    }

    /// Deletes the keys of an owner; returns their number.
    pub(crate) async fn delete_by_owner(&self, owner: &Owner) -> Result<usize> {
        self.table.delete_partition(&partition(owner)).await
    }

    /// Deletes all keys that map to turns of a conversation.
    pub async fn delete_for_conversation(&self, owner: &Owner, conversation_id: &str) -> Result<()> {
        self.table.delete_queried(self.query_conversation(owner, conversation_id)).await.map(drop)
    }

    /// Deletes the keys that map to turns of these answers of a conversation.
    pub async fn delete_for_answers(&self, owner: &Owner, id: &str, seqs: &HashSet<u64>) -> Result<()> {
        let mut keys = self.table.query_all(self.query_conversation(owner, id)).await?;
        keys.retain(|key| key.number("answer").is_ok_and(|seq| seqs.contains(&seq)));
        self.table.delete_all(keys).await
    }

    fn query_conversation(&self, owner: &Owner, conversation_id: &str) -> QueryFluentBuilder {
        let query = self.table.query(&partition(owner)).filter_expression("conversation = :conversation");
        query.expression_attribute_values(":conversation", s(conversation_id))
    }
}

impl IdempotencyClaim {
    /// The write that maps the key to its turn, if the key is still free; not for longer than the conversation exists, whose
    /// end is in seconds since 1970.
    pub(crate) fn write(&self, table: &Table, turn: &TurnRef, end: Option<i64>, now: SystemTime) -> TransactWriteItem {
        let attributes = [
            ("turn", s(&turn.turn_id)),
            ("print", s(&self.print)),
            ("conversation", s(&turn.conversation_id)),
            ("answer", n(turn.answer_seq)),
            (EXPIRES, n(end.into_iter().chain([seconds(now + TTL)]).min().unwrap_or_default())),
        ];
        let free = Expression::when(format!(
            "attribute_not_exists(pk) OR {EXPIRES} <= :seconds \
             OR (attribute_not_exists(conversation) AND claimedUntil <= :now)"
        ));
        let free = free.value(":seconds", n(seconds(now))).value(":now", n(millis(now)));
        table.put_write(item(&self.key, attributes), free)
    }

    /// Whether an item is the record of this key.
    pub(crate) fn is_record(&self, item: &Item) -> bool {
        (item.text(PK), item.text(SK)) == (Ok(&self.key.pk), Ok(&self.key.sk))
    }

    fn status_of_record(self, record: &Item) -> Result<IdempotencyStatus> {
        if record.text("print")? != self.print {
            return Ok(IdempotencyStatus::Mismatch);
        }
        if !record.contains_key("conversation") {
            return Ok(IdempotencyStatus::Pending);
        }
        let (turn, conversation) = (record.text("turn")?, record.text("conversation")?);
        Ok(IdempotencyStatus::Existing(TurnRef::new(turn, conversation, record.number("answer")?)))
    }
}

/// Whether a record no longer counts: it is expired, or a claim of an earlier release whose turn did not begin.
fn is_free(record: &Item, now: SystemTime) -> Result<bool> {
    let is_expired = record.number::<i64>(EXPIRES)? <= seconds(now);
    let is_abandoned = !record.contains_key("conversation") && record.number::<i64>("claimedUntil")? <= millis(now);
    Ok(is_expired || is_abandoned)
}

fn partition(owner: &Owner) -> String {
    format!("{}#I", owner.partition())
}
