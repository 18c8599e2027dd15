use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{ErrorCode, Failure, FinishReason, Source};

use super::bounds::{Piece, bounded_calls, bounded_sources, split_pieces};
use super::head::Head;
use super::sort_keys::{MESSAGE_PREFIX, MESSAGE_SK_LEN, message_key, message_sk};
use super::superseded::{SUPERSEDED, activate, mark_pending};
use super::transcript::{TRANSCRIPT, Transcript};
use super::turn::{Answer, NewTurn, TurnEnd, TurnLease, TurnOutcome};
use super::{MessageError, Role, Status, StoredCall, StoredMessage};
use crate::StoreError;
use crate::clock::{millis, rfc3339, span_millis};
use crate::item::{Item, ItemExt, item, n, s, to_json};
use crate::key::Key;
use crate::table::Expression;
use crate::turn_ref::TurnRef;

/// The attribute of a message with the number of its further pieces.
pub(super) const PARTS: &str = "parts";

/// The attribute of an answer whose turn died: from how many events of its log the answer was recovered.
pub(super) const RECOVERED: &str = "recovered";

/// How long after its begin an answer may be recovered: a log lives for an hour, and no turn is half as long.
const RECOVERABLE: Duration = Duration::from_mins(90);

/// Builds the items of the user's message and its further pieces.
pub(super) fn user_message_items(lease: &TurnLease, turn: &NewTurn, text: &str, now: SystemTime) -> Vec<Item> {
    let seq = lease.answer_seq - 1;
    let pieces = split_pieces(text, "");
    let mut message = message_item(lease, seq, Role::User, &turn.user_message_id, now);
    message.extend([
        ("model".to_owned(), s("")),
        ("progress".to_owned(), s(Status::Complete.as_str())),
        ("content".to_owned(), s(&pieces[0].content)),
        (PARTS.to_owned(), n(pieces.len() - 1)),
    ]);
    let mut items = vec![message];
    items.extend(further_items(&lease.partition, seq, &pieces));
    items
}

/// Builds the item of a running answer.
pub(super) fn running_answer_item(lease: &TurnLease, turn: &NewTurn, now: SystemTime) -> Item {
    let mut message = message_item(lease, lease.answer_seq, Role::Assistant, &turn.assistant_message_id, now);
    message.extend([
        ("model".to_owned(), s(&turn.model)),
        ("progress".to_owned(), s(Status::Running.as_str())),
        ("content".to_owned(), s("")),
        (PARTS.to_owned(), n(0)),
    ]);
    mark_pending(lease, message)
}

fn message_item(lease: &TurnLease, seq: u64, role: Role, id: &str, now: SystemTime) -> Item {
    item(
        &message_key(&lease.partition, seq),
        [
            ("id", s(id)),
            ("turn", s(&lease.turn_id)),
            ("author", s(role.as_str())),
            ("createdAt", n(millis(now))),
            ("thinking", s("")),
            ("calls", s("[]")),
            ("sources", s("[]")),
        ],
    )
}

/// Builds the items of the further pieces of a long message.
pub(super) fn further_items(partition: &str, seq: u64, pieces: &[Piece]) -> Vec<Item> {
    let further = pieces.iter().enumerate().skip(1);
    let key = |number: usize| Key::new(partition, format!("{}#{number:03}", message_sk(seq)));
    further
        .map(|(number, piece)| item(&key(number), [("content", s(&piece.content)), ("thinking", s(&piece.thinking))]))
        .collect()
}

