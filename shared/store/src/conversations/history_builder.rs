//! Builds the history of earlier turns from their messages.

use std::collections::HashMap;

use domain::{HistoryTurn, Message};

use super::Role;
use super::bounds::shorten;
use super::message::{ATTACHMENTS, REQUEST};
use super::sort_keys::seq_in_sk;
use super::transcript::{
    answer_messages, char_count, drop_open_calls, pair_calls, results_as_message, transcript_chars, transcript_in,
};
use super::turn::StoredRequest;
use crate::compressed::decompressed;
use crate::item::{Item, ItemExt};
use crate::{Result, StoreError};

/// The maximum length of a user message in a prompt, in bytes; the stored message is complete.
const MAX_USER_MESSAGE_BYTES: usize = 160 * 1024;

/// The attributes of a message that are read for a prompt.
pub(super) const HISTORY_PROJECTION: &str =
    "sk, v, minReader, author, content, thinking, endedAt, transcript, exchange, clientRequest, attachments";

/// A turn read from its messages, before its transcript is loaded.
pub(super) struct CandidateTurn {
    pub(super) answer_seq: u64,
    /// The input of the user.
    input: Vec<Message>,
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
        char_count(&self.input) + self.min_transcript_chars.unwrap_or_else(|| char_count(&self.messages))
    }

    /// The turn for prompts, the user's message first; or results of the client's tools, which the turn before it called.
    pub(super) fn into_past_turn(self, transcripts: &mut HashMap<u64, Vec<Message>>) -> HistoryTurn {
        let transcript = self.min_transcript_chars.and_then(|_| transcripts.remove(&self.answer_seq));
        let mut messages = self.input;
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
    pub(super) fn build_turns(&mut self, items: Vec<Item>) -> Result<Vec<CandidateTurn>> {
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

fn candidate_turn(question: &Item, answer: &Item) -> Result<CandidateTurn> {
    let answer_seq = seq_in_sk(answer.text("sk")?).ok_or_else(|| StoreError::fault("a message that cannot be read"))?;
    let transcript = transcript_in(answer);
    let min_transcript_chars = transcript_chars(answer)?.filter(|_| transcript.is_none());
    let text = (answer.text("content")?, answer.text("thinking")?);
    let messages = transcript.unwrap_or_else(|| answer_messages(text.0, text.1));
    Ok(CandidateTurn { answer_seq, input: prompt_input(question)?, messages, min_transcript_chars })
}

/// The input of the user in prompts: one message, unless the request had others.
pub(super) fn prompt_input(question: &Item) -> Result<Vec<Message>> {
    let request = stored_request(question)?;
    let input = request.map(|request| request.input).filter(|input| !input.is_empty());
    let text = || {
        let attachments = question.optional_json(ATTACHMENTS)?.unwrap_or_default();
        Ok(vec![Message::User { text: prompt_text(question)?, attachments }])
    };
    input.map_or_else(text, Ok)
}

/// What the message's own text does not hold of its request.
pub(super) fn stored_request(question: &Item) -> Result<Option<StoredRequest>> {
    let parse =
        |json: String| serde_json::from_str(&json).map_err(|_| StoreError::fault("a request that cannot be read"));
    decompressed(question, REQUEST).map(parse).transpose()
}

/// Joins turns that begin with results of the client's tools with those that made the calls.
pub(super) fn join_results(turns: Vec<HistoryTurn>) -> Vec<HistoryTurn> {
    // Each turn with whether others were joined to it.
    let mut joined: Vec<(HistoryTurn, bool)> = Vec::with_capacity(turns.len());
    for turn in turns {
        match joined.last_mut() {
            Some((before, has_results)) if matches!(turn.messages.first(), Some(Message::Tool(_))) => {
                before.messages.extend(turn.messages);
                (before.seq, *has_results) = (turn.seq, true);
            }
            _ => joined.push((turn, false)),
        }
    }
    let count = joined.len();
    let finish = |(index, (mut turn, has_results)): (usize, (HistoryTurn, bool))| {
        results_as_message(&mut turn.messages);
        if has_results {
            turn.messages = pair_calls(&turn.messages, true);
        }
        if index + 1 < count {
            drop_open_calls(&mut turn.messages);
        }
        turn
    };
    joined.into_iter().enumerate().map(finish).collect()
}

/// The text of a user message in prompts. Only the first piece of a long one is read; it is longer than the limit.
pub(super) fn prompt_text(question: &Item) -> Result<String> {
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
