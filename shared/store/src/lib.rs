//! DynamoDB: conversations, the search cache, rate limits, sums of what was used. The only crate with SDK types.
//!
//! Two tables, both keyed by the strings `pk` and `sk`. The *data* table holds what users own; every partition begins with
//! its owner (`{o}`, encoded so that it holds no `#`, and hashed when long). The *ephemeral* table holds what may be lost;
//! its items expire by `expires`. DynamoDB takes days to delete what expired, so every read looks at the times itself.
//!
//! | `pk` | `sk` | attributes | written by |
//! |---|---|---|---|
//! | `U#{o}` | `C#{conversation}` | the head: `title`, `model`, `messageCount`, `createdAt`, `updatedAt`, `seq` (place of the last message), `tip` (place of the answer that it ends with); if a client named it `chat`; while a turn runs `turn`, `leaseUntil` and, once somebody wants it to stop, `stopping` (that turn) | `begin`, `renew`, `stop`, `finish`, `rename` |
//! | | `N#{chat id}` | where a client's own id leads: `conversation` | `begin`, `delete` |
//! | `U#{o}#C#{conversation}` | `M#{place}` | a message: `id`, `turn`, `author`, `model`, `progress`, `createdAt`, `content`, `thinking`, `calls` and `sources` (JSON), `parts` (how many further pieces); after its turn `tally` (JSON), `endedAt` and `transcript` (the length of its transcript in characters; 0 where it has none, because the message tells all); `aside` if another answer stands for it | `begin`, `finish` |
//! | | `M#{place}#{n}` | a further piece of a long message: `content`, `thinking` | `begin`, `finish` |
//! | | `S` | what stands for the oldest turns in prompts: `summary` (JSON) | `finish` |
//! | | `T#{place}` | a transcript, what prompts read of the turn whose answer has that place: `said` (JSON), `turn`. It counts if the answer's `transcript` says that there is one, or the answer ended and has no `transcript`: then it is an older one with `asked` and maybe `aside`, which nobody reads | `finish` |
//! | `U#{o}#U`; of all owners together `USAGE` | `D#{2026-11-21}` | what was consumed on a day (UTC): `turns`, `estimatedTurns`, `inputTokens`, `outputTokens`, `searchCredits`; where it applies `costMicros`, `searches`. No time to live | [`Ledger`] |
//! | `K` | `{id}` | an API key: `owner` (a name), `admin`, `createdAt`, `digest` (SHA-256 of the key, hexadecimal); where it applies `expiresAt`, `revokedAt` | [`Keys`] |
//! | `D#tools`, `D#agents` | `I#{id}` | a definition: `id`, `title` (its name), `body` (JSON), `createdAt`, `changedAt` | [`Definitions`] |
//! | | `N#{name}` | keeps a name for one definition: `document` (its id) | [`Definitions`] |
//! | `SC#{key}` (ephemeral) | `-` | a search result: `cached`, `freshUntil`, `expires`; while somebody fetches it `leader`, `leaseUntil` | [`SearchCache`] |
//! | `CR#{SHA-256 of the provider's address}#{year}-{month}` (ephemeral) | `-` | what searches cost: `credits`, `day{nn}` (those of a day), `expires`; after the provider refused to go on `pausedUntil` | [`SearchCredits`] |
//! | `U#{o}#I` (ephemeral) | `{SHA-256 of the key}` | an idempotency key: `turn`, `print` (SHA-256 of the request), `claimedUntil`, `expires`; once the turn has begun `conversation`, `answer` (its place) | [`Idempotency`] |
//! | `U#{o}#S#{conversation}` (ephemeral) | `T#{turn}#{event}` | events of a turn from that one on (twelve digits, from 0): `events` (a line of JSON each, or a list of texts), `answer` (the place of the turn's answer), `expires` | [`StreamLog`], `finish_logged` |
//! | `U#{o}#X` (ephemeral) | `{answer}-{place}` | a call of a tool: `call` (JSON), `owner`, `conversation`, `madeAt`, `expires` | [`Executions`] |
//! | `X#{day}` (ephemeral) | the same | where that row lies: `under`, `expires` | [`Executions`] |
//! | `TF#{SHA-256 of the model's identity}` (ephemeral) | `-` | what was found out about a model's tools: `native`, `learned`, `countsUntil`, `expires` | [`ToolFacts`] |
//! | `OE#{SHA-256 of the endpoint}` (ephemeral) | `-` | how a model's endpoint does: `changedAt`, `expires`; while it is left alone `downUntil` | [`Outages`] |
//! | `RL#{key}#{burst}/{window}` (ephemeral) | `-` | `tat` in microseconds, `expires` | [`RateLimiter`] |
//!
//! Every item has `v`, the version of its shape, and where older releases can read it `minReader`. Places are a conversation's own count, written with twelve digits: an
//! answer's is the next after its question's, or after the last answer to that question. Times are milliseconds since 1970 unless said otherwise; `expires` is in seconds.
//!
//! The data table has one index, [`UPDATED_INDEX`], over `pk` and [`UPDATED_AT`] with all attributes. It is a *local*
//! one, because only those can be read with strong consistency; only heads have its sort key. All reads are strongly
//! consistent.

