//! The numbered pages of a conversation: one item for each turn that added some.
//!
//! The head has the highest number. Heads of older releases have none: their pages are those of their messages, and the
//! next turn stores all of them.

use std::collections::BTreeMap;
use std::mem::take;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{NumberedSources, Source};

use super::ConversationStore;
use super::bounds::take_fitting;
use super::sort_keys::{AFTER_MESSAGES, AFTER_SOURCES, MESSAGE_PREFIX, SOURCES_PREFIX, sources_key};
use super::turn::{Answer, TurnLease};
use crate::Result;
use crate::compressed::{compressed, decompressed};
use crate::item::{Item, ItemExt, item, s, to_json};
use crate::key::Key;

/// The attribute of a head with the highest number of a page; heads of older releases have none.
pub(super) const LAST_SOURCE: &str = "numbered";

/// The attribute of a message with the excerpts of its pages by their numbers. Earlier releases ignore it, and store
/// the excerpts with the pages.
pub(super) const EXCERPTS: &str = "excerpts";

/// Maximum number of pages that a conversation remembers. Later pages have numbers too, which no later turn knows.
const MAX_SOURCES: usize = 2000;

/// Maximum size of the pages that a turn adds, as JSON in bytes.
const MAX_ADDED_BYTES: usize = 128 * 1024;

impl ConversationStore {
    /// The numbered pages of the other turns, of every branch: a page has one number in its conversation.
    pub async fn sources(&self, lease: &TurnLease) -> Result<NumberedSources> {
        let last_source = self.last_source_now(lease).await?;
        let (first, last_sk) = match last_source {
            Some(0) => return Ok(NumberedSources::default()),
            Some(_) => (SOURCES_PREFIX, AFTER_SOURCES),
            None => (MESSAGE_PREFIX, AFTER_MESSAGES),
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
    async fn last_source_now(&self, lease: &TurnLease) -> Result<Option<usize>> {
        if lease.interrupted.is_none() {
            return Ok(lease.last_source);
        }
        match self.table.get(&lease.head).await? {
            Some(head) => head.optional_number(LAST_SOURCE),
            None => Ok(lease.last_source),
        }
    }
}

/// Separates the excerpts from the pages of a message, because they are most of it; `None` if there is no excerpt.
pub(super) fn split_excerpts(mut sources: Vec<Source>) -> (Vec<Source>, Option<AttributeValue>) {
    let mut excerpts = BTreeMap::new();
    for source in &mut sources {
        if !source.excerpt.is_empty() {
            excerpts.entry(source.index).or_insert_with(|| take(&mut source.excerpt));
        }
    }
    let attribute = (!excerpts.is_empty()).then(|| compressed(&to_json(&excerpts)));
    (sources, attribute)
}

/// The pages of a message, with their excerpts.
pub(super) fn read_sources(message: &Item) -> Result<Vec<Source>> {
    let mut sources: Vec<Source> = message.json("sources")?;
    let excerpts = decompressed(message, EXCERPTS).and_then(|json| serde_json::from_str(&json).ok());
    let mut excerpts: BTreeMap<usize, String> = excerpts.unwrap_or_default();
    for source in sources.iter_mut().filter(|source| source.excerpt.is_empty()) {
        source.excerpt = excerpts.remove(&source.index).unwrap_or_default();
    }
    Ok(sources)
}

/// What a turn adds to the pages of its conversation: the item, if it is needed, and the highest number.
pub(super) fn added_sources(lease: &TurnLease, answer: &Answer) -> Option<(Option<Item>, usize)> {
    let added = answer.added_sources.as_ref().filter(|added| lease.last_source != Some(added.last))?;
    let key = sources_key(&lease.partition, lease.answer_seq, lease.earlier_turns());
    Some((sources_item(&key, &added.sources), added.last))
}

/// The item of the pages of a turn, without excerpts; `None` if none of them is to be remembered.
pub(super) fn sources_item(key: &Key, sources: &[Source]) -> Option<Item> {
    let remembered = sources.iter().filter(|source| source.index <= MAX_SOURCES);
    let remembered = remembered.map(|source| Source { excerpt: String::new(), ..source.clone() }).collect();
    let remembered = take_fitting(remembered, MAX_ADDED_BYTES);
    (!remembered.is_empty()).then(|| item(key, [("sources", s(to_json(&remembered)))]))
}

impl TurnLease {
    /// Whether the pages of the earlier turns are stored with their numbers; otherwise this turn stores all of them.
    pub fn has_numbered_sources(&self) -> bool {
        self.last_source.is_some()
    }
}
