use std::collections::HashMap;

use domain::{HistoryTurn, Message, Summary};

use super::history_builder::{CandidateTurn, HISTORY_PROJECTION, HistoryBudget, HistoryBuilder, prompt_text};
use super::sort_keys::{MESSAGE_PREFIX, message_sk, transcript_sk};
use super::superseded::SUPERSEDED;
use super::transcript::{char_count, read_transcript, summary_key};
use super::turn::TurnLease;
use super::{ConversationStore, Role};
use crate::StoreError;
use crate::item::{Item, ItemExt, s};

/// Messages in one read, those of sixteen turns; usual budgets fit into them.
const MESSAGES_PER_READ: i32 = 32;

/// Messages in one read for a user message; several regenerated answers are rare.
const USER_MESSAGE_READ: i32 = 4;

impl ConversationStore {
    /// The user's message that this turn answers.
    pub async fn load_user_message(&self, lease: &TurnLease) -> Result<String, StoreError> {
        let text = self.user_message_before(&lease.partition, lease.answer_seq).await?;
        text.ok_or_else(|| StoreError::fault("a turn without its question"))
    }

    /// The last message of the user up to `seq`.
    pub(super) async fn user_message_before(&self, partition: &str, seq: u64) -> Result<Option<String>, StoreError> {
        let mut start = None;
        loop {
            let call = self.table.query(partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
            let call = call
                .expression_attribute_values(":first", s(MESSAGE_PREFIX))
                .expression_attribute_values(":last", s(message_sk(seq)))
                .filter_expression("author = :user")
                .expression_attribute_values(":user", s(Role::User.as_str()));
            let (items, next) =
                self.table.query_page(call.scan_index_forward(false).limit(USER_MESSAGE_READ), start).await?;
            if let Some(question) = items.first() {
                return prompt_text(question).map(Some);
            }
            if next.is_none() {
                return Ok(None);
            }
            start = next;
        }
    }

    /// The turns before this one that fit `budget` characters, oldest first. Only whole turns are returned, the newest
    /// preferred; the newest one is returned at any length, unless the budget is 0.
    ///
    /// A turn is the user's message and, if there is one, the model's text, calls and tool results. The history ends at
    /// the first turn that does not fit, so that it has no gap. Of several answers to a message only the current one is
    /// read, and none to the message that this turn answers.
    pub async fn history(&self, lease: &TurnLease, budget: usize) -> Result<Vec<HistoryTurn>, StoreError> {
        let (mut turns, mut start) = (Vec::new(), None);
        if budget == 0 || lease.is_first() {
            return Ok(turns);
        }
        let (mut budget, mut builder) = (HistoryBudget::of(budget), HistoryBuilder::for_turn(lease));
        loop {
            let (items, next) = self.messages_before(lease, start).await?;
            let candidates = builder.build_turns(items)?;
            let count = candidates.len();
            let fitting = self.select_fitting(lease, candidates, &mut budget).await?;
            let is_end = next.is_none() || fitting.len() < count;
            turns.extend(fitting);
            if is_end {
                turns.reverse();
                return Ok(turns);
            }
            start = next;
        }
    }

    /// The summary that replaces the oldest turns, if there is one.
    pub async fn summary(&self, lease: &TurnLease) -> Result<Option<Summary>, StoreError> {
        let item = self.table.get(&summary_key(lease)).await?.filter(ItemExt::is_readable);
        item.map(|item| item.json("summary")).transpose()
    }

    /// The turns that fit, up to the first that does not. Reads transcripts only of turns that may fit.
    async fn select_fitting(
        &self,
        lease: &TurnLease,
        candidates: Vec<CandidateTurn>,
        budget: &mut HistoryBudget,
    ) -> Result<Vec<HistoryTurn>, StoreError> {
        let mut estimate = budget.clone();
        let candidates: Vec<CandidateTurn> =
            candidates.into_iter().take_while(|turn| estimate.try_take(turn.min_chars())).collect();
        let mut transcripts = self.load_transcripts(lease, &candidates).await?;
        let turns = candidates.into_iter().map(|turn| turn.into_past_turn(&mut transcripts));
        Ok(turns.take_while(|turn| budget.try_take(char_count(&turn.messages))).collect())
    }

    /// A page of the current messages before this turn, newest first, and the start of the next page.
    async fn messages_before(
        &self,
        lease: &TurnLease,
        start: Option<Item>,
    ) -> Result<(Vec<Item>, Option<Item>), StoreError> {
        let call =
            self.table.query(&lease.partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
        // Excludes its own answer and its own user message, whose further pieces sort after it.
        let last = lease.answer_seq - if lease.replaced_seq.is_some() { 1 } else { 2 };
        let call = call
            .expression_attribute_values(":first", s(MESSAGE_PREFIX))
            .expression_attribute_values(":last", s(format!("{}$", message_sk(last))))
            .projection_expression(HISTORY_PROJECTION)
            // Further pieces have no author.
            .filter_expression(format!("attribute_exists(author) AND attribute_not_exists({SUPERSEDED})"));
        self.table.query_page(call.scan_index_forward(false).limit(MESSAGES_PER_READ), start).await
    }

    /// The transcripts of these turns, which are sorted newest first, by answer seq.
    async fn load_transcripts(
        &self,
        lease: &TurnLease,
        candidates: &[CandidateTurn],
    ) -> Result<HashMap<u64, Vec<Message>>, StoreError> {
        let mut seqs = candidates.iter().filter(|turn| turn.has_transcript()).map(|turn| turn.answer_seq);
        let (mut found, mut start) = (HashMap::new(), None);
        let Some(newest) = seqs.next() else { return Ok(found) };
        let oldest = seqs.next_back().unwrap_or(newest);
        loop {
            let call =
                self.table.query(&lease.partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
            let call = call
                .expression_attribute_values(":first", s(transcript_sk(oldest)))
                .expression_attribute_values(":last", s(transcript_sk(newest)));
            let (items, next) = self.table.query_page(call, start).await?;
            for item in &items {
                found.extend([read_transcript(item)?]);
            }
            if next.is_none() {
                return Ok(found);
            }
            start = next;
        }
    }
}
