//! DynamoDB: conversations, the search cache, rate limits. The only crate with SDK types.

use std::time::{Duration, SystemTime};

use aws_types::SdkConfig;
use conversation::{Message, Source, Usage};
use serde::{Deserialize, Serialize};
use settings::{SettingError, Settings};

/// A storage failure, named by what the caller does next.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Throttled or unreachable after the SDK's retries: try later.
    #[error("storage busy")]
    Busy,
    /// A fault in what was asked or in what is stored.
    #[error("storage fault: {0}")]
    Fault(String),
}

/// The names of the two tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNames {
    /// Durable items.
    pub data: String,
    /// Items with a time to live.
    pub ephemeral: String,
}

impl TableNames {
    /// `DATA_TABLE` and `EPHEMERAL_TABLE`, or their defaults.
    pub fn from_settings(_settings: &Settings) -> Result<Self, SettingError> {
        todo!()
    }
}

/// The AWS configuration made by hand: region, credentials from the environment, `AWS_ENDPOINT_URL_DYNAMODB`, embedded
/// roots, timeouts.
pub fn sdk_config(_settings: &Settings) -> Result<SdkConfig, SettingError> {
    todo!()
}

/// Makes both tables where they do not exist, for the local server and the tests; waits until they are usable.
pub async fn create_tables(_config: &SdkConfig, _names: &TableNames) -> Result<(), StoreError> {
    todo!()
}

/// The stores over one client.
#[derive(Clone)]
pub struct Store {
    /// Conversations and their turns.
    pub conversations: ConversationStore,
    /// Search results.
    pub search_cache: SearchCache,
    /// Limits per caller.
    pub rate_limiter: RateLimiter,
}

impl Store {
    /// Builds one client and the stores over it; makes no call.
    pub fn new(_config: &SdkConfig, _names: TableNames) -> Self {
        todo!()
    }
}

/// The verified identity to whom items belong; every key starts with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner(String);

impl Owner {
    /// An owner by the name that authentication gave; any text.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

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
    /// User and assistant messages.
    pub message_count: u64,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
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

/// How far a stored message got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Being written, under a lease that still holds.
    Running,
    /// Whole.
    Complete,
    /// Cut off; what had been said is kept.
    Interrupted,
}

/// A call as it is shown again later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredCall {
    /// Unique within the turn.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// As the model wrote them.
    pub arguments: serde_json::Value,
    /// Whether it did what was asked.
    pub ok: bool,
    /// A few words.
    pub summary: String,
}

/// A message as a client reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredMessage {
    /// A ULID.
    pub id: String,
    /// Who wrote it.
    pub role: Role,
    /// What was shown.
    pub content: String,
    /// The reasoning; empty for none.
    pub thinking: String,
    /// The name of the model; empty for user messages.
    pub model: String,
    /// The calls of the turn.
    pub tool_calls: Vec<StoredCall>,
    /// The pages of the turn.
    pub sources: Vec<Source>,
    /// How far it got.
    pub status: Status,
    /// RFC 3339, UTC.
    pub created_at: String,
}

/// A page of a list and where the next one begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Opaque; `None` after the last page.
    pub next_cursor: Option<String>,
}

/// A list that cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReadError {
    /// No such conversation of this owner.
    #[error("not found")]
    NotFound,
    /// The cursor was not made by this list.
    #[error("malformed cursor")]
    BadCursor,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A turn to be started.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// `None` for a new conversation.
    pub conversation_id: Option<String>,
    /// A fresh id.
    pub turn_id: String,
    /// A fresh id for the user's message.
    pub user_message_id: String,
    /// A fresh id for the answer.
    pub assistant_message_id: String,
    /// The user's words.
    pub text: String,
    /// The name of the model.
    pub model: String,
    /// For a new conversation.
    pub title: String,
}

/// A turn that cannot be started.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BeginError {
    /// No such conversation of this owner.
    #[error("not found")]
    NotFound,
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
    // the store helper adds what it needs (private)
}

/// Why a lease cannot be used any more.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LeaseError {
    /// The conversation is gone or another turn holds it.
    #[error("lease lost")]
    Lost,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
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
    /// `Complete` or `Interrupted`.
    pub status: Status,
    /// What the model wrote and read in this turn after the user's message, for later prompts.
    pub transcript: Vec<Message>,
    /// What it consumed.
    pub usage: Usage,
}

/// Conversations in the data table.
#[derive(Clone)]
pub struct ConversationStore;

