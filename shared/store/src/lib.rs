//! The DynamoDB stores: conversations, the search cache, rate limits, usage totals. The only crate with SDK types.
//!
//! There are two tables, both keyed by the strings `pk` and `sk`. The *data* table holds what users own; every
//! partition begins with its owner (`{o}`, encoded so that it holds no `#`, and hashed when long). The *ephemeral*
//! table holds items that may be lost; they expire by `expires`. DynamoDB takes days to delete expired items, so every
//! read checks the times itself.
//!
//! | `pk` | `sk` | attributes | written by |
//! |---|---|---|---|
//! | `U#{o}` | `C#{conversation}` | the head: `title`, `model`, `language` (of the first message; absent in older items), `messageCount`, `createdAt`, `updatedAt`, `seq` (of the last message), `tip` (seq of the last message of the shown branch; 0 if there is none), `forks` (the tree of the messages as in `tree.rs`; absent until this release writes); while an answer may yet give way to another one `tipBefore` (the tip then); `titleFrom` (`message`, `model` or `user`; absent in older items), where they apply `titledIn` (seq of the answer that came with a model's title), `pinned` and `archived`, and `temporary` with `expires`; if a client named it `chat`; `numbered` (the highest number of a page); while a turn runs `turn`, `leaseUntil`, `answering` (the seq of its answer, if that is not the last message) and, after a stop request, `stopping` (that turn) | `begin`, `renew`, `request_stop`, `finish`, `edit`, `import`, `select_branch`, `delete_message` |
//! | | `N#{chat id}` | a client's own chat id: `conversation` | `begin`, `delete` |
//! | | `I` | the owner's instructions for all answers: `wishes`; the rate limit of turns, as `tat@{burst}/{window}` in microseconds (absent in older items) | [`Instructions`], [`RateLimiter`] |
//! | `U#{o}#C#{conversation}` | `M#{seq}` | a message: `id`, `turn`, `author`, `parent` (the seq of the message before it, 0 for a first one; absent in older items), `model`, `progress`, `createdAt`, `content`, `thinking`, `calls` and `sources` (JSON), `excerpts` (of its sources by their numbers, compressed JSON; in imports and in items of earlier releases in `sources`), `parts` (number of further pieces), of a question with files `attachments` (JSON), of one that came over `/v1/responses` `clientRequest` (what describes the request, and the messages that prompts have instead of the text; compressed JSON); after its turn `tally` (JSON), `endedAt` and `transcript` (the length of its transcript in characters; 0 without one, because the message holds everything) and `exchange` (its length and that transcript, compressed JSON, unless it has its own item); in items of earlier releases `aside` if another answer superseded it. If it is rated `feedback` (JSON) and `rated` (the key of the rating in the list). If its process died, `tally` and `recovered` (from how many events of its log) without `endedAt`. An answer that was continued has `earlier` (JSON: its turns but the last one) and `continuedAt` | `begin`, `finish`, `recover_turn` |
//! | | `D` | the digest that searches read: `filter` (a Bloom filter of the terms in its messages), `state` (of the conversation to which it applies) | `search` |
//! | | `M#{seq}#{n}` | a further piece of a long message: `content`, `thinking` | `begin`, `finish` |
//! | | `R#{seq}`, `R#{seq}#{n}` | the pages that the turn added whose answer has that seq, and those of the turns that continued it: `sources` (JSON), with their numbers in the conversation | `finish`, `recover_turn` |
//! | | `S` | the summary that replaces the oldest turns in prompts: `summary` (JSON). It is valid for branches with its last message | `finish` |
//! | | `T#{seq}` | the transcript that prompts read of the turn whose answer has that seq, if it is large or of an earlier release: `said` (JSON), `turn`. It is valid if the answer's `transcript` is above 0, or if the answer ended and has no `transcript`; the latter is an older one with `asked` and maybe `aside`, which are never read | `finish` |
//! | | `L#{id}` | a share: `share` (JSON) | `share` |
//! | | `F#{time}#{ULID}` | that an answer is rated; the rest of the key is that of its rating in the list | `rate` |
//! | `U#{o}#F` | `I#{id}` | a file: `attached` (JSON: what is known of it), `expires` until a message uses it, `usedBy` (a set of `{conversation}/{message}`, of a temporary one with `/` and its end in seconds); until it is uploaded `pending`, while it is deleted `leaving` | [`FileRecords`], `begin` |
//! | `U#{o}#U`; of all owners together `USAGE` | `D#{2026-11-21}` | usage of one day (UTC): `turns`, `estimatedTurns`, `inputTokens`, `outputTokens`, `searchCredits`; where it applies `costMicros`, `searches`. Of one owner also the part of each model, as `turns@{model}` and so on, and `memberOf` (groups). No time to live | [`UsageLedger`] |
//! | `USAGE#OWNERS` | `{o}` | an owner without keys who has usage: `owner` (a name), `day` (of the last usage) | [`UsageLedger`] |
//! | `K` | `{id}` | an API key: `owner` (a name), `admin`, `createdAt`, `digest` (SHA-256 of the key, hexadecimal); where it applies `expiresAt`, `revokedAt` | [`Keys`] |
//! | `D#tools`, `D#agents` | `I#{id}` | a definition: `id`, `title` (its name), `body` (JSON), `createdAt`, `changedAt` | [`Definitions`] |
//! | | `N#{name}` | reserves a name for one definition: `document` (its id) | [`Definitions`] |
//! | `U#{o}#A`; of the articles for all callers `A` | `C` | a collection of articles: `revision`, which every change renews | [`Articles`] |
//! | | `I#{id}` | an article: `id`, `title`, `digest` (of its content), `generation` (of its chunks), `parts` (number of their items), `chunkCount`, `byteCount`, `createdAt`, `changedAt`; where it applies `url`; with vectors `model`, `dimensions`, and `vectorIndex` if they are in an index outside of the table | [`Articles`] |
//! | | `W#{id}#{generation}` | chunks that no article refers to, or not yet: `article`, `generation`, `chunkCount`, `changedAt` | [`Articles`] |
//! | `U#{o}#A#{shard}`, `A#{shard}` | `P#{id}#{generation}#{n}` | several chunks of an article: `article`, `generation`, `texts` (JSON); with vectors `vectors` (for each chunk its scale as four bytes, lowest first, and a signed byte for each component) | [`Articles`] |
//! | `SC#{key}` (ephemeral) | `-` | a search result: `packed` (compressed) and `packedUntil`, in items of earlier releases `cached` and `freshUntil`; `expires`; during a fetch `leader`, `leaseUntil` | [`SearchCache`] |
//! | `SD#{SHA-256 of the search, the caller and the fetch}` (ephemeral) | `-` | that a caller was given another caller's result: `delivery` (ULID of the request), `expires` | [`SearchCache`] |
//! | `CR#{SHA-256 of the provider's address}#{year}-{month}` (ephemeral) | `-` | search costs: `credits`, `day{nn}` (credits of a day), `expires`; after the provider refused a search `pausedUntil` | [`SearchCredits`] |
//! | `U#{o}#I` (ephemeral) | `{SHA-256 of the key}` | an idempotency key: `turn`, `print` (SHA-256 of the request), `conversation`, `answer` (its seq), `expires` (of an import `turn` and `conversation` are the ULID from which the ids of its conversations derive); a claim of an earlier release whose turn has not begun has `claimedUntil` instead of `conversation` and `answer` | `begin` |
//! | `U#{o}#S#{conversation}` (ephemeral) | `T#{turn}#{event}` | events of a turn, starting with that number (twelve digits, from 0): `events` (a line of JSON each, or a list of texts), `answer` (the seq of the turn's answer), `expires` | [`StreamLog`], `finish_with` |
//! | `U#{o}#X` (ephemeral) | `{answer}-{index}` | a tool call: `call` (JSON), `owner`, `conversation`, `madeAt`, `expires` | [`Executions`] |
//! | `X#{day}` (ephemeral) | the same | pointer to that row: `under` (its partition), `expires` | [`Executions`] |
//! | `SH#{id}` (ephemeral) | `P#{n}` | a piece of the copy of a share: `content` (of JSON), `parts` (number of pieces), `under` (the partition of its owner), `expires` | `share` |
//! | `FEEDBACK` (ephemeral) | `{time}#{ULID}` | a rating: `entry` (JSON), `under` (the partition of its owner), `expires` | `rate` |
//! | `AUDIT` (ephemeral) | `{2026-11-21}#{request}` | who changed what: `entry` (JSON), `madeAt`, `expires` | [`AuditTrail`] |
//! | `TF#{SHA-256 of the model's identity}` (ephemeral) | `-` | a model's tool support: `native`, `learned`, `contextTokens`, `countsUntil`, and `imagesRefusedUntil` after its endpoint refused pictures (then maybe alone); `expires` | [`ToolSupportTable`] |
//! | `OE#{SHA-256 of the endpoint}` (ephemeral) | `-` | circuit breaker of a model endpoint: `changedAt`, `expires`; while it is open `downUntil` | [`BreakerTable`] |
//! | `RL#{key}#{burst}/{window}` (ephemeral) | `-` | `tat` in microseconds, `expires` | [`RateLimiter`] |
//!
//! Every item has `v`, its schema version, and `minReader` if older releases can read it. A seq counts the messages of
//! one conversation and is written with twelve digits. The seq of a message is above that of its parent. Times are milliseconds since 1970 unless stated otherwise; `expires` is in seconds.
//!
//! The items of a temporary conversation have `expires` in the data table too, and files that no message uses; no other items there have it.
//!
//! The data table has one index, [`UPDATED_INDEX`], over `pk` and [`UPDATED_AT`] with all attributes. It is a *local*
//! index, because only local indexes can be read with strong consistency; only heads have its sort key. All reads are
//! strongly consistent.

