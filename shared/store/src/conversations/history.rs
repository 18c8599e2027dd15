use std::collections::HashMap;

use conversation::{Message, PastTurn, Summary};

use super::aside::ASIDE;
use super::message::{MESSAGE_PREFIX, message_sk};
use super::past::{Budget, READ_OF_IT, Telling, Told, asked};
use super::transcript::{length, read, summary_key, transcript_sk};
use super::turn::TurnLease;
use super::{ConversationStore, Role};
use crate::StoreError;
use crate::item::{Item, Read, s};

/// Messages in one read, those of sixteen turns; usual budgets fit into them.
const AT_ONCE: i32 = 32;

/// Messages in one read for a user message; several regenerated answers are rare.
const FEW: i32 = 4;

impl ConversationStore {
    /// The user's message that this turn answers.
    pub async fn question(&self, lease: &TurnLease) -> Result<String, StoreError> {
        let asked = self.asked_before(&lease.partition, lease.answer).await?;
        asked.ok_or_else(|| StoreError::fault("a turn without its question"))
    }

    /// The last message of the user up to `seq`.
    pub(super) async fn asked_before(&self, partition: &str, place: u64) -> Result<Option<String>, StoreError> {
        let mut start = None;
        loop {
            let call = self.table.query(partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
            let call = call
                .expression_attribute_values(":first", s(MESSAGE_PREFIX))
                .expression_attribute_values(":last", s(message_sk(place)))
                .filter_expression("author = :user")
                .expression_attribute_values(":user", s(Role::User.as_str()));
            let (items, next) = self.table.page(call.scan_index_forward(false).limit(FEW), start).await?;
            if let Some(question) = items.first() {
                return asked(question).map(Some);
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
    pub async fn history(&self, lease: &TurnLease, budget: usize) -> Result<Vec<PastTurn>, StoreError> {
        let (mut turns, mut start) = (Vec::new(), None);
        if budget == 0 || lease.is_first() {
            return Ok(turns);
        }
        let (mut budget, mut telling) = (Budget::of(budget), Telling::before(lease));
        loop {
            let (items, next) = self.messages_before(lease, start).await?;
            let told = telling.take(items)?;
            let count = told.len();
            let fitting = self.fitting(lease, told, &mut budget).await?;
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
        let item = self.table.get(&summary_key(lease)).await?.filter(Read::is_understood);
        item.map(|item| item.json("summary")).transpose()
    }

    /// The turns that fit, up to the first that does not. Reads transcripts only of turns that may fit.
    async fn fitting(
        &self,
        lease: &TurnLease,
        told: Vec<Told>,
        budget: &mut Budget,
    ) -> Result<Vec<PastTurn>, StoreError> {
        let mut room = budget.clone();
        let told: Vec<Told> = told.into_iter().take_while(|turn| room.takes(turn.least())).collect();
        let mut transcripts = self.transcripts(lease, &told).await?;
        let turns = told.into_iter().map(|turn| turn.whole(&mut transcripts));
        Ok(turns.take_while(|turn| budget.takes(length(&turn.messages))).collect())
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
        let last = lease.answer - if lease.replaces.is_some() { 1 } else { 2 };
        let call = call
            .expression_attribute_values(":first", s(MESSAGE_PREFIX))
            .expression_attribute_values(":last", s(format!("{}$", message_sk(last))))
            .projection_expression(READ_OF_IT)
            // Further pieces have no author.
            .filter_expression(format!("attribute_exists(author) AND attribute_not_exists({ASIDE})"));
        self.table.page(call.scan_index_forward(false).limit(AT_ONCE), start).await
    }

    /// The transcripts of these turns, which are sorted newest first, by answer seq.
    async fn transcripts(&self, lease: &TurnLease, told: &[Told]) -> Result<HashMap<u64, Vec<Message>>, StoreError> {
        let mut places = told.iter().filter(|turn| turn.has_transcript()).map(|turn| turn.place);
        let (mut found, mut start) = (HashMap::new(), None);
        let Some(newest) = places.next() else { return Ok(found) };
        let oldest = places.next_back().unwrap_or(newest);
        loop {
            let call =
                self.table.query(&lease.partition).key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last");
            let call = call
                .expression_attribute_values(":first", s(transcript_sk(oldest)))
                .expression_attribute_values(":last", s(transcript_sk(newest)));
            let (items, next) = self.table.page(call, start).await?;
            for item in &items {
                found.extend([read(item)?]);
            }
            if next.is_none() {
                return Ok(found);
            }
            start = next;
        }
    }
}
