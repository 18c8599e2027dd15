//! Answers of turns whose process died, recovered from the logs of these turns.

use std::time::SystemTime;

use domain::{CallPosition, ErrorCode, Owner, Source, TurnAccumulator};

use super::bounds::split_pieces;
use super::continued::{RECOVERED, cut_to};
use super::head::{Head, expiring, head_key};
use super::message::{AssembledMessage, answer_attributes, further_items};
use super::sort_keys::{message_key, sources_key};
use super::sources::{LAST_SOURCE, sources_item};
use super::transcript::TRANSCRIPT;
use super::turn::{TurnEnd, TurnOutcome};
use super::{ConversationStore, StoredCall, StoredMessage};
use crate::Result;
use crate::item::{Item, n, s};
use crate::key::{Key, OwnerPartitions};
use crate::table::Expression;
use crate::turn_ref::TurnRef;

impl ConversationStore {
    /// Stores what the first `events` events of a turn's log add up to as its answer; false if the answer has at least as
    /// much already, or is deleted.
    ///
    /// A transaction with the head, so that nothing is written into a deleted conversation or branch. The pages of the turn
    /// keep their numbers.
    pub(crate) async fn store_recovered(
        &self,
        owner: &Owner,
        turn: &TurnRef,
        logged: &TurnAccumulator,
        events: usize,
    ) -> Result<bool> {
        let (partition, now) = (owner.conversation_partition(&turn.conversation_id), SystemTime::now());
        let Some(found) = self.head_with_tree(owner, &turn.conversation_id, now).await? else { return Ok(false) };
        let Some(answer) = self.message(&partition, turn.answer_seq).await? else { return Ok(false) };
        if found.tree.role(turn.answer_seq).is_none() || answer.turn_id != turn.turn_id {
            return Ok(false);
        }
        let sources_key = sources_key(&partition, turn.answer_seq, answer.earlier.len());
        let numbered = recovered_sources(&sources_key, &found, logged);
        let head_change = match &numbered {
            Some((_, last)) => Expression::set([(LAST_SOURCE, n(*last))]),
            None => Expression::update("SET seq = seq"),
        };
        let (key, change, further) = recovered_answer(&partition, turn, answer, logged, events);
        let head = head_key(owner, &turn.conversation_id);
        let head_change = head_change.and_when("attribute_exists(pk)");
        let mut writes = vec![self.table.update_write(&head, head_change), self.table.update_write(&key, change)];
        for item in further.into_iter().chain(numbered.map(|(item, _)| item)) {
            writes.push(self.table.put_write(expiring(found.expires_secs, item), Expression::default()));
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
    mut answer: AssembledMessage,
    logged: &TurnAccumulator,
    events: usize,
) -> (Key, Expression, Vec<Item>) {
    // An answer that the turn continued had something before.
    cut_to(&mut answer.message, answer.earlier.last());
    let StoredMessage { content, thinking, tool_calls: mut calls, mut sources, .. } = answer.message;
    let (text_before, thinking_before) = (content.chars().count(), thinking.chars().count());
    calls.extend(logged.calls.iter().map(|known| {
        let CallPosition { text, thinking, thinking_ms } = known.position;
        let position = CallPosition { text: text_before + text, thinking: thinking_before + thinking, thinking_ms };
        StoredCall::new(&known.call, known.outcome.as_ref(), Some(position))
    }));
    Source::join(&mut sources, &logged.sources);
    let pieces = split_pieces(&(content + &logged.content), &(thinking + &logged.thinking));
    let outcome = TurnOutcome {
        usage: logged.usage.unwrap_or_default(),
        end: TurnEnd::Failed(ErrorCode::Interrupted),
        models: logged.attribution.after_failover().to_vec(),
        thinking_ms: None,
        error_message: None,
        reclassified: logged.reclassified,
    };
    let written = answer_attributes(&pieces, &calls, &sources, &outcome);
    // A transcript of what it had before lacks the rest.
    let change = Expression::set(written.chain([(RECOVERED, n(events))]))
        .and(&format!("REMOVE {TRANSCRIPT}"))
        .and_when(format!(
            "turn = :turn AND attribute_not_exists(endedAt) \
             AND (attribute_not_exists({RECOVERED}) OR {RECOVERED} < :{RECOVERED})"
        ))
        .value(":turn", s(&turn.turn_id));
    (message_key(partition, turn.answer_seq), change, further_items(partition, turn.answer_seq, &pieces))
}

/// The numbered pages of a turn that died, with the highest number of the conversation. `None` if there are none, or if
/// the conversation is of an older release: the next turn numbers its pages.
fn recovered_sources(sources_key: &Key, head: &Head, logged: &TurnAccumulator) -> Option<(Item, usize)> {
    let last = logged.sources.iter().map(|source| source.index).max()?;
    Some((sources_item(sources_key, &logged.sources)?, last.max(head.last_source?)))
}