mod answer_writes;
mod articles;
mod attachments;
mod attributes;
mod audit;
mod aws;
mod backoff;
mod batch;
mod breakers;
mod clock;
mod coalescer;
mod compressed;
mod conversations;
mod day;
mod definitions;
mod erase;
mod error;
mod executions;
mod export;
#[cfg(test)]
mod fuzz;
mod http_client;
mod idempotency;
mod instructions;
mod item;
mod key;
mod keys;
mod ledger;
mod limits;
mod owners;
mod pages;
mod recovery;
mod schema;
mod search_cache;
mod search_credits;
mod stream_log;
mod table;
mod tables;
mod tool_support;
mod transaction;
mod turn_error;
mod turn_ref;
mod usage_owners;

pub use answer_writes::AnswerWrites;
pub use articles::{
    ArticleChunk, ArticleCollection, Articles, ChunkIndex, ChunkPage, ChunkPart, ChunkPosition, EmbeddingModel,
    IndexedGeneration, NewArticle, PageStart, QuantisedVector, SHARDS, StoredArticle,
};
pub use attachments::{FileRecord, FileRecords, FileTotals, StoredFile, UNUSED_TTL};
pub use audit::{AuditEntry, AuditTrail, ListedAuditEntry};
pub use aws::sdk_config;
pub use breakers::BreakerTable;
pub use clock::{parse_time, rfc3339_of};
pub use conversations::{
    AllMessages, Answer, BeginError, Continued, Conversation, ConversationEdit, ConversationFilter, ConversationQuery,
    ConversationStore, DeletedMessages, Feedback, FoundConversation, FoundMessage, LeaseError, LeaseState,
    MessageError, MessageQuery, NewConversation, NewMessage, NewTurn, Page, Rating, ReadError, Role, Share, Status,
    StoredCall, StoredMessage, StoredRequest, StoredResponse, StoredTurn, Target, TitleSource, TurnEnd, TurnLease,
    TurnOutcome, UserInput, drop_open_calls, pair_calls, results_as_message,
};
pub use day::Day;
pub use definitions::{DefineError, Definition, DefinitionKind, Definitions};
pub(crate) use error::Result;
pub use error::{STORAGE_DAMAGED, STORAGE_FULL, StoreError};
pub use executions::{Execution, Executions, ListedExecution};
pub use export::{Export, ExportRow};
pub use idempotency::{Idempotency, IdempotencyClaim, IdempotencyStatus};
pub use instructions::Instructions;
pub use key::digest_of as fingerprint;
pub use keys::{ApiKey, KeyChange, KeyError, KeyRecord, Keys, NewKey, is_user_name};
pub use ledger::{DayUsage, TurnUsage, UsageLedger, UsageScope, UsageTotals};
pub use limits::{Admission, RateLimit, RateLimiter};
pub use owners::DeletionCounts;
pub use search_cache::{Claim, FetchLease, SearchCache};
pub use search_credits::{SearchCredits, SpentCredits};
pub use stream_log::{LogEntry, LogPage, StreamLog};
pub use tables::{TableNames, create_tables};
pub use tool_support::ToolSupportTable;
pub use turn_ref::TurnRef;