impl ConversationStore {
    /// How long a lease holds unless renewed.
    pub const LEASE: Duration = Duration::from_secs(15);

    /// Makes or takes the conversation and stores the user's message and a running answer, in one transaction.
    pub async fn begin(&self, _owner: &Owner, _turn: &NewTurn, _now: SystemTime) -> Result<TurnLease, BeginError> {
        todo!()
    }
    /// The messages before this turn that fit `budget` characters, oldest first; whole turns only, newest preferred.
    pub async fn history(&self, _lease: &TurnLease, _budget: usize) -> Result<Vec<Message>, StoreError> {
        todo!()
    }
    /// Extends the lease.
    pub async fn renew(&self, _lease: &TurnLease, _now: SystemTime) -> Result<(), LeaseError> {
        todo!()
    }
    /// Stores the answer and frees the conversation, in one transaction; once.
    pub async fn finish(&self, _lease: &TurnLease, _answer: &Answer, _now: SystemTime) -> Result<(), LeaseError> {
        todo!()
    }
    /// The owner's conversations, last updated first.
    pub async fn list(
        &self,
        _owner: &Owner,
        _limit: u32,
        _cursor: Option<&str>,
    ) -> Result<Page<Conversation>, ReadError> {
        todo!()
    }
    /// A conversation.
    pub async fn get(&self, _owner: &Owner, _id: &str) -> Result<Conversation, ReadError> {
        todo!()
    }
    /// Its messages, oldest first.
    pub async fn messages(
        &self,
        _owner: &Owner,
        _id: &str,
        _limit: u32,
        _cursor: Option<&str>,
        _now: SystemTime,
    ) -> Result<Page<StoredMessage>, ReadError> {
        todo!()
    }
    /// Gives it another title.
    pub async fn rename(
        &self,
        _owner: &Owner,
        _id: &str,
        _title: &str,
        _now: SystemTime,
    ) -> Result<Conversation, ReadError> {
        todo!()
    }
    /// Deletes it and everything under it; a turn that runs there loses its lease.
    pub async fn delete(&self, _owner: &Owner, _id: &str) -> Result<(), ReadError> {
        todo!()
    }
}

/// What a cache lookup tells the caller to do.
#[derive(Clone, Debug)]
pub enum Claim {
    /// Use this value.
    Fresh(String),
    /// Fetch it, then `put` or `release`.
    Lead {
        /// The right to write.
        lead: Lead,
        /// An expired value, for when the fetch fails.
        stale: Option<String>,
    },
    /// Somebody else fetches it: ask again shortly.
    Follow {
        /// An expired value, for when the wait is too long.
        stale: Option<String>,
    },
}

/// The right to write one cache entry, for a while.
#[derive(Clone, Debug)]
pub struct Lead {
    // private: key and lease id
}

/// Search results in the ephemeral table: single flight by a lease item, own expiry check on every read.
#[derive(Clone)]
pub struct SearchCache;

impl SearchCache {
    /// Looks `key` up; of many simultaneous callers that miss, one becomes the leader for `lease`.
    pub async fn claim(&self, _key: &str, _lease: Duration, _now: SystemTime) -> Result<Claim, StoreError> {
        todo!()
    }
    /// Stores a value that is fresh for `ttl`; not when it is too large for an item, nor when the lead was lost.
    pub async fn put(&self, _lead: Lead, _value: &str, _ttl: Duration, _now: SystemTime) -> Result<(), StoreError> {
        todo!()
    }
    /// Gives the lead up without a value, so that the next caller leads.
    pub async fn release(&self, _lead: Lead) -> Result<(), StoreError> {
        todo!()
    }
}

/// `N/Ws`: a burst of N, one back every W/N seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// N.
    pub burst: u32,
    /// W.
    pub window: Duration,
}

impl RateLimit {
    /// Parses `10/60s`.
    pub fn parse(_text: &str) -> Option<Self> {
        todo!()
    }
}

/// Whether a request may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Admitted,
    /// It may not, until then.
    Denied {
        /// How long to wait.
        retry_after: Duration,
    },
}

/// GCRA over conditional updates in the ephemeral table.
#[derive(Clone)]
pub struct RateLimiter;

impl RateLimiter {
    /// Counts one request of `key` (a scope and an owner) against `limit`.
    pub async fn admit(&self, _key: &str, _limit: RateLimit, _now: SystemTime) -> Result<Admission, StoreError> {
        todo!()
    }
}
