//! DynamoDB: conversations, the search cache, rate limits. The only crate with SDK types.

mod aws;
mod clock;
mod conversations;
mod error;
mod item;
mod key;
mod limits;
mod pause;
mod roots;
mod search_cache;
mod table;
mod tables;
mod transaction;

pub use aws::sdk_config;
pub use conversations::{
    Answer, BeginError, Conversation, ConversationStore, LeaseError, NewTurn, Page, ReadError, Role, Status,
    StoredCall, StoredMessage, TurnLease,
};
pub use error::StoreError;
pub use key::Owner;
pub use limits::{Admission, RateLimit, RateLimiter};
pub use search_cache::{Claim, Lead, SearchCache};
pub use tables::{TableNames, create_tables};

use aws_sdk_dynamodb::Client;
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
    /// Limits per caller.
    pub rate_limiter: RateLimiter,
}

impl Store {
    /// Builds one client and the stores over it; makes no call.
    pub fn new(config: &SdkConfig, names: TableNames) -> Self {
        let client = Client::new(config);
        let TableNames { data, ephemeral } = names;
        let (data, ephemeral) = (Table::new(client.clone(), data), Table::new(client, ephemeral));
        Self {
            conversations: ConversationStore::new(data),
            search_cache: SearchCache::new(ephemeral.clone()),
            rate_limiter: RateLimiter::new(ephemeral),
        }
    }
}
