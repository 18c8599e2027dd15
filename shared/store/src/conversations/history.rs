use std::collections::HashMap;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use domain::{HistoryTurn, Message, Summary};

use super::ConversationStore;
use super::history_builder::{
    CandidateTurn, HISTORY_PROJECTION, HistoryBudget, HistoryBuilder, join_results, prompt_input,
};
use super::seq_ranges::{SeqRanges, is_in};
use super::sort_keys::{message_key, message_sk, transcript_sk};
use super::transcript::{char_count, read_transcript, summary_key};
use super::turn::TurnLease;
use crate::item::ItemExt;
use crate::{Result, StoreError};

/// Messages in one read, those of sixteen turns; usual budgets fit into them.
const MESSAGES_PER_READ: i32 = 32;

impl ConversationStore {
    /// The user's input that this turn answers: one message, or those that its request had instead.
    pub async fn load_input(&self, lease: &TurnLease) -> Result<Vec<Message>> {
        let question = self.table.get(&message_key(&lease.partition, lease.question_seq)).await?;
        prompt_input(&question.ok_or_else(|| StoreError::fault("a turn without its question"))?)
    }

    /// The turns before this one that fit `budget` characters, oldest first. Only whole turns are returned, the newest
    /// preferred; the newest one is returned at any length, unless the budget is 0.
    ///
    /// A turn is the user's message and, if there is one, the model's text, calls and tool results. The last turn may end with
    /// calls of the client's tools. The history ends at
    /// the first turn that does not fit, so that it has no gap. Only messages of the turn's own branch are read.
    pub async fn history(&self, lease: &TurnLease, budget: usize) -> Result<Vec<HistoryTurn>> {
        let mut turns = Vec::new();
        if budget == 0 {
            return Ok(turns);
        }
        let (mut budget, mut builder) = (HistoryBudget::of(budget), HistoryBuilder::default());
        'branch: for range in lease.before.queries().into_iter().rev() {
            let mut pages = self.table.pages(self.query_messages(lease, range));
            while let Some(mut items) = pages.next().await? {
                items.retain(|item| is_in(&lease.before, item));
                let candidates = builder.build_turns(items)?;
                let count = candidates.len();
                let fitting = self.select_fitting(lease, candidates, &mut budget).await?;
                let fits = fitting.len() == count;
                turns.extend(fitting);
                if !fits {
                    break 'branch;
                }
            }
        }
        turns.reverse();
        Ok(join_results(turns))
    }

    /// The summary that replaces the oldest turns, if there is one of this branch: the last message that it covers has the
    /// same messages before it on every branch.
    pub async fn summary(&self, lease: &TurnLease) -> Result<Option<Summary>> {
        let item = self.table.get(&summary_key(&lease.partition)).await?.filter(ItemExt::is_readable);
        let summary = item.map(|item| item.json::<Summary>("summary")).transpose()?;
        Ok(summary.filter(|summary| lease.before.contains(summary.up_to_seq)))
    }

    /// The turns that fit, up to the first that does not. Reads transcripts only of turns that may fit.
    async fn select_fitting(
        &self,
        lease: &TurnLease,
        candidates: Vec<CandidateTurn>,
        budget: &mut HistoryBudget,
    ) -> Result<Vec<HistoryTurn>> {
        let mut estimate = budget.clone();
        let candidates: Vec<CandidateTurn> =
            candidates.into_iter().take_while(|turn| estimate.try_take(turn.min_chars())).collect();
        let mut transcripts = self.load_transcripts(lease, &candidates).await?;
        let turns = candidates.into_iter().map(|turn| turn.into_past_turn(&mut transcripts));
        Ok(turns.take_while(|turn| budget.try_take(char_count(&turn.messages))).collect())
    }

    fn query_messages(&self, lease: &TurnLease, (first, last): (u64, u64)) -> QueryFluentBuilder {
        let query = self.table.query_range(&lease.partition, message_sk(first), format!("{}$", message_sk(last)));
        // Further pieces have no author.
        let query = query.filter_expression("attribute_exists(author)");
        query.projection_expression(HISTORY_PROJECTION).scan_index_forward(false).limit(MESSAGES_PER_READ)
    }

    /// The transcripts of these turns, which are sorted newest first, by answer seq.
    async fn load_transcripts(
        &self,
        lease: &TurnLease,
        candidates: &[CandidateTurn],
    ) -> Result<HashMap<u64, Vec<Message>>> {
        let seqs = candidates.iter().rev().filter(|turn| turn.has_transcript()).map(|turn| turn.answer_seq);
        let mut transcripts = HashMap::new();
        for (oldest, newest) in SeqRanges(seqs.map(|seq| (seq, seq)).collect()).queries() {
            let query = self.table.query_range(&lease.partition, transcript_sk(oldest), transcript_sk(newest));
            for item in self.table.query_all(query).await? {
                transcripts.extend([read_transcript(&item)?]);
            }
        }
        Ok(transcripts)
    }
}
