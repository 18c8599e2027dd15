use conversation::Message;

use super::ConversationStore;
use super::transcript::{TRANSCRIPT_PREFIX, length, read, transcript_sk};
use super::turn::TurnLease;
use crate::StoreError;
use crate::error::sort;
use crate::item::{Item, Read, s};

/// Transcripts that are read at once; most budgets end within them.
const AT_ONCE: i32 = 16;

impl ConversationStore {
    /// The messages before this turn that fit `budget` characters, oldest first; whole turns only, newest preferred.
    ///
    /// A turn is the user's message and, where there is one, what the model said, called and read. It ends at the first
    /// turn that does not fit, so that nothing in between is missing.
    pub async fn history(&self, lease: &TurnLease, budget: usize) -> Result<Vec<Message>, StoreError> {
        let mut turns: Vec<Vec<Message>> = Vec::new();
        let mut left = budget;
        let mut before = lease.answer;
        loop {
            let items = self.transcripts_before(lease, before).await?;
            let Some(last) = items.last() else { break };
            before = place(last).unwrap_or(0);
            for item in &items {
                let turn = read(item)?;
                let Some(rest) = left.checked_sub(length(&turn)) else { return Ok(oldest_first(turns)) };
                left = rest;
                turns.push(turn);
            }
        }
        Ok(oldest_first(turns))
    }

    /// The transcripts before a place, newest first; none after the first turn's.
    async fn transcripts_before(&self, lease: &TurnLease, place: u64) -> Result<Vec<Item>, StoreError> {
        let Some(newest) = place.checked_sub(1).filter(|newest| *newest > 0) else { return Ok(Vec::new()) };
        let call =
            self.table.query(&lease.partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        let call = call
            .expression_attribute_values(":first", s(TRANSCRIPT_PREFIX))
            .expression_attribute_values(":last", s(transcript_sk(newest)));
        let answer = call.scan_index_forward(false).limit(AT_ONCE).send().await;
        Ok(answer.map_err(|error| sort("Query", &error))?.items.unwrap_or_default())
    }
}

/// The place of the answer to which a transcript belongs.
fn place(item: &Item) -> Option<u64> {
    item.text("sk").ok()?.strip_prefix(TRANSCRIPT_PREFIX)?.parse().ok()
}

fn oldest_first(turns: Vec<Vec<Message>>) -> Vec<Message> {
    turns.into_iter().rev().flatten().collect()
}
