//! Builds the history of earlier turns from their messages.

use std::collections::HashMap;

use domain::{HistoryTurn, Message};

use super::Role;
use super::bounds::shorten;
use super::sort_keys::seq_in_sk;
use super::transcript::{answer_messages, char_count, transcript_chars, transcript_in};
use crate::StoreError;
use crate::item::{Item, ItemExt};

/// The maximum length of a user message in a prompt, in bytes; the stored message is complete.
const MAX_USER_MESSAGE_BYTES: usize = 160 * 1024;

/// The attributes of a message that are read for a prompt.
pub(super) const HISTORY_PROJECTION: &str =
    "sk, v, minReader, author, content, thinking, endedAt, transcript, exchange";

/// A turn read from its messages, before its transcript is loaded.
pub(super) struct CandidateTurn {
    pub(super) answer_seq: u64,
    user_message: String,
    messages: Vec<Message>,
    /// The minimum length of its transcript in characters, if that has an item of its own.
    min_transcript_chars: Option<usize>,
}

impl CandidateTurn {
    pub(super) fn has_transcript(&self) -> bool {
        self.min_transcript_chars.is_some()
    }

    /// Its minimum length in a prompt, in characters.
    pub(super) fn min_chars(&self) -> usize {
        self.user_message.chars().count() + self.min_transcript_chars.unwrap_or_else(|| char_count(&self.messages))
    }

    /// The turn for prompts, the user's message first.
    pub(super) fn into_past_turn(self, transcripts: &mut HashMap<u64, Vec<Message>>) -> HistoryTurn {
        let transcript = self.min_transcript_chars.and_then(|_| transcripts.remove(&self.answer_seq));
        let mut messages = vec![Message::User { text: self.user_message }];
        messages.extend(transcript.unwrap_or(self.messages));
        HistoryTurn { seq: self.answer_seq, messages }
    }
}

/// Builds turns from the messages of a branch, which are sorted newest first.
#[derive(Default)]
pub(super) struct HistoryBuilder {
    /// The answer whose user message follows.
    answer: Option<Item>,
}

impl HistoryBuilder {
    /// Returns the turns whose user messages are in `items`.
    pub(super) fn build_turns(&mut self, items: Vec<Item>) -> Result<Vec<CandidateTurn>, StoreError> {
        let mut turns = Vec::new();
        for item in items {
            item.check_version("a message")?;
            if item.variant::<Role>("author")? != Role::User {
                self.answer.get_or_insert(item);
                continue;
            }
            let answer = self.answer.take();
            turns.extend(answer.map(|answer| candidate_turn(&item, &answer)).transpose()?);
        }
        Ok(turns)
    }
}

fn candidate_turn(question: &Item, answer: &Item) -> Result<CandidateTurn, StoreError> {
    let answer_seq = seq_in_sk(answer.text("sk")?).ok_or_else(|| StoreError::fault("a message that cannot be read"))?;
    let transcript = transcript_in(answer);
    let min_transcript_chars = transcript_chars(answer)?.filter(|_| transcript.is_none());
    let text = (answer.text("content")?, answer.text("thinking")?);
    let messages = transcript.unwrap_or_else(|| answer_messages(text.0, text.1));
    Ok(CandidateTurn { answer_seq, user_message: prompt_text(question)?, messages, min_transcript_chars })
}

/// The text of a user message in prompts. Only the first piece of a long one is read; it is longer than the limit.
pub(super) fn prompt_text(question: &Item) -> Result<String, StoreError> {
    Ok(shorten(question.text("content")?, MAX_USER_MESSAGE_BYTES))
}

/// The remaining budget of a history, in characters.
#[derive(Clone)]
pub(super) struct HistoryBudget {
    remaining: usize,
    is_untouched: bool,
}

impl HistoryBudget {
    pub(super) fn of(characters: usize) -> Self {
        Self { remaining: characters, is_untouched: true }
    }

    /// Takes the length of a turn from the budget, if it fits; the first turn always fits.
    pub(super) fn try_take(&mut self, length: usize) -> bool {
        let rest = self.remaining.checked_sub(length);
        let fits = rest.is_some() || self.is_untouched;
        (self.remaining, self.is_untouched) = (rest.unwrap_or_default(), false);
        fits
    }
}
