use std::time::Duration;

use conversation::{ErrorCode, FinishReason, Message, Source, Summary, Usage};
use serde::{Deserialize, Serialize};

use super::{StoredCall, StoredMessage};
use crate::StoreError;
use crate::key::Key;

/// A turn to be started.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// `None` for a new conversation.
    pub conversation_id: Option<String>,
    /// For a new conversation, the id by which its client knows it, if it has one.
    pub chat_id: Option<String>,
    /// A fresh id.
    pub turn_id: String,
    /// A fresh id for the user's message.
    pub user_message_id: String,
    /// A fresh id for the answer.
    pub assistant_message_id: String,
    /// What is to be answered.
    pub question: Question,
    /// The name of the model.
    pub model: String,
    /// For a new conversation.
    pub title: String,
}

/// What a turn answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The user's words, a new message of the conversation.
    Words(String),
    /// The last message of the user again: the new answer takes the place of the one that stands there, if it ends as
    /// one.
    Again,
}

/// A turn that cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// No such conversation of this owner.
    #[error("not found")]
    NotFound,
    /// There is no message yet that could be answered again.
    #[error("nothing to answer again")]
    NothingAsked,
    /// Another turn runs.
    #[error("turn in progress")]
    InProgress {
        /// When its lease ends at the latest.
        retry_after: Duration,
    },
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A running turn: what its holder must renew and end.
#[derive(Clone, Debug)]
pub struct TurnLease {
    /// The conversation, new or continued.
    pub conversation_id: String,
    /// The turn.
    pub turn_id: String,
    pub(super) head: Key,
    /// The partition of what lies under the conversation.
    pub(super) partition: String,
    /// The place of the answer.
    pub answer: u64,
    /// The place of the answer that this one shall stand for.
    pub(super) replaces: Option<u64>,
}

impl TurnLease {
    /// Whether the turn is the first one of its conversation.
    pub fn is_first(&self) -> bool {
        self.answer == 2
    }
}

/// What the holder of a lease is told when it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// The turn goes on.
    GoingOn,
    /// Somebody asked for this turn to stop.
    Stopping,
}

/// Why a lease cannot be used any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// The conversation is gone or another turn holds it.
    #[error("lease lost")]
    Lost,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// With an answer.
    Done(FinishReason),
    /// With a failure; what had been said is kept.
    Failed(ErrorCode),
}

/// What a turn came to: what it consumed and why it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// What it consumed.
    #[serde(flatten)]
    pub usage: Usage,
    /// Why it ended.
    pub end: TurnEnd,
    /// The models that wrote the answer, in their order, unless it was the one that was asked alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
}

/// A turn as it stands: its answer so far, and what it came to once it has ended by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTurn {
    /// The answer.
    pub message: StoredMessage,
    /// `None` while it runs, and for ever when it was cut off.
    pub tally: Option<Tally>,
}

/// How a turn ended, as it is stored.
#[derive(Clone, Debug)]
pub struct Answer {
    /// All that was shown.
    pub content: String,
    /// All reasoning.
    pub thinking: String,
    /// The calls.
    pub tool_calls: Vec<StoredCall>,
    /// The pages.
    pub sources: Vec<Source>,
    /// Why it ends where it does; a failure leaves it interrupted.
    pub end: TurnEnd,
    /// The models that wrote the answer, in their order, unless it was the one that was asked alone.
    pub models: Vec<String>,
    /// What the model wrote and read in this turn after the user's message, for later prompts.
    pub transcript: Vec<Message>,
    /// What it consumed.
    pub usage: Usage,
    /// What stands for the oldest turns from now on, if it was made in this turn.
    pub summary: Option<Summary>,
}
