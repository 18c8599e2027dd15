//! Recovery of what a turn had written when its process died: the text that its log holds becomes its answer.
//!
//! Nothing is written while a turn may run: only a reader that finds an expired lease recovers, and the turn's own end
//! replaces what was recovered. Several readers may recover the same turn; the one with the most events prevails.

use std::time::SystemTime;

use domain::{Owner, TurnAccumulator};

use crate::conversations::{AllMessages, MessageQuery, Page, StoredMessage};
use crate::{BeginError, NewTurn, ReadError, Result, Store, TurnLease, TurnRef};

/// Maximum number of pages of a log that are read, each of at most 1 MB; a turn's text takes three.
const MAX_PAGES: usize = 16;

impl Store {
    /// A page of the messages of a conversation, the oldest first, after the text of turns that died was recovered. Very
    /// long messages shorten a page.
    pub async fn messages(
        &self,
        owner: &Owner,
        id: &str,
        query: MessageQuery<'_>,
        now: SystemTime,
    ) -> Result<Page<StoredMessage>, ReadError> {
        let (page, recoverable) = self.conversations.messages_page(owner, id, query, now).await?;
        if self.recover_turns(owner, &recoverable, now).await {
            return self.conversations.messages_page(owner, id, query, now).await.map(|(page, _)| page);
        }
        Ok(page)
    }

    /// Begins a turn like [`ConversationStore::begin`](crate::ConversationStore::begin). The text of an answer that it
    /// continues is recovered before, if the turn of that died.
    pub async fn begin(&self, owner: &Owner, turn: &NewTurn, now: SystemTime) -> Result<TurnLease, BeginError> {
        if let Some(dead) = self.conversations.dead_turn_before(owner, turn, now).await? {
            self.recover_turns(owner, &[dead], now).await;
        }
        self.conversations.begin(owner, turn, now).await
    }

    /// A page of all messages, after the text of turns that died was recovered.
    pub async fn all_messages(
        &self,
        owner: &Owner,
        id: &str,
        after: u64,
        now: SystemTime,
    ) -> Result<AllMessages, ReadError> {
        let page = self.conversations.all_messages(owner, id, after, now).await?;
        if self.recover_turns(owner, &page.recoverable, now).await {
            return self.conversations.all_messages(owner, id, after, now).await;
        }
        Ok(page)
    }

    /// Stores what the log of a turn that died holds as its answer, unless the turn has ended after all. Returns whether
    /// the log holds anything; another reader may have stored it.
    ///
    /// The log may end anywhere: after an event that cannot be read, or that was not written, nothing is used.
    pub async fn recover_turn(&self, owner: &Owner, turn: &TurnRef, now: SystemTime) -> Result<bool> {
        let (mut logged, mut events) = (TurnAccumulator::default(), 0);
        for _ in 0..MAX_PAGES {
            let page = self.streams.read(owner, turn, events, now).await?;
            events += page.events.len();
            page.events.iter().for_each(|event| logged.apply(event));
            if !page.has_more {
                break;
            }
        }
        let is_empty = logged.content.is_empty() && logged.thinking.is_empty() && logged.calls.is_empty();
        if !is_empty {
            self.conversations.store_recovered(owner, turn, &logged, events).await?;
        }
        Ok(!is_empty)
    }

    /// Whether a stored answer may have changed. A turn that cannot be recovered now can be at the next read.
    async fn recover_turns(&self, owner: &Owner, turns: &[TurnRef], now: SystemTime) -> bool {
        let mut has_text = false;
        for turn in turns {
            match self.recover_turn(owner, turn, now).await {
                Ok(found) => has_text |= found,
                Err(error) => tracing::warn!(%error, turn = %turn.turn_id, "an interrupted answer was not recovered"),
            }
        }
        has_text
    }
}
