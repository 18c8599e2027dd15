//! Earlier turns as their messages tell them.

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

/// The longest question in a prompt, in bytes; the message itself keeps all of it.
const LONGEST_ASKED: usize = 160 * 1024;

/// What of a message's item is read for a prompt.
pub(super) const READ_OF_IT: &str = "sk, v, minReader, author, content, thinking, endedAt, transcript";

/// A turn as its messages tell it.
pub(super) struct Told {
    /// The place of its answer.
    pub(super) place: u64,
    asked: String,
    said: Vec<Message>,
    /// How long the transcript is at least that says it better, where there is one.
    transcript: Option<usize>,
}

impl Told {
    pub(super) fn has_transcript(&self) -> bool {
        self.transcript.is_some()
    }

    /// The least that its length in a prompt can be.
    pub(super) fn least(&self) -> usize {
        self.asked.chars().count() + self.transcript.unwrap_or_else(|| length(&self.said))
    }

    /// The turn as prompts read it, the question first.
    pub(super) fn whole(self, transcripts: &mut HashMap<u64, Vec<Message>>) -> PastTurn {
        let transcript = self.transcript.and_then(|_| transcripts.remove(&self.place));
        let mut messages = vec![Message::User { text: self.asked }];
        messages.extend(transcript.unwrap_or(self.said));
        PastTurn { place: self.place, messages }
    }
}

/// Puts turns together from messages that come newest first.
pub(super) struct Telling {
    /// The answer whose question comes next.
    answer: Option<Item>,
    /// Whether the next question is the one that is being answered again.
    again: bool,
}

impl Telling {
    pub(super) fn before(lease: &TurnLease) -> Self {
        Self { answer: None, again: lease.replaces.is_some() }
    }

    /// The turns whose questions are among the next messages.
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

/// What a message of the user says in prompts; of a long one the first piece is longer than that.
pub(super) fn asked(question: &Item) -> Result<String, StoreError> {
    Ok(shorten(question.text("content")?, LONGEST_ASKED))
}

/// The room that a history has.
#[derive(Clone)]
pub(super) struct Budget {
    left: usize,
    is_whole: bool,
}

impl Budget {
    pub(super) fn of(characters: usize) -> Self {
        Self { left: characters, is_whole: true }
    }

    /// Takes room for a turn of this length; the first one fits in any case.
    pub(super) fn takes(&mut self, length: usize) -> bool {
        let rest = self.left.checked_sub(length);
        let fits = rest.is_some() || self.is_whole;
        (self.left, self.is_whole) = (rest.unwrap_or_default(), false);
        fits
    }
}
