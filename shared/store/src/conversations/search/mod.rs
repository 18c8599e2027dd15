//! Search in an owner's conversations.
//!
//! A turn writes no index. A conversation has at most one *digest*, a filter of the terms in its messages, which the
//! first search after a change writes. A search reads the messages of a conversation only if its digest is missing or
//! old, or may have all terms; then it compares the texts. A lost digest costs a read, and never a result.

mod digest;
mod query;

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::Owner;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use work::{FairSlots, SHORT_WORK};

use self::digest::{MAX_TERMS, build_filter, may_have};
use self::query::SearchText;
use super::head::{Head, head_key};
use super::list::{ConversationFilter, Position};
use super::read::clamp_limit;
use super::sort_keys::DIGEST;
use super::{AllMessages, Conversation, ConversationStore, Page, ReadError, Status, StoredMessage, cursor};
use crate::batch::MAX_READ_ITEMS;
use crate::item::{Item, ItemExt, item, s};
use crate::key::{Key, OwnerPartitions};
use crate::table::Expression;
use crate::{Result, StoreError};

pub use self::query::ConversationQuery;

/// After this time a search returns what it has found, and a cursor.
const MAX_TIME: Duration = Duration::from_secs(2);

/// The number of conversations whose messages are read at the same time.
const CONCURRENT_READS: usize = 8;

/// The maximum number of pages that are read of one conversation, of 100 messages each, and of bytes of their texts.
const MAX_PAGES: usize = 100;
const MAX_BYTES: usize = 24 * 1024 * 1024;

/// The maximum number of messages of a conversation in a result.
const MAX_MATCHES: usize = 3;

/// Searches of a process at the same time, of one owner one: they use half of the requests in flight.
static SEARCHES: LazyLock<FairSlots<Owner>> = LazyLock::new(|| FairSlots::new(4));

/// A conversation that a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundConversation {
    /// The conversation.
    #[serde(flatten)]
    pub conversation: Conversation,
    /// The first messages with all terms, at most 3; none if only the title has them.
    pub matches: Vec<FoundMessage>,
}

/// A message that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundMessage {
    /// A ULID.
    pub message_id: String,
    /// The surroundings of the terms, each enclosed by `[[` and `]]`.
    pub snippet: String,
}

/// What was read of a conversation.
struct Scan {
    query: ConversationQuery,
    matches: Vec<FoundMessage>,
    terms: HashSet<u64>,
    /// The length of the texts.
    bytes: usize,
}

impl Scan {
    fn read(mut self, messages: Vec<(bool, StoredMessage)>) -> Self {
        for (_, message) in messages {
            let text = SearchText::of(&message.content);
            self.bytes += message.content.len();
            for hash in text.hashes() {
                // With more terms a digest excludes nothing.
                if self.terms.len() > MAX_TERMS {
                    break;
                }
                self.terms.insert(hash);
            }
            if self.matches.len() < MAX_MATCHES {
                let snippet = text.snippet(&self.query);
                self.matches.extend(snippet.map(|snippet| FoundMessage { message_id: message.id, snippet }));
            }
        }
        self
    }
}

impl ConversationStore {
    /// The owner's conversations of which the title or a message has all terms of the query, last updated first;
    /// `limit` is from 1 to 100. Only those of the filter are found.
    ///
    /// It ends after 2 seconds, so a page may have fewer rows than `limit`, or none, and a cursor.
    pub async fn search(
        &self,
        owner: &Owner,
        query: &ConversationQuery,
        filter: ConversationFilter,
        limit: u32,
        cursor: Option<&str>,
        now: SystemTime,
    ) -> Result<Page<FoundConversation>, ReadError> {
        let list = format!("{}#{DIGEST}", owner.partition());
        let mut after = cursor.map(|text| cursor::read::<Position>(&list, text)).transpose()?;
        let _slot = SEARCHES.acquire(owner).await.map_err(|_| StoreError::Busy)?;
        let (limit, until, mut found) = (clamp_limit(limit), Instant::now() + MAX_TIME, Vec::new());
        loop {
            let (mut heads, read_to) = self.heads(owner, filter, after.clone(), MAX_READ_ITEMS).await?;
            let is_cut = heads.len() > MAX_READ_ITEMS;
            heads.truncate(MAX_READ_ITEMS);
            let mut remaining = heads.len();
            let digests = self.table.get_all(heads.iter().map(|head| digest_key(owner, &head.id)).collect()).await?;
            let searches = stream::iter(heads).map(async |head| {
                let position = (head.updated_at, head.id.clone());
                let found = self.search_one(owner, query, head, &digests, now).await?;
                Ok::<_, ReadError>((position, found))
            });
            let mut searches = std::pin::pin!(searches.buffered(CONCURRENT_READS));
            let is_over = |found: &[FoundConversation]| found.len() >= limit || Instant::now() >= until;
            while !is_over(&found)
                && let Some((position, conversation)) = searches.try_next().await?
            {
                (remaining, after) = (remaining - 1, Some(position));
                found.extend(conversation);
            }
            if remaining == 0 && !is_cut {
                after = read_to;
            }
            if after.is_none() || is_over(&found) {
                let next_cursor = after.map(|at| cursor::encode(&list, at));
                return Ok(Page { items: found, next_cursor });
            }
        }
    }

