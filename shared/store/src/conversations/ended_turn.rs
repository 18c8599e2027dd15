//! Finished turns without a log, found by their ids.

use std::time::{Duration, SystemTime};

use domain::Owner;

use super::ConversationStore;
use super::sort_keys::{AFTER_MESSAGES, MESSAGE_PREFIX, seq_in_sk};
use crate::StoreError;
use crate::clock::{millis, span_millis};
use crate::item::{ItemExt, n, s};
use crate::key::{OwnerPartitions, SK, is_ulid};
use crate::turn_ref::TurnRef;

/// How long after its end a turn can be replayed, like one with a log.
const REPLAYABLE: Duration = Duration::from_hours(1);

/// Messages in one read: a client usually resumes the last turn or the one before.
const MESSAGES_PER_READ: i32 = 8;

/// Maximum number of reads, for a turn that is not among the latest.
const MAX_READS: usize = 8;

impl ConversationStore {
    /// The turn with this id if it ended within the last hour and its answer is among the latest messages, also if another
    /// answer supersedes it; `None` for any other turn.
    pub async fn find_ended_turn(
        &self,
        owner: &Owner,
        conversation_id: &str,
        turn_id: &str,
        now: SystemTime,
    ) -> Result<Option<TurnRef>, StoreError> {
        let mut start = None;
        if !is_ulid(conversation_id) || !is_ulid(turn_id) {
            return Ok(None);
        }
        for _ in 0..MAX_READS {
            let partition = owner.conversation_partition(conversation_id);
            let call = self.table.query_range(&partition, MESSAGE_PREFIX, AFTER_MESSAGES);
            let call = call
                .filter_expression("turn = :turn AND endedAt > :since")
                .expression_attribute_values(":turn", s(turn_id))
                .expression_attribute_values(":since", n(millis(now).saturating_sub(span_millis(REPLAYABLE))));
            let call = call.projection_expression("sk").scan_index_forward(false).limit(MESSAGES_PER_READ);
            let (items, next) = self.table.query_page(call, start).await?;
            if next.is_none() || !items.is_empty() {
                let seq = items.last().and_then(|item| seq_in_sk(item.text(SK).ok()?));
                return Ok(seq.map(|seq| TurnRef::new(turn_id, conversation_id, seq)));
            }
            start = next;
        }
        Ok(None)
    }
}