/// The end of a turn: the update of the answer's item and the items of its further pieces.
pub(super) fn end_answer(
    lease: &TurnLease,
    answer: &Answer,
    transcript: Option<&Transcript>,
    now: SystemTime,
) -> Result<(Key, Expression, Vec<Item>), StoreError> {
    let pieces = split_pieces(&answer.content, &answer.thinking);
    let status = if matches!(answer.end, TurnEnd::Done(_)) { Status::Complete } else { Status::Interrupted };
    let (usage, models) = (answer.usage, answer.models.clone());
    let (thinking_ms, error_message) = (answer.thinking_ms, answer.error_message.clone());
    let (end, reclassified) = (answer.end, answer.reclassified);
    let outcome = TurnOutcome { usage, end, models, thinking_ms, error_message, reclassified };
    let written = answer_attributes(&pieces, &answer.tool_calls, &answer.sources, &outcome)?;
    let end_attributes = [
        ("progress", s(status.as_str())),
        ("endedAt", n(millis(now))),
        (TRANSCRIPT, n(transcript.map_or(0, |transcript| transcript.chars))),
    ];
    let change = Expression::set(written.into_iter().chain(end_attributes))
        .and(&format!("REMOVE {}", activate(RECOVERED, lease, answer)))
        .and_when("turn = :turn")
        .value(":turn", s(&lease.turn_id));
    let further = further_items(&lease.partition, lease.answer_seq, &pieces);
    Ok((message_key(&lease.partition, lease.answer_seq), change, further))
}

