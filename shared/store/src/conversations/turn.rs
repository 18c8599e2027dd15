use std::time::Duration;

use domain::{
    Attachment, ErrorCode, Failure, FinishReason, Language, Message, NumberedSources, Source, Summary, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::seq_ranges::SeqRanges;
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
    /// The files of a new message, which the owner has.
    pub attachments: Vec<Attachment>,
    /// The message of the conversation that the input refers to.
    pub target: Target,
    /// The name of the model.
    pub model: String,
    /// For a new conversation: the language of the prompts.
    pub language: Language,
    /// For a new conversation.
    pub title: String,
    /// For a new conversation: whether it is in no list and expires. One that continues must be temporary then.
    pub temporary: bool,
    /// What a client's request has that the text of a new message does not hold.
    pub request: Option<StoredRequest>,
    /// The idempotency key of the request, which maps to the turn from its begin on.
    pub idempotency: Option<IdempotencyClaim>,
}

/// What a new message of the user does not hold of the request that sent it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredRequest {
    /// The messages that prompts have instead of the text: results of the client's tools, or a conversation that the client
    /// has kept so far; empty if the text is all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<Message>,
    /// What describes the request to its client.
    pub details: Value,
}

/// The input of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserInput {
    /// A new message of the user, after the target.
    Message(String),
    /// Another answer: to the target if it is a question, next to it if it is an answer. Its branch is shown from now on if
    /// it is complete and has text.
    Regenerate,
    /// More of the target, an answer that ended early.
    Continue,
}

/// The message of a conversation that a turn refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The last one of the shown branch.
    #[default]
    End,
    /// None: a new message begins the conversation again.
    Start,
    /// The one with this id, on any branch.
    Message(String),
}

/// Why a turn cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// The owner has no such conversation, or it has no such message.
    #[error("not found")]
    NotFound,
    /// There is no message yet that could be answered again.
    #[error("nothing to answer again")]
    NothingToRegenerate,
    /// The conversation or the target does not permit this turn; one sentence for clients.
    #[error("{0}")]
    Unsuitable(&'static str),
    /// A turn that must be in a temporary conversation is in another one.
    #[error("not a temporary conversation")]
    NotTemporary,
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
    pub(super) question_seq: u64,
    /// The messages before the question on its branch.
    pub(super) before: SeqRanges,
    /// The end of the branch that is shown again if this answer is no complete one.
    pub(super) back: Option<u64>,
    /// The answer so far, if the turn continues one.
    pub continued: Option<Box<Continued>>,
    /// The turn whose expired lease this one replaced: its process died, and its log may hold text that its answer lacks.
    pub interrupted: Option<TurnRef>,
    /// The highest number of a page of the earlier turns; `None` after a turn of an older release.
    pub(super) last_source: Option<usize>,
    /// The title, if it comes from the first message and a model may still replace it in this turn: the first turn of the
    /// conversation or the one after it. Never of a temporary conversation.
    pub replaceable_title: Option<String>,
    /// When the conversation expires, in seconds since 1970; `None` unless it is temporary.
    pub(super) expires_secs: Option<i64>,
}

impl TurnLease {
    /// Whether the conversation is temporary.
    pub fn is_temporary(&self) -> bool {
        self.expires_secs.is_some()
    }

    pub(super) fn turn_ref(&self) -> TurnRef {
        TurnRef::new(&self.turn_id, &self.conversation_id, self.answer_seq)
    }

    /// Whether the turn is the first one of its conversation.
    pub fn is_first(&self) -> bool {
        self.answer_seq == FIRST_ANSWER && self.continued.is_none()
    }

    /// How many turns have written the answer before.
    pub(super) fn earlier_turns(&self) -> usize {
        self.continued.as_ref().map_or(0, |continued| continued.earlier.len())
    }

    /// Whether the branch of the answer remains the shown one: a failed attempt must not replace another answer.
    pub(super) fn keeps_branch(&self, answer: &Answer) -> bool {
        let is_complete = matches!(answer.outcome.end, TurnEnd::Done(_)) && !answer.content.trim().is_empty();
        self.back.is_none() || is_complete
    }
}

/// An answer that ended early, and that a turn continues.
#[derive(Clone, Debug)]
pub struct Continued {
    /// The answer so far.
    pub message: StoredMessage,
    pub(super) earlier: Vec<EarlierTurn>,
    pub(super) has_transcript: bool,
}

/// A turn that ended, and what the answer had by then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EarlierTurn {
    pub(super) turn: String,
    pub(super) model: String,
    /// The length of the text, in bytes.
    pub(super) content: usize,
    /// The length of the reasoning, in bytes.
    pub(super) thinking: usize,
    pub(super) calls: usize,
    pub(super) sources: usize,
    /// `None` if its process died.
    pub(super) tally: Option<TurnOutcome>,
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
    /// The message of the failure, unless it is the code's default one.
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
    /// The answer, up to the end of the turn. Calls, sources and usage are those of this turn alone.
    pub message: StoredMessage,
    /// The text and the reasoning of the answer before this turn, which continues it; empty for any other turn.
    pub before: (String, String),
    /// `None` while it runs, and permanently if it was interrupted.
    pub outcome: Option<TurnOutcome>,
    /// Whether it continues an answer.
    pub continues: bool,
    /// The current title of its conversation, if the turn announced one.
    pub title: Option<String>,
}

/// The end of a turn, to be stored.
#[derive(Clone, Debug)]
pub struct Answer {
    /// All visible text, also of the turns that this one continues.
    pub content: String,
    /// All reasoning, likewise.
    pub thinking: String,
    /// All calls.
    pub tool_calls: Vec<StoredCall>,
    /// The pages that the turn found, and those of earlier turns that the answer cites.
    pub sources: Vec<Source>,
    /// The numbered pages that the turn adds to its conversation; `None` if the earlier ones were not read.
    pub added_sources: Option<NumberedSources>,
    /// The outcome of this turn.
    pub outcome: TurnOutcome,
    /// The model's messages and tool results of this turn after the user's message, for later prompts.
    pub transcript: Vec<Message>,
    /// The summary that replaces the oldest turns from now on, if this turn created one.
    pub summary: Option<Summary>,
    /// The title of the conversation, if the turn announces one; the answer is stored only if it still has this title.
    pub title: Option<String>,
    /// A model's title that replaces `title`, unless a user has given that one.
    pub new_title: Option<String>,
}
