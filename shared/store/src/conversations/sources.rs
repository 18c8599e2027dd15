//! The numbered pages of a conversation: one item for each turn that added some.
//!
//! The head has the highest number. Heads of older releases have none: their pages are those of their messages, and the
//! next turn stores all of them.

use domain::{NumberedSources, Source};

use super::ConversationStore;
use super::bounds::take_fitting;
use super::sort_keys::{MESSAGE_PREFIX, SOURCES_PREFIX, message_sk, sources_key, sources_sk};
use super::turn::{Answer, TurnLease};
use crate::StoreError;
use crate::item::{Item, ItemExt, item, s, to_json};

/// The attribute of a head with the highest number of a page; heads of older releases have none.
pub(super) const LAST_SOURCE: &str = "numbered";

/// Maximum number of pages that a conversation remembers. Later pages have numbers too, which no later turn knows.
const MAX_SOURCES: usize = 2000;

/// Maximum size of the pages that a turn adds, as JSON in bytes.
const MAX_ADDED_BYTES: usize = 128 * 1024;

impl ConversationStore {
    /// The numbered pages of the turns before this one.
    pub async fn sources(&self, lease: &TurnLease) -> Result<NumberedSources, StoreError> {
        let last_source = self.last_source_now(lease).await?;
        let (first, last_sk) = match last_source {
            Some(0) => return Ok(NumberedSources::default()),
            Some(_) => (SOURCES_PREFIX.to_owned(), sources_sk(lease.answer_seq)),
            None => (MESSAGE_PREFIX.to_owned(), format!("{}$", message_sk(lease.answer_seq))),
        };
        let query = self.table.query_range(&lease.partition, first, last_sk);
        let query =
            query.projection_expression("sk, v, minReader, sources").filter_expression("attribute_exists(sources)");
        let (mut pages, mut sources) = (self.table.pages(query), Vec::new());
        while let Some(items) = pages.next().await? {
            for item in items.iter().filter(|item| item.is_readable()) {
                sources.extend(item.json::<Vec<Source>>("sources")?);
            }
            sources.truncate(MAX_SOURCES);
        }
        Ok(NumberedSources { sources, last: last_source.unwrap_or_default() })
    }

    /// The highest number of a page. That of a turn that died is known since its recovery, which may have followed the
    /// begin of this turn.
    async fn last_source_now(&self, lease: &TurnLease) -> Result<Option<usize>, StoreError> {
        if lease.interrupted.is_none() {
            return Ok(lease.last_source);
        }
        match self.table.get(&lease.head).await? {
            Some(head) => head.optional_number(LAST_SOURCE),
            None => Ok(lease.last_source),
        }
    }
}

/// What a turn adds to the pages of its conversation: the item, if it is needed, and the highest number.
pub(super) fn added_sources(lease: &TurnLease, answer: &Answer) -> Result<Option<(Option<Item>, usize)>, StoreError> {
    let Some(added) = answer.added_sources.as_ref().filter(|added| lease.last_source != Some(added.last)) else {
        return Ok(None);
    };
    Ok(Some((sources_item(&lease.partition, lease.answer_seq, &added.sources)?, added.last)))
}

/// The item of the pages of a turn, without excerpts; `None` if none of them is to be remembered.
pub(super) fn sources_item(partition: &str, answer_seq: u64, sources: &[Source]) -> Result<Option<Item>, StoreError> {
    let remembered = sources.iter().filter(|source| source.index <= MAX_SOURCES);
    let remembered = remembered.map(|source| Source { excerpt: String::new(), ..source.clone() }).collect();
    let remembered = take_fitting(remembered, MAX_ADDED_BYTES);
    if remembered.is_empty() {
        return Ok(None);
    }
    Ok(Some(item(&sources_key(partition, answer_seq), [("sources", s(to_json(&remembered)?))])))
}

impl TurnLease {
    /// Whether the pages of the earlier turns are stored with their numbers; otherwise this turn stores all of them.
    pub fn has_numbered_sources(&self) -> bool {
        self.last_source.is_some()
    }
}