/// What a turn has written so far, within the limits of an item.
pub(super) fn answer_attributes(
    pieces: &[Piece],
    calls: &[StoredCall],
    sources: &[Source],
    outcome: &TurnOutcome,
) -> Result<[(&'static str, AttributeValue); 6], StoreError> {
    Ok([
        ("content", s(&pieces[0].content)),
        ("thinking", s(&pieces[0].thinking)),
        ("calls", s(to_json(&bounded_calls(calls))?)),
        ("sources", s(to_json(&bounded_sources(sources))?)),
        (PARTS, n(pieces.len() - 1)),
        ("tally", s(to_json(outcome)?)),
    ])
}

/// Builds the update that marks the answer of an expired turn as interrupted.
pub(super) fn interrupt_update(partition: &str, seq: u64) -> (Key, Expression) {
    let change = Expression::update("SET progress = :progress").and_when("attribute_exists(pk)");
    (message_key(partition, seq), change.value(":progress", s(Status::Interrupted.as_str())))
}

/// Whether this item is the answer of the turn, and the turn has ended regularly.
pub(super) fn is_ended_by(item: &Item, turn_id: &str) -> bool {
    item.contains_key("endedAt") && item.text("turn").is_ok_and(|turn| turn == turn_id)
}

pub(super) fn answer_key(lease: &TurnLease) -> Key {
    message_key(&lease.partition, lease.answer_seq)
}

/// A message assembled from its items.
#[derive(Debug)]
pub(super) struct AssembledMessage {
    pub(super) seq: u64,
    pub(super) is_superseded: bool,
    turn_id: String,
    /// The number of its further pieces.
    parts: usize,
    message: StoredMessage,
    created_at: i64,
    /// Whether it holds what the log of its turn held.
    is_recovered: bool,
    pub(super) outcome: Option<TurnOutcome>,
}

impl AssembledMessage {
    /// Reads a message's main item.
    pub(super) fn read(item: &Item) -> Result<Self, StoreError> {
        item.check_version("a message")?;
        let outcome: Option<TurnOutcome> = if item.contains_key("tally") { Some(item.json("tally")?) } else { None };
        let models = outcome.as_ref().map(|outcome| outcome.models.clone()).unwrap_or_default();
        let is_recovered = item.contains_key(RECOVERED);
        // A recovered answer has no outcome: its turn did not end.
        let outcome = outcome.filter(|_| !is_recovered);
        let created_at = item.number("createdAt")?;
        let error = outcome.as_ref().and_then(message_error);
        let status = require(Status::parse(item.text("progress")?))?;
        let message = StoredMessage {
            id: item.text("id")?.to_owned(),
            role: require(Role::parse(item.text("author")?))?,
            content: item.text("content")?.to_owned(),
            thinking: item.text("thinking")?.to_owned(),
            thinking_ms: outcome.as_ref().and_then(|outcome| outcome.thinking_ms),
            usage: outcome.as_ref().map(|outcome| outcome.usage),
            model: item.text("model")?.to_owned(),
            tool_calls: item.json("calls")?,
            sources: item.json("sources")?,
            status: if error.is_some() { Status::Failed } else { status },
            models,
            finish_reason: outcome.as_ref().and_then(early_finish_reason),
            error,
            created_at: rfc3339(created_at),
        };
        let seq = require(item.text("sk")?.get(MESSAGE_PREFIX.len()..).and_then(|seq| seq.parse().ok()))?;
        let is_superseded = item.contains_key(SUPERSEDED);
        let (turn_id, parts) = (item.text("turn")?.to_owned(), item.number(PARTS)?);
        Ok(Self { seq, is_superseded, turn_id, parts, message, created_at, is_recovered, outcome })
    }

    /// Whether an item is a further piece of it. Its key range may hold more: pieces of another answer that a restore
    /// has left.
    pub(super) fn has_piece(&self, item: &Item) -> Result<bool, StoreError> {
        let piece = item.text("sk")?.strip_prefix(&message_sk(self.seq)).and_then(|rest| rest.strip_prefix('#'));
        let Some(piece) = piece else { return Ok(false) };
        Ok(require(piece.parse::<usize>().ok())? <= self.parts)
    }

    /// Appends the next piece.
    pub(super) fn append(&mut self, piece: &Item) -> Result<(), StoreError> {
        self.message.content.push_str(piece.text("content")?);
        self.message.thinking.push_str(piece.text("thinking")?);
        Ok(())
    }

    /// The length of its texts, in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        self.message.content.len() + self.message.thinking.len()
    }

    /// The message as of `now`, based on the head that was read before it.
    ///
    /// An answer marked as running runs only if the head confirms it. One that began after the head was read has a seq
    /// above the head's last one.
    pub(super) fn into_message(mut self, head: &Head, now: SystemTime) -> StoredMessage {
        if self.message.status == Status::Running && !self.runs(head, now) {
            self.message.status = Status::Interrupted;
        }
        self.message
    }

    fn runs(&self, head: &Head, now: SystemTime) -> bool {
        match &head.running {
            _ if self.seq > head.last_seq => true,
            Some(running) => running.turn_id == self.turn_id && running.remaining_lease(now).is_some(),
            None => false,
        }
    }

    /// The turn of this answer if its process died and its log may still hold what the answer lacks.
    pub(super) fn recoverable_turn(&self, head: &Head, now: SystemTime) -> Option<TurnRef> {
        let has_ended = self.outcome.is_some() || self.message.status == Status::Complete;
        let is_recent = self.created_at.saturating_add(span_millis(RECOVERABLE)) > millis(now);
        let is_recoverable = !has_ended && !self.is_recovered && is_recent && !self.runs(head, now);
        is_recoverable.then(|| TurnRef {
            turn_id: self.turn_id.clone(),
            conversation_id: head.id.clone(),
            answer_seq: self.seq,
        })
    }
}

/// Whether an item is a further piece, not a message's main item.
pub(super) fn is_further_piece(item: &Item) -> Result<bool, StoreError> {
    Ok(item.text("sk")?.len() > MESSAGE_SK_LEN)
}

/// Why a complete answer ends before the model stopped by itself.
fn early_finish_reason(outcome: &TurnOutcome) -> Option<FinishReason> {
    match outcome.end {
        TurnEnd::Done(FinishReason::Stop) | TurnEnd::Failed(_) => None,
        TurnEnd::Done(reason) => Some(reason),
    }
}

/// The error of a failed answer; an interrupted one has only its status.
fn message_error(outcome: &TurnOutcome) -> Option<MessageError> {
    let Failure { code, message, .. } = outcome.failure().filter(|failure| failure.code != ErrorCode::Interrupted)?;
    Some(MessageError { code, message })
}

fn require<T>(value: Option<T>) -> Result<T, StoreError> {
    value.ok_or_else(|| StoreError::fault("a message that cannot be read"))
}