    async fn search_one(
        &self,
        owner: &Owner,
        query: &ConversationQuery,
        head: Head,
        digests: &[Item],
        now: SystemTime,
    ) -> Result<Option<FoundConversation>, ReadError> {
        // The first number is the version of terms, hashes and filters.
        let state = format!("2-{}-{}", head.last_seq, head.updated_at);
        let Key { pk, .. } = digest_key(owner, &head.id);
        let is_current = |item: &&Item| item.text("pk") == Ok(&pk) && item.text("state") == Ok(&state);
        let filter = digests.iter().find(is_current).and_then(|item| item.get("filter")?.as_b().ok());
        let matches = match filter {
            Some(filter) if !may_have(filter.as_ref(), &query.hashes) => Vec::new(),
            Some(_) => self.read_matches(owner, query, &head.id, None, now).await?,
            None => self.read_matches(owner, query, &head.id, Some(state), now).await?,
        };
        let is_found = !matches.is_empty() || SearchText::of(&head.title).snippet(query).is_some();
        Ok(is_found.then(|| FoundConversation { conversation: head.into_conversation(), matches }))
    }

    /// The first messages with all terms. Stores the digest for the state of the conversation that was read before
    /// them, unless its texts may change while the state does not.
    async fn read_matches(
        &self,
        owner: &Owner,
        query: &ConversationQuery,
        id: &str,
        mut state: Option<String>,
        now: SystemTime,
    ) -> Result<Vec<FoundMessage>, ReadError> {
        let mut scan = Scan { query: query.clone(), matches: Vec::new(), terms: HashSet::new(), bytes: 0 };
        let mut start = 0;
        for _ in 0..MAX_PAGES {
            let AllMessages { messages, next, recoverable } = match self.all_messages(owner, id, start, now).await {
                // It was deleted meanwhile.
                Err(ReadError::NotFound) => return Ok(Vec::new()),
                page => page?,
            };
            let is_running = messages.iter().any(|(_, message)| message.status == Status::Running);
            state = state.filter(|_| !is_running && recoverable.is_empty());
            let read = SHORT_WORK.run(owner, |_| scan.read(messages)).await;
            scan = read.ok_or_else(|| StoreError::fault("messages that cannot be searched"))?;
            start = match next {
                Some(next) if scan.bytes < MAX_BYTES && (state.is_some() || scan.matches.len() < MAX_MATCHES) => next,
                _ => break,
            };
        }
        if let Some(state) = state
            && let Err(error) = self.store_digest(owner, id, state, build_filter(&scan.terms)).await
        {
            tracing::warn!(%error, "the digest of a conversation could not be stored");
        }
        Ok(scan.matches)
    }

    /// Stores a digest while its conversation exists, so that a deletion finds it.
    async fn store_digest(&self, owner: &Owner, id: &str, state: String, filter: Vec<u8>) -> Result<()> {
        let filter = AttributeValue::B(Blob::new(filter));
        let digest = item(&digest_key(owner, id), [("state", s(state)), ("filter", filter)]);
        let exists = self.table.check_write(&head_key(owner, id), Expression::when("attribute_exists(pk)"));
        self.table.transact(vec![exists, self.table.put_write(digest, Expression::default())]).await.map(drop)
    }
}

fn digest_key(owner: &Owner, id: &str) -> Key {
    Key::new(owner.conversation_partition(id), DIGEST)
}
