use conversation::{PastTurn, Summary};

use super::ConversationStore;
use super::message::ASIDE;
use super::transcript::{TRANSCRIPT_PREFIX, length, read, summary_key, transcript_key, transcript_sk};
use super::turn::TurnLease;
use crate::StoreError;
use crate::item::{Item, Read, s};

/// Transcripts that are read at once; most budgets end within them.
const AT_ONCE: i32 = 16;

impl ConversationStore {
    /// What this turn answers, in the user's words.
    pub async fn question(&self, lease: &TurnLease) -> Result<String, StoreError> {
        let item = self.table.get(&transcript_key(&lease.partition, lease.answer)).await?;
        let item = item.ok_or_else(|| StoreError::fault("a turn without its question"))?;
        item.text("asked").map(str::to_owned)
    }

    /// The turns before this one that fit `budget` characters, oldest first; whole turns only, newest preferred, and of
    /// these the first whatever its length, unless the budget is nothing.
    ///
    /// A turn is the user's message and, where there is one, what the model said, called and read. The history ends at the
    /// first turn that does not fit, so that nothing in between is missing. Of several answers to a question only the one
    /// that the conversation shows is read, and none of that which this turn answers.
    pub async fn history(&self, lease: &TurnLease, budget: usize) -> Result<Vec<PastTurn>, StoreError> {
        let (mut turns, mut left, mut start) = (Vec::new(), budget, None);
        if budget == 0 || lease.is_first() {
            return Ok(turns);
        }
        loop {
            let (items, next) = self.transcripts(lease, start).await?;
            for item in &items {
                let turn = read(item)?;
                if lease.replaces == Some(turn.place) {
                    continue;
                }
                let rest = left.checked_sub(length(&turn.messages));
                if rest.is_none() && !turns.is_empty() {
                    return Ok(oldest_first(turns));
                }
                left = rest.unwrap_or_default();
                turns.push(turn);
            }
            if next.is_none() {
                return Ok(oldest_first(turns));
            }
            start = next;
        }
    }

    /// What stands for the oldest turns, if anything does.
    pub async fn summary(&self, lease: &TurnLease) -> Result<Option<Summary>, StoreError> {
        let item = self.table.get(&summary_key(lease)).await?.filter(Read::is_understood);
        item.map(|item| item.json("summary")).transpose()
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
        let call = call.filter_expression(format!("attribute_not_exists({ASIDE})"));
        self.table.page(call.scan_index_forward(false).limit(AT_ONCE), start).await
    }
}

fn oldest_first(mut turns: Vec<PastTurn>) -> Vec<PastTurn> {
    turns.reverse();
    turns
}