use std::sync::Arc;

use aws_types::SdkConfig;

use crate::table::Table;

/// The attribute that holds the expiry time, in seconds since 1970: of all items of the ephemeral table, and of those of
/// temporary conversations in the data table.
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
    /// Search costs.
    pub search_credits: SearchCredits,
    /// Rate limits.
    pub rate_limiter: RateLimiter,
    /// Idempotency keys.
    pub idempotency: Idempotency,
    /// Event logs of turns, for readers at other instances.
    pub streams: StreamLog,
    /// Tool support of models.
    pub tool_support: ToolSupportTable,
    /// Circuit breakers of model endpoints.
    pub breakers: BreakerTable,
    /// API keys.
    pub keys: Keys,
    /// What users want of all their answers.
    pub instructions: Instructions,
    /// Records of tool calls.
    pub executions: Executions,
    /// Tools and agents defined by administrators.
    pub definitions: Definitions,
    /// Articles and their chunks.
    pub articles: Articles,
    /// Usage by day.
    pub ledger: UsageLedger,
    /// Files of users.
    pub files: FileRecords,
    /// Changes by administrators, exports and erasures.
    pub audit: AuditTrail,
    /// Both tables, for operations over all items.
    tables: [Table; 2],
}

impl Store {
    /// Builds one client and the stores over it; makes no call.
    pub fn new(config: &SdkConfig, names: TableNames) -> Self {
        let client = aws::client(config);
        let TableNames { data, ephemeral } = names;
        let (data, ephemeral) = (Table::durable(client.clone(), data), Table::ephemeral(client, ephemeral));
        Self {
            conversations: ConversationStore { table: data.clone(), ephemeral: ephemeral.clone() },
            search_cache: SearchCache { table: ephemeral.clone() },
            search_credits: SearchCredits { table: ephemeral.clone() },
            rate_limiter: RateLimiter::new(data.clone(), ephemeral.clone()),
            idempotency: Idempotency { table: ephemeral.clone() },
            streams: StreamLog::new(ephemeral.clone()),
            tool_support: ToolSupportTable { table: ephemeral.clone() },
            breakers: BreakerTable { table: ephemeral.clone() },
            keys: Keys { table: data.clone() },
            instructions: Instructions { table: data.clone() },
            definitions: Definitions { table: data.clone() },
            executions: Executions { table: ephemeral.clone() },
            files: FileRecords { table: data.clone() },
            audit: AuditTrail { table: ephemeral.clone() },
            articles: Articles::new(data.clone()),
            ledger: UsageLedger::new(data.clone()),
            tables: [data, ephemeral],
        }
    }

    /// Keeps the vectors of articles in an index, also when their owner is deleted.
    #[must_use]
    pub fn with_article_index(self, index: Arc<dyn ChunkIndex>) -> Self {
        Self { articles: self.articles.with_index(index), ..self }
    }
}