mod aws;
mod backup;
mod batch;
mod bounded;
mod clock;
mod conversations;
mod day;
mod definitions;
mod erase;
mod error;
mod executions;
mod export;
#[cfg(test)]
mod fuzz;
mod gathering;
mod idempotency;
mod item;
mod key;
mod keys;
mod ledger;
mod limits;
mod outages;
mod owners;
mod pause;
mod renewing;
mod roots;
mod search_cache;
mod search_credits;
mod shape;
mod stream_log;
mod summing;
mod table;
mod tables;
mod tool_facts;
mod transaction;

pub use aws::sdk_config;
pub use backup::{Backup, BackupError, Check, Contents, Restore, Restored, Unusable, Wish};
pub use conversations::{
    Answer, BeginError, Conversation, ConversationStore, LeaseError, NewTurn, Page, Question, ReadError, Renewed, Role,
    Status, StoredCall, StoredMessage, StoredTurn, Tally, TurnEnd, TurnLease,
};
pub use day::Day;
pub use definitions::{DefineError, Definition, Definitions, Kind};
pub use error::{STORAGE_DAMAGED, STORAGE_FULL, StoreError};
pub use executions::{Execution, Executions, ListedExecution};
pub use export::{Export, Exported};
pub use idempotency::{Claimed, Idempotency, IdempotencyClaim, KnownTurn};
pub use key::Owner;
pub use keys::{ApiKey, KeyRecord, Keys, NewKey};
pub use ledger::{Account, Ledger, Spent};
pub use limits::{Admission, RateLimit, RateLimiter};
pub use outages::{Outage, Outages};
pub use owners::Deleted;
pub use search_cache::{Claim, Lead, SearchCache};
pub use search_credits::{SearchCredits, SpentCredits};
pub use stream_log::{Logged, LoggedEnd, StreamLog};
pub use tables::{TableNames, create_tables};
pub use tool_facts::{ToolFact, ToolFacts};

use aws_types::SdkConfig;

use crate::table::Table;

/// The attribute of the ephemeral table by which items expire, in seconds since 1970.
pub const EXPIRES: &str = "expires";

/// The local secondary index of the data table over conversations by their last update.
pub const UPDATED_INDEX: &str = "by-updated";

/// The sort key of [`UPDATED_INDEX`], in milliseconds since 1970; only heads of conversations have it.
pub const UPDATED_AT: &str = "updatedAt";

/// The stores over one client.
#[derive(Clone)]
pub struct Store {
    /// Conversations and their turns.
    pub conversations: ConversationStore,
    /// Search results.
    pub search_cache: SearchCache,
    /// What searches cost.
    pub search_credits: SearchCredits,
    /// Limits per caller.
    pub rate_limiter: RateLimiter,
    /// Requests that may come twice.
    pub idempotency: Idempotency,
    /// What running turns say, for readers elsewhere.
    pub streams: StreamLog,
    /// What was found out about models.
    pub tool_facts: ToolFacts,
    /// Which endpoints are down.
    pub outages: Outages,
    /// API keys.
    pub keys: Keys,
    /// What tools were called with and how it went.
    pub executions: Executions,
    /// What administrators define.
    pub definitions: Definitions,
    /// What was consumed, by the day.
    pub ledger: Ledger,
    /// Both, for what has to look through all.
    tables: [Table; 2],
}

impl Store {
    /// Builds one client and the stores over it; makes no call.
    pub fn new(config: &SdkConfig, names: TableNames) -> Self {
        let client = aws::client(config);
        let TableNames { data, ephemeral } = names;
        let (data, ephemeral) = (Table::durable(client.clone(), data), Table::ephemeral(client, ephemeral));
        Self {
            conversations: ConversationStore::new(data.clone()),
            search_cache: SearchCache::new(ephemeral.clone()),
            search_credits: SearchCredits::new(ephemeral.clone()),
            rate_limiter: RateLimiter::new(ephemeral.clone()),
            idempotency: Idempotency::new(ephemeral.clone()),
            streams: StreamLog::new(ephemeral.clone()),
            tool_facts: ToolFacts::new(ephemeral.clone()),
            outages: Outages::new(ephemeral.clone()),
            keys: Keys::new(data.clone()),
            definitions: Definitions::new(data.clone()),
            executions: Executions::new(ephemeral.clone()),
            ledger: Ledger::new(data.clone()),
            tables: [data, ephemeral],
        }
    }
}
