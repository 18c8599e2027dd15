//! Idempotency keys: a caller's key maps to the turn that its first request began.
//!
//! A key is claimed before its turn begins and maps to the turn afterwards. A claim whose process died before the turn
//! began expires. Records are stored under their owner, so that those of a deleted conversation can be found.

use std::time::{Duration, SystemTime};

use crate::clock::millis;
use crate::conversations::TurnLease;
use crate::item::{Item, ItemExt, SCHEMA_VERSION, n, s};
use crate::key::{Key, OwnerPartitions, digest};
use crate::table::{Expression, Table, WriteOutcome};
use crate::turn_ref::TurnRef;
use crate::{EXPIRES, StoreError};
use domain::Owner;

/// How long a key maps to its turn.
const TTL: Duration = Duration::from_hours(24);

/// How long a claim is valid until its turn begins.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(30);

/// Idempotency keys in the ephemeral table, each under its owner.
#[derive(Clone)]
pub struct Idempotency {
    table: Table,
}

/// The status of a key, which decides the caller's next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdempotencyStatus {
    /// The key is new: begin the turn, then `record` or `release` it.
    New(IdempotencyClaim),
    /// The same request began this turn: attach to it or replay it.
    Existing(TurnRef),
    /// The same request is about to begin its turn: retry shortly.
    Pending,
    /// The key was used for another request.
    Mismatch,
}

/// The right to set the turn of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyClaim {
    key: Key,
    turn_id: String,
}

impl Idempotency {
    pub(crate) fn new(table: Table) -> Self {
        Self { table }
    }

    /// Claims `key` of this owner for the turn `turn_id`; equal requests have equal `fingerprint`s.
    pub async fn claim(
        &self,
        owner: &Owner,
        key: &str,
        fingerprint: &[u8],
        turn_id: &str,
        now: SystemTime,
    ) -> Result<IdempotencyStatus, StoreError> {
        let claim = IdempotencyClaim { key: record_key(owner, key), turn_id: turn_id.to_owned() };
        let print = digest(&String::from_utf8_lossy(fingerprint));
        match self.table.update(&claim.key, claim.claim_update(&print, now)).await? {
            WriteOutcome::Written(_) => Ok(IdempotencyStatus::New(claim)),
            WriteOutcome::ConditionFailed(record) => claim.status_of_record(&record.unwrap_or_default(), &print),
        }
    }

    /// Maps the key to its turn.
    pub async fn record(&self, claim: &IdempotencyClaim, turn: &TurnLease) -> Result<(), StoreError> {
        let change = Expression::update("SET conversation = :conversation, answer = :answer")
            .and_when("turn = :turn")
            .value(":turn", s(&claim.turn_id))
            .value(":conversation", s(&turn.conversation_id))
            .value(":answer", n(turn.answer_seq));
        self.table.update(&claim.key, change).await.map(|_| ())
    }

    /// Releases the key, because its turn did not begin.
    pub async fn release(&self, claim: &IdempotencyClaim) -> Result<(), StoreError> {
        let change = Expression::update("SET claimedUntil = :never").and_when("turn = :turn");
        let change = change.value(":turn", s(&claim.turn_id)).value(":never", n(0));
        self.table.update(&claim.key, change).await.map(|_| ())
    }

    /// Deletes the keys of an owner; returns their number.
    pub(crate) async fn delete_by_owner(&self, owner: &Owner) -> Result<usize, StoreError> {
        self.table.delete_partition(&partition(owner)).await
    }

    /// Deletes all keys that map to turns of a conversation.
    pub async fn delete_for_conversation(&self, owner: &Owner, conversation_id: &str) -> Result<(), StoreError> {
        let mut start = None;
        loop {
            let call = self.table.query(&partition(owner)).key_condition_expression("pk = :pk");
            let call = call.filter_expression("conversation = :conversation");
            let call = call.expression_attribute_values(":conversation", s(conversation_id));
            let (records, next) = self.table.query_page(call, start).await?;
            for record in records {
                self.table.delete(&Key::new(record.text("pk")?, record.text("sk")?)).await?;
            }
            if next.is_none() {
                return Ok(());
            }
            start = next;
        }
    }
}

impl IdempotencyClaim {
    /// Builds the update that claims a key without a record, with an expired record, or with an expired claim.
    fn claim_update(&self, print: &str, now: SystemTime) -> Expression {
        let seconds = |time: SystemTime| millis(time) / 1000;
        Expression::update(format!(
            "SET turn = :turn, print = :print, claimedUntil = :until, {EXPIRES} = :expires, v = :v \
             REMOVE conversation, answer"
        ))
        .and_when(format!(
            "attribute_not_exists(pk) OR {EXPIRES} <= :seconds \
             OR (attribute_not_exists(conversation) AND claimedUntil <= :now)"
        ))
        .value(":turn", s(&self.turn_id))
        .value(":print", s(print))
        .value(":until", n(millis(now + CLAIM_TIMEOUT)))
        .value(":expires", n(seconds(now + TTL)))
        .value(":seconds", n(seconds(now)))
        .value(":now", n(millis(now)))
        .value(":v", n(SCHEMA_VERSION))
    }

    fn status_of_record(self, record: &Item, print: &str) -> Result<IdempotencyStatus, StoreError> {
        // An earlier attempt of this same call may have been written although its response was lost.
        if record.text("turn")? == self.turn_id {
            return Ok(IdempotencyStatus::New(self));
        }
        if record.text("print")? != print {
            return Ok(IdempotencyStatus::Mismatch);
        }
        if !record.contains_key("conversation") {
            return Ok(IdempotencyStatus::Pending);
        }
        Ok(IdempotencyStatus::Existing(TurnRef {
            turn_id: record.text("turn")?.to_owned(),
            conversation_id: record.text("conversation")?.to_owned(),
            answer_seq: record.number("answer")?,
        }))
    }
}

fn partition(owner: &Owner) -> String {
    format!("{}#I", owner.partition())
}

/// The key of a record. Callers' keys are any text: hashed, they are short and reveal nothing.
fn record_key(owner: &Owner, key: &str) -> Key {
    Key::new(partition(owner), digest(key))
}
