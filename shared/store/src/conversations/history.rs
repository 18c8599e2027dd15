use conversation::PastTurn;

use super::ConversationStore;
use super::transcript::{TRANSCRIPT_PREFIX, length, read, transcript_sk};
use super::turn::TurnLease;
use crate::StoreError;
use crate::item::{Item, s};

/// Transcripts that are read at once; most budgets end within them.
const AT_ONCE: i32 = 16;

impl ConversationStore {
    /// The turns before this one that fit `budget` characters, oldest first; whole turns only, newest preferred.
    ///
    /// A turn is the user's message and, where there is one, what the model said, called and read. The history ends at the
    /// first turn that does not fit, so that nothing in between is missing.
    pub async fn history(&self, lease: &TurnLease, budget: usize) -> Result<Vec<PastTurn>, StoreError> {
        let (mut turns, mut left, mut start) = (Vec::new(), budget, None);
        loop {
            let (items, next) = self.transcripts(lease, start).await?;
            for item in &items {
                let turn = read(item)?;
                let Some(rest) = left.checked_sub(length(&turn.messages)) else { return Ok(oldest_first(turns)) };
                left = rest;
                turns.push(turn);
            }
            if next.is_none() {
                return Ok(oldest_first(turns));
            }
            start = next;
        }
    }

    /// A page of the transcripts before this turn, newest first, and where the next page begins.
    async fn transcripts(
        &self,
        lease: &TurnLease,
        start: Option<Item>,
    ) -> Result<(Vec<Item>, Option<Item>), StoreError> {
        let call =
            self.table.query(&lease.partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        let call = call
            .expression_attribute_values(":first", s(TRANSCRIPT_PREFIX))
            .expression_attribute_values(":last", s(transcript_sk(lease.answer - 1)));
        self.table.page(call.scan_index_forward(false).limit(AT_ONCE), start).await
    }
}

fn oldest_first(mut turns: Vec<PastTurn>) -> Vec<PastTurn> {
    turns.reverse();
    turns
}
