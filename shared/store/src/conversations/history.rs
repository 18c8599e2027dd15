use std::collections::HashMap;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use domain::{HistoryTurn, Message, Summary};

use super::history_builder::{CandidateTurn, HISTORY_PROJECTION, HistoryBudget, HistoryBuilder, prompt_text};
use super::sort_keys::{MESSAGE_PREFIX, message_sk, transcript_sk};
use super::superseded::SUPERSEDED;
use super::transcript::{char_count, read_transcript, summary_key};
use super::turn::TurnLease;
use super::{ConversationStore, Role};
use crate::StoreError;
use crate::item::{ItemExt, s};

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
        let query = self.table.query_range(partition, MESSAGE_PREFIX, message_sk(seq)).scan_index_forward(false);
        let query = query.filter_expression("author = :user");
        let query = query.expression_attribute_values(":user", s(Role::User.as_str()));
        let mut pages = self.table.pages(query.limit(USER_MESSAGE_READ));
        while let Some(items) = pages.next().await? {
            if let Some(question) = items.first() {
                return prompt_text(question).map(Some);
            }
        }
        Ok(None)
    }

    /// The turns before this one that fit `budget` characters, oldest first. Only whole turns are returned, the newest
    /// preferred; the newest one is returned at any length, unless the budget is 0.
    ///
    /// A turn is the user's message and, if there is one, the model's text, calls and tool results. The history ends at
    /// the first turn that does not fit, so that it has no gap. Of several answers to a message only the current one is
    /// read, and none to the message that this turn answers.
    pub async fn history(&self, lease: &TurnLease, budget: usize) -> Result<Vec<HistoryTurn>, StoreError> {
        let mut turns = Vec::new();
        if budget == 0 || lease.is_first() {
            return Ok(turns);
        }
        let (mut budget, mut builder) = (HistoryBudget::of(budget), HistoryBuilder::for_turn(lease));
        let mut pages = self.table.pages(self.query_messages_before(lease));
        while let Some(items) = pages.next().await? {
            let candidates = builder.build_turns(items)?;
            let count = candidates.len();
            let fitting = self.select_fitting(lease, candidates, &mut budget).await?;
            let fits = fitting.len() == count;
            turns.extend(fitting);
            if !fits {
                break;
            }
        }
        turns.reverse();
        Ok(turns)
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

    /// Builds a query over the current messages before this turn, newest first.
    fn query_messages_before(&self, lease: &TurnLease) -> QueryFluentBuilder {
        // Excludes its own answer and its own user message, whose further pieces sort after it.
        let last = lease.answer_seq - if lease.replaced_seq.is_some() { 1 } else { 2 };
        let query = self.table.query_range(&lease.partition, MESSAGE_PREFIX, format!("{}$", message_sk(last)));
        // Further pieces have no author.
        let query = query.filter_expression(format!("attribute_exists(author) AND attribute_not_exists({SUPERSEDED})"));
        query.projection_expression(HISTORY_PROJECTION).scan_index_forward(false).limit(MESSAGES_PER_READ)
    }

    /// The transcripts of these turns, which are sorted newest first, by answer seq.
    async fn load_transcripts(
        &self,
        lease: &TurnLease,
        candidates: &[CandidateTurn],
    ) -> Result<HashMap<u64, Vec<Message>>, StoreError> {
        let mut seqs = candidates.iter().filter(|turn| turn.has_transcript()).map(|turn| turn.answer_seq);
        let Some(newest) = seqs.next() else { return Ok(HashMap::new()) };
        let oldest = seqs.next_back().unwrap_or(newest);
        let query = self.table.query_range(&lease.partition, transcript_sk(oldest), transcript_sk(newest));
        self.table.query_all(query).await?.iter().map(read_transcript).collect()
    }
}
