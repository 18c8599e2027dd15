use domain::{Attachment, CallPosition, ErrorCode, FinishReason, Source, ToolCall, ToolFailure, ToolOutcome, Usage};
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// A conversation without its messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// A ULID.
    pub id: String,
    /// 1 to 200 characters.
    pub title: String,
    /// The name of the model of the last turn.
    pub model: String,
    /// The messages of the shown branch.
    pub message_count: u64,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
    /// Where the title comes from.
    pub title_from: TitleSource,
    /// Whether the owner has pinned it.
    pub pinned: bool,
    /// Whether the owner has archived it.
    pub archived: bool,
    /// When it is gone, for a temporary one; RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// Where the title of a conversation comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TitleSource {
    /// From its first message. Earlier releases store no other source, also for titles of users.
    #[default]
    Message,
    /// From a model.
    Model,
    /// From its owner.
    User,
}

/// Who wrote a stored message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// The status of a stored message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Being generated, under a valid lease.
    Running,
    /// Complete.
    Complete,
    /// Interrupted, because its process died or was shut down; the partial text is kept.
    Interrupted,
    /// Ended with an error; the partial text is kept. It is stored as interrupted, which earlier releases can read too.
    Failed,
}

/// A stored tool call, for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCall {
    /// Unique within the turn.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// As the model generated them; very long ones as a shortened text.
    pub arguments: serde_json::Value,
    /// Whether it succeeded.
    pub ok: bool,
    /// A short label.
    pub summary: String,
    /// What the turn had written before it; `None` in turns of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<CallPosition>,
    /// Its duration in milliseconds; `None` if it did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whether the result came from a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Whether the client runs it, so that its result is unknown here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client: bool,
    /// Why it failed; `None` for a call that succeeded or did not finish, and in turns of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

impl StoredCall {
    /// The call as the model made it.
    pub fn call(&self) -> ToolCall {
        ToolCall { id: self.id.clone(), name: self.name.clone(), arguments: self.arguments.clone() }
    }

    /// A call with its outcome; without one it did not finish.
    pub fn new(call: &ToolCall, outcome: Option<&ToolOutcome>, position: Option<CallPosition>) -> Self {
        let (ok, summary) = outcome.map_or((false, "not finished"), |outcome| (outcome.ok, outcome.summary.as_str()));
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            ok,
            summary: summary.to_owned(),
            position,
            duration_ms: outcome.map(|outcome| outcome.duration_ms),
            cached: outcome.is_some_and(|outcome| outcome.cached),
            client: false,
            error: outcome.and_then(|outcome| outcome.error.clone()),
        }
    }

    /// A call of a tool that the client runs, after all text.
    pub fn of_client(call: &ToolCall) -> Self {
        Self { ok: true, summary: String::new(), client: true, ..Self::new(call, None, None) }
    }
}

/// Why a stored answer failed, as its stream ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageError {
    /// The error code.
    pub code: ErrorCode,
    /// One sentence for users; never contains upstream text, an address or a secret.
    pub message: String,
}

/// A message for clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredMessage {
    /// A ULID.
    pub id: String,
    /// The message before it on its branch; `None` for a first one.
    pub parent_id: Option<String>,
    /// The messages with the same parent in the order of their creation, itself included; empty if there is no other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub siblings: Vec<String>,
    /// Who wrote it.
    pub role: Role,
    /// The files of a user message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The visible text.
    pub content: String,
    /// The reasoning; empty for none.
    pub thinking: String,
    /// The time spent on the reasoning, in milliseconds; `None` without reasoning and in turns of earlier releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_ms: Option<u64>,
    /// The name of the model; empty for user messages.
    pub model: String,
    /// The calls of the turn.
    pub tool_calls: Vec<StoredCall>,
    /// The pages that the turn used.
    pub sources: Vec<Source>,
    /// The models that generated it, in order; empty if `model` alone did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// The usage of the turn; `None` before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Its status.
    pub status: Status,
    /// Why a complete answer ends early; `None` if the model stopped by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Why it failed; `None` for any other status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<MessageError>,
    /// How its owner rates it; `None` for an answer without a rating and for user messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
    /// RFC 3339, UTC.
    pub created_at: String,
}

/// How a user rates an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rating {
    /// Good.
    Up,
    /// Bad.
    Down,
}

/// A user's opinion of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// The rating.
    pub rating: Rating,
    /// Why, in the user's own terms.
    pub reason: Option<String>,
}

/// A page of a list and the cursor of the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Opaque; `None` after the last page.
    pub next_cursor: Option<String>,
}

/// Why a list cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The owner has no such conversation.
    #[error("not found")]
    NotFound,
    /// The cursor does not belong to this list.
    #[error("malformed cursor")]
    BadCursor,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_earlier_releases_have_no_position() {
        let stored = serde_json::json!({ "id": "1", "name": "f", "arguments": {}, "ok": true, "summary": "s" });
        let call: StoredCall = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!((call.position, call.duration_ms, call.cached, &call.error), (None, None, false, &None));
        assert_eq!(serde_json::to_value(call).unwrap(), stored);
    }
}
