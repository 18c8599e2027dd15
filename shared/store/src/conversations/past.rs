//! Builds the history of earlier turns from their messages.

use std::collections::HashMap;
use std::mem;

use conversation::{Message, PastTurn};

use super::Role;
use super::bounds::shorten;
use super::message::place_in;
use super::transcript::{TRANSCRIPT, length, told};
use super::turn::TurnLease;
use crate::StoreError;
use crate::item::{Item, Read};

/// The maximum length of a user message in a prompt, in bytes; the stored message is complete.
const LONGEST_ASKED: usize = 160 * 1024;

/// The attributes of a message that are read for a prompt.
pub(super) const READ_OF_IT: &str = "sk, v, minReader, author, content, thinking, endedAt, transcript";

/// A turn read from its messages, before its transcript is loaded.
pub(super) struct Told {
    /// The seq of its answer.
    pub(super) place: u64,
    asked: String,
    said: Vec<Message>,
    /// The minimum length of its transcript in characters, if it has one.
    transcript: Option<usize>,
}

impl Told {
    pub(super) fn has_transcript(&self) -> bool {
        self.transcript.is_some()
    }

    /// Its minimum length in a prompt, in characters.
    pub(super) fn least(&self) -> usize {
        self.asked.chars().count() + self.transcript.unwrap_or_else(|| length(&self.said))
    }

    /// The turn for prompts, the user's message first.
    pub(super) fn whole(self, transcripts: &mut HashMap<u64, Vec<Message>>) -> PastTurn {
        let transcript = self.transcript.and_then(|_| transcripts.remove(&self.place));
        let mut messages = vec![Message::User { text: self.asked }];
        messages.extend(transcript.unwrap_or(self.said));
        PastTurn { place: self.place, messages }
    }
}

/// Builds turns from messages, which are sorted newest first.
pub(super) struct Telling {
    /// The answer whose user message follows.
    answer: Option<Item>,
    /// Whether the next user message is the one that this turn answers again.
    again: bool,
}

impl Telling {
    pub(super) fn before(lease: &TurnLease) -> Self {
        Self { answer: None, again: lease.replaces.is_some() }
    }

    /// Returns the turns whose user messages are in `items`.
    pub(super) fn take(&mut self, items: Vec<Item>) -> Result<Vec<Told>, StoreError> {
        let mut turns = Vec::new();
        for item in items {
            if !item.is_understood() {
                return Err(StoreError::fault("a message of another version"));
            }
            if Role::parse(item.text("author")?) != Some(Role::User) {
                self.answer.get_or_insert(item);
                continue;
            }
            let is_again = mem::take(&mut self.again);
            let answer = self.answer.take().filter(|_| !is_again);
            turns.extend(answer.map(|answer| turn(&item, &answer)).transpose()?);
        }
        Ok(turns)
    }
}

fn turn(question: &Item, answer: &Item) -> Result<Told, StoreError> {
    let place = place_in(answer.text("sk")?).ok_or_else(|| StoreError::fault("a message that cannot be read"))?;
    let transcript = if answer.contains_key(TRANSCRIPT) {
        Some(answer.number(TRANSCRIPT)?).filter(|length| *length > 0)
    } else {
        answer.contains_key("endedAt").then_some(0)
    };
    let said = told(answer.text("content")?, answer.text("thinking")?);
    Ok(Told { place, asked: asked(question)?, said, transcript })
}

/// The text of a user message in prompts. Only the first piece of a long one is read; it is longer than the limit.
pub(super) fn asked(question: &Item) -> Result<String, StoreError> {
    Ok(shorten(question.text("content")?, LONGEST_ASKED))
}

/// The remaining budget of a history, in characters.
#[derive(Clone)]
pub(super) struct Budget {
    left: usize,
    is_whole: bool,
}

impl Budget {
    pub(super) fn of(characters: usize) -> Self {
        Self { left: characters, is_whole: true }
    }

    /// Takes the length of a turn from the budget, if it fits; the first turn always fits.
    pub(super) fn takes(&mut self, length: usize) -> bool {
        let rest = self.left.checked_sub(length);
        let fits = rest.is_some() || self.is_whole;
        (self.left, self.is_whole) = (rest.unwrap_or_default(), false);
        fits
    }
}
