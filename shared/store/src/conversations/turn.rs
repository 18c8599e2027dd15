use std::time::Duration;

use domain::{ErrorCode, Failure, FinishReason, Language, Message, NumberedSources, Source, Summary, Usage};
use serde::{Deserialize, Serialize};

use super::{StoredCall, StoredMessage};
use crate::key::Key;
use crate::turn_ref::TurnRef;
use crate::{IdempotencyClaim, StoreError};

/// The seq of the answer to a conversation's first message.
pub(super) const FIRST_ANSWER: u64 = 2;

/// A turn to be started.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// `None` for a new conversation.
    pub conversation_id: Option<String>,
    /// For a new conversation, its client's own chat id, if it has one.
    pub chat_id: Option<String>,
    /// A fresh id.
    pub turn_id: String,
    /// A fresh id for the user's message.
    pub user_message_id: String,
    /// A fresh id for the answer.
    pub assistant_message_id: String,
    /// The input of the turn.
    pub input: UserInput,
    /// The name of the model.
    pub model: String,
    /// For a new conversation: the language of the prompts.
    pub language: Language,
    /// For a new conversation.
    pub title: String,
    /// The idempotency key of the request, which maps to the turn from its begin on.
    pub idempotency: Option<IdempotencyClaim>,
}

/// The input of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserInput {
    /// A new message of the user.
    Message(String),
    /// The last message of the user again: the new answer replaces the current one, if it is complete and has text.
    Regenerate,
}

/// Why a turn cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// The owner has no such conversation.
    #[error("not found")]
    NotFound,
    /// There is no message yet that could be answered again.
    #[error("nothing to answer again")]
    NothingToRegenerate,
    /// Another turn runs.
    #[error("turn in progress")]
    InProgress {
        /// The time until its lease expires.
        retry_after: Duration,
    },
    /// The idempotency key maps to another turn since its status was read.
    #[error("idempotency key in use")]
    KeyInUse,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The lease of a running turn, which its holder must renew and end.
#[derive(Clone, Debug)]
pub struct TurnLease {
    /// The conversation, new or continued.
    pub conversation_id: String,
    /// The turn.
    pub turn_id: String,
    /// The language of the conversation's first message.
    pub language: Language,
    pub(super) head: Key,
    /// The partition of the conversation's items.
    pub(super) partition: String,
    /// The seq of the answer.
    pub answer_seq: u64,
    /// The seq of the answer that this one will supersede.
    pub(super) replaced_seq: Option<u64>,
    /// The turn whose expired lease this one replaced: its process died, and its log may hold text that its answer lacks.
    pub interrupted: Option<TurnRef>,
    /// The highest number of a page of the earlier turns; `None` after a turn of an older release.
    pub(super) last_source: Option<usize>,
}

impl TurnLease {
    pub(super) fn turn_ref(&self) -> TurnRef {
        let (turn_id, conversation_id) = (self.turn_id.clone(), self.conversation_id.clone());
        TurnRef { turn_id, conversation_id, answer_seq: self.answer_seq }
    }

    /// Whether the turn is the first one of its conversation.
    pub fn is_first(&self) -> bool {
        self.answer_seq == FIRST_ANSWER
    }
}

/// The state of a lease after a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// The turn may continue.
    Active,
    /// A stop of this turn was requested.
    StopRequested,
}

/// Why a lease is no longer usable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// The conversation is gone or another turn holds it.
    #[error("lease lost")]
    Lost,
    /// The user has renamed the conversation, so nothing is stored of an answer with [`Answer::title`].
    #[error("renamed")]
    Renamed,
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
    /// With a failure; the partial text is kept.
    Failed(ErrorCode),
}

/// The outcome of a turn: its usage and why it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnOutcome {
    /// Its usage.
    #[serde(flatten)]
    pub usage: Usage,
    /// Why it ended.
    pub end: TurnEnd,
    /// The models that generated the answer, in order; empty if only the requested one did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The time that models spent on reasoning, in milliseconds; `None` without reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_ms: Option<u64>,
    /// [`Answer::error_message`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// How often text became reasoning: what a client was sent before is not a part of the answer's text then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reclassified: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TurnOutcome {
    /// The failure with which the turn ended; `None` if it ended with an answer.
    pub fn failure(&self) -> Option<Failure> {
        let TurnEnd::Failed(code) = self.end else { return None };
        Some(self.error_message.as_ref().map_or_else(|| code.into(), |message| Failure::new(code, message)))
    }
}

/// A stored turn: its answer so far, and its outcome once it has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTurn {
    /// The answer.
    pub message: StoredMessage,
    /// `None` while it runs, and permanently if it was interrupted.
    pub outcome: Option<TurnOutcome>,
    /// The current title of its conversation, if the turn is its first one.
    pub title: Option<String>,
}

/// The end of a turn, to be stored.
#[derive(Clone, Debug)]
pub struct Answer {
    /// All visible text.
    pub content: String,
    /// All reasoning.
    pub thinking: String,
    /// The time that models spent on reasoning, in milliseconds; `None` without reasoning.
    pub thinking_ms: Option<u64>,
    /// The calls.
    pub tool_calls: Vec<StoredCall>,
    /// The pages that the turn found, and those of earlier turns that the answer cites.
    pub sources: Vec<Source>,
    /// The numbered pages that the turn adds to its conversation; `None` if the earlier ones were not read.
    pub added_sources: Option<NumberedSources>,
    /// Why it ended.
    pub end: TurnEnd,
    /// The message of the failure, unless it is the code's default one.
    pub error_message: Option<String>,
    /// The models that generated the answer, in order; empty if only the requested one did.
    pub models: Vec<String>,
    /// The model's messages and tool results of this turn after the user's message, for later prompts.
    pub transcript: Vec<Message>,
    /// Its usage.
    pub usage: Usage,
    /// The summary that replaces the oldest turns from now on, if this turn created one.
    pub summary: Option<Summary>,
    /// The title that the turn will announce; the answer is stored only if the conversation still has it.
    pub title: Option<String>,
    /// [`TurnOutcome::reclassified`].
    pub reclassified: usize,
}
