//! Answers that several turns have written: each but the first one continued what the one before had written.

use std::time::SystemTime;

use domain::{Message, Owner};

use super::sort_keys::{TRANSCRIPT_PREFIX, message_key, transcript_key};
use super::transcript::{answer_messages, read_transcript, transcript_in};
use super::turn::{BeginError, Continued, EarlierTurn, NewTurn, TurnLease, TurnOutcome, UserInput};
use super::{ConversationStore, Status, StoredMessage};
use crate::Result;
use crate::clock::millis;
use crate::item::{ItemExt, n, s, to_json, variant};
use crate::key::{Key, OwnerPartitions, SK};
use crate::table::Expression;
use crate::turn_ref::TurnRef;

// Attributes of an answer, which the table in `lib.rs` describes.
pub(super) const RECOVERED: &str = "recovered";
pub(super) const EARLIER: &str = "earlier";
pub(super) const CONTINUED_AT: &str = "continuedAt";

impl ConversationStore {
    /// The turn of the answer that `turn` is about to continue, if it died and its text may be in its log.
    pub(crate) async fn dead_turn_before(
        &self,
        owner: &Owner,
        turn: &NewTurn,
        now: SystemTime,
    ) -> Result<Option<TurnRef>> {
        let (Some(id), UserInput::Continue) = (&turn.conversation_id, &turn.input) else { return Ok(None) };
        let Some((head, target)) = self.head_and_target(owner, id, &turn.target, now).await? else { return Ok(None) };
        let seq = target.unwrap_or_else(|| head.shown_leaf(now));
        let message = self.message(&owner.conversation_partition(id), seq).await?;
        Ok(message.and_then(|message| message.recoverable_turn(&head, now)))
    }

    /// The lease of a turn that continues an answer, with the answer so far.
    pub(super) async fn with_continued(&self, lease: TurnLease, turn: &NewTurn) -> Result<TurnLease, BeginError> {
        if turn.input != UserInput::Continue {
            return Ok(lease);
        }
        let message = self.message(&lease.partition, lease.answer_seq).await?.ok_or(BeginError::NotFound)?;
        let continued = message.into_continued(&turn.turn_id).ok_or(BeginError::Unsuitable(
            "Only an answer that ended as `length`, `stopped`, `deadline` or `interrupted` can be continued",
        ))?;
        Ok(TurnLease { continued: Some(Box::new(continued)), ..lease })
    }

    /// The messages of the model and the results of its tools in the answer that this turn continues.
    pub async fn continued_transcript(&self, lease: &TurnLease) -> Result<Vec<Message>> {
        let Some(continued) = &lease.continued else { return Ok(Vec::new()) };
        let StoredMessage { content, thinking, .. } = &continued.message;
        if !continued.has_transcript {
            return Ok(answer_messages(content, thinking));
        }
        let keys = [message_key, transcript_key].map(|key| key(&lease.partition, lease.answer_seq));
        let stored = self.table.get_all(keys.into()).await?;
        if let Some(messages) = stored.iter().find_map(transcript_in) {
            return Ok(messages);
        }
        let stored = stored.iter().find(|item| item.text(SK).is_ok_and(|sk| sk.starts_with(TRANSCRIPT_PREFIX)));
        stored.map_or_else(|| Ok(answer_messages(content, thinking)), |item| read_transcript(item).map(|read| read.1))
    }
}

/// Builds the update by which a turn continues an answer, if no other turn has continued it since it was read.
pub(super) fn continue_update(
    lease: &TurnLease,
    continued: &Continued,
    turn: &NewTurn,
    now: SystemTime,
) -> (Key, Expression) {
    // The last one is the turn that is continued.
    let before = continued.earlier.last().map_or("", |earlier| &earlier.turn);
    let change = Expression::set([
        ("turn", s(&lease.turn_id)),
        ("model", s(&turn.model)),
        ("progress", variant(Status::Running)),
        (EARLIER, s(to_json(&continued.earlier))),
        (CONTINUED_AT, n(millis(now))),
    ]);
    let change = change.and(&format!("REMOVE endedAt, tally, {RECOVERED}")).and_when("turn = :written");
    (message_key(&lease.partition, lease.answer_seq), change.value(":written", s(before)))
}

/// Completes a message by what the turns before its last one used and which models they were.
pub(super) fn join_turns(message: &mut StoredMessage, earlier: &[EarlierTurn]) {
    let Some(first) = earlier.first() else { return };
    let of = |model: &str, models: &[String]| if models.is_empty() { vec![model.to_owned()] } else { models.to_vec() };
    let mut writers = Vec::new();
    for EarlierTurn { model, tally, .. } in earlier {
        writers.extend(of(model, tally.as_ref().map_or(&[], |tally| &tally.models)));
        let Some(TurnOutcome { usage, thinking_ms, .. }) = tally else { continue };
        message.usage.get_or_insert_default().join(*usage);
        message.thinking_ms = match (message.thinking_ms, *thinking_ms) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
    }
    writers.extend(of(&message.model, &message.models));
    writers.dedup();
    message.model.clone_from(&first.model);
    message.models = if writers == [first.model.as_str()] { Vec::new() } else { writers };
}

/// Cuts a message to what it had when one of its turns ended; to nothing for none.
pub(super) fn cut_to(message: &mut StoredMessage, turn: Option<&EarlierTurn>) {
    let StoredMessage { content, thinking, .. } = &mut *message;
    content.truncate(content.floor_char_boundary(turn.map_or(0, |turn| turn.content)));
    thinking.truncate(thinking.floor_char_boundary(turn.map_or(0, |turn| turn.thinking)));
    message.tool_calls.truncate(turn.map_or(0, |turn| turn.calls));
    message.sources.truncate(turn.map_or(0, |turn| turn.sources));
}

/// Reduces a message to one of its turns; returns the outcome of that turn.
pub(super) fn end_with(message: &mut StoredMessage, turn: EarlierTurn) -> Option<TurnOutcome> {
    cut_to(message, Some(&turn));
    message.models = turn.tally.as_ref().map(|tally| tally.models.clone()).unwrap_or_default();
    message.model = turn.model;
    turn.tally
}

/// Removes from a message the calls and sources of the turns up to `before`; returns the text and the reasoning that they
/// had written.
pub(super) fn split_after(message: &mut StoredMessage, before: &EarlierTurn) -> (String, String) {
    message.tool_calls.drain(..before.calls.min(message.tool_calls.len()));
    message.sources.drain(..before.sources.min(message.sources.len()));
    let prefix = |text: &str, bytes: usize| text[..text.floor_char_boundary(bytes)].to_owned();
    (prefix(&message.content, before.content), prefix(&message.thinking, before.thinking))
}
