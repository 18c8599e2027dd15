//! Finished turns without a log, found by their ids.

use std::time::{Duration, SystemTime};

use domain::Owner;

use super::message::{AssembledMessage, LAYOUT, PARTS};
use super::sort_keys::MESSAGE_PREFIX;
use super::turn::{ShortTurn, StoredTurn};
use super::{ConversationStore, ReadError};
use crate::StoreError;
use crate::clock::{millis, span_millis};
use crate::item::{Item, ItemExt, s};
use crate::key::{OwnerPartitions, is_ulid};

/// How long after its end a turn can be replayed, like one with a log.
const REPLAYABLE: Duration = Duration::from_hours(1);

/// Messages in one read: a client usually resumes the last turn or the one before.
const MESSAGES_PER_READ: i32 = 8;

/// Maximum number of reads, for a turn that is not among the latest.
const MAX_READS: usize = 8;

/// Sorts after every message and every further piece.
const AFTER_MESSAGES: &str = "M$";

impl ConversationStore {
    /// The turn with this id if it ended within the last hour and its answer has a layout, also if another answer
    /// supersedes that; `None` for any other turn.
    pub async fn short_turn(
        &self,
        owner: &Owner,
        id: &str,
        turn_id: &str,
        now: SystemTime,
    ) -> Result<Option<ShortTurn>, ReadError> {
        let head = self.head(owner, id).await?.ok_or(ReadError::NotFound)?;
        let partition = owner.conversation_partition(id);
        let Some(item) = self.answer_of(&partition, turn_id).await? else { return Ok(None) };
        let Some(layout) = replayable_layout(&item, now).map(str::to_owned) else { return Ok(None) };
        let answer = AssembledMessage::read(&item)?;
        let (title, outcome) = (head.title.clone(), answer.outcome.clone());
        Ok(Some(ShortTurn { turn: StoredTurn { message: answer.into_message(&head, now), outcome }, layout, title }))
    }

    /// The answer with a layout of the turn with this id, if it is among the latest messages.
    async fn answer_of(&self, partition: &str, turn_id: &str) -> Result<Option<Item>, StoreError> {
        if !is_ulid(turn_id) {
            return Ok(None);
        }
        let query = self.table.query_range(partition, MESSAGE_PREFIX, AFTER_MESSAGES).scan_index_forward(false);
        let query = query.filter_expression(format!("turn = :turn AND attribute_exists({LAYOUT})"));
        let query = query.expression_attribute_values(":turn", s(turn_id));
        let mut pages = self.table.pages(query.limit(MESSAGES_PER_READ));
        for _ in 0..MAX_READS {
            match pages.next().await? {
                Some(items) if items.is_empty() => {}
                found => return Ok(found.and_then(|mut items| items.pop())),
            }
        }
        Ok(None)
    }
}

/// The layout of an answer in one piece that ended within the last hour.
fn replayable_layout(item: &Item, now: SystemTime) -> Option<&str> {
    let ended_at: i64 = item.number("endedAt").ok()?;
    let is_recent = ended_at.saturating_add(span_millis(REPLAYABLE)) > millis(now);
    item.text(LAYOUT).ok().filter(|_| is_recent && item.number(PARTS) == Ok(0))
}
