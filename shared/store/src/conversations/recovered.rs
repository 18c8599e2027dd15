//! Answers of turns whose process died, recovered from the logs of these turns.

use domain::{ErrorCode, Owner, TurnAccumulator};

use super::bounds::split_pieces;
use super::head::{Head, head_key};
use super::message::{RECOVERED, answer_attributes, further_items};
use super::sort_keys::message_key;
use super::sources::{LAST_SOURCE, sources_item};
use super::turn::{TurnEnd, TurnOutcome};
use super::{ConversationStore, StoredCall};
use crate::StoreError;
use crate::item::{Item, n, s};
use crate::key::{Key, OwnerPartitions};
use crate::table::Expression;
use crate::turn_ref::TurnRef;

impl ConversationStore {
    /// Stores what the first `events` events of a turn's log add up to as its answer; false if the answer has at least as
    /// much already, or is deleted.
    ///
    /// A transaction with the head, so that nothing is written into a deleted conversation. The pages of the turn keep
    /// their numbers.
    pub(crate) async fn store_recovered(
        &self,
        owner: &Owner,
        turn: &TurnRef,
        logged: &TurnAccumulator,
        events: usize,
    ) -> Result<bool, StoreError> {
        let Some(found) = self.head(owner, &turn.conversation_id).await? else { return Ok(false) };
        let numbered = recovered_sources(&owner.conversation_partition(&turn.conversation_id), turn, &found, logged)?;
        let head_change = match &numbered {
            Some((_, last)) => Expression::set([(LAST_SOURCE, n(*last))]),
            None => Expression::update("SET seq = seq"),
        };
        let (key, change, further) =
            recovered_answer(&owner.conversation_partition(&turn.conversation_id), turn, logged, events)?;
        let head = head_key(owner, &turn.conversation_id);
        let head_change = head_change.and_when("attribute_exists(pk)");
        let mut writes = vec![self.table.update_write(&head, head_change)?, self.table.update_write(&key, change)?];
        for item in further.into_iter().chain(numbered.map(|(item, _)| item)) {
            writes.push(self.table.put_write(item, Expression::default())?);
        }
        self.commit(writes).await
    }
}

/// The update of the answer of a turn whose process died, with what its log holds, and the items of its further pieces.
///
/// It changes no answer whose turn has ended, and none that was recovered from as many events. The status stays: a turn
/// that only seemed dead may still end by itself and replaces all of this.
fn recovered_answer(
    partition: &str,
    turn: &TurnRef,
    logged: &TurnAccumulator,
    events: usize,
) -> Result<(Key, Expression, Vec<Item>), StoreError> {
    let pieces = split_pieces(&logged.content, &logged.thinking);
    let calls = logged.calls.iter();
    let calls: Vec<StoredCall> =
        calls.map(|known| StoredCall::new(&known.call, known.outcome.as_ref(), Some(known.position))).collect();
    let outcome = TurnOutcome {
        usage: logged.usage.unwrap_or_default(),
        end: TurnEnd::Failed(ErrorCode::Interrupted),
        models: logged.attribution.after_failover().to_vec(),
        thinking_ms: None,
        error_message: None,
        reclassified: logged.reclassified,
    };
    let written = answer_attributes(&pieces, &calls, &logged.sources, &outcome)?;
    let change = Expression::set(written.into_iter().chain([(RECOVERED, n(events))]))
        .and_when(format!(
            "turn = :turn AND attribute_not_exists(endedAt) \
             AND (attribute_not_exists({RECOVERED}) OR {RECOVERED} < :{RECOVERED})"
        ))
        .value(":turn", s(&turn.turn_id));
    Ok((message_key(partition, turn.answer_seq), change, further_items(partition, turn.answer_seq, &pieces)))
}

/// The numbered pages of a turn that died, with the highest number of the conversation. `None` if there are none, or if
/// the conversation is of an older release: the next turn numbers its pages.
fn recovered_sources(
    partition: &str,
    turn: &TurnRef,
    head: &Head,
    logged: &TurnAccumulator,
) -> Result<Option<(Item, usize)>, StoreError> {
    let Some(before) = head.last_source else { return Ok(None) };
    let Some(last) = logged.sources.iter().map(|source| source.index).max() else { return Ok(None) };
    let item = sources_item(partition, turn.answer_seq, &logged.sources)?;
    Ok(item.map(|item| (item, last.max(before))))
}
