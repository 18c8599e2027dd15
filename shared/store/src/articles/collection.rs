use std::time::SystemTime;

use domain::Owner;
use sha2::{Digest, Sha256};

use super::SHARDS;
use crate::clock::millis;
use crate::item::{Item, item, n, s};
use crate::key::{Key, OwnerPartitions, encode};

// Sort keys and attributes, which the table in `lib.rs` describes.
const OWN_ROW: &str = "C";
pub(super) const ARTICLE_PREFIX: &str = "I#";
pub(super) const UNUSED_PREFIX: &str = "W#";
const CHUNKS_PREFIX: &str = "P#";
pub(super) const REVISION: &str = "revision";
pub(super) const CHUNK_COUNT: &str = "chunkCount";

/// A collection of articles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArticleCollection {
    /// Searched for every caller.
    Shared,
    /// Searched for its owner only.
    Of(Owner),
}

impl ArticleCollection {
    /// The partition of the collection's own row, its articles and the lists of unused chunks.
    pub(super) fn partition(&self) -> String {
        match self {
            Self::Shared => "A".to_owned(),
            Self::Of(owner) => owner.article_partition(),
        }
    }

    /// The partition of a part of the chunks.
    pub(super) fn shard(&self, shard: u8) -> String {
        format!("{}#{shard}", self.partition())
    }

    /// The partition of the chunks of one article.
    pub(super) fn shard_of(&self, id: &str) -> String {
        let first = Sha256::digest(id.as_bytes()).first().copied().unwrap_or_default();
        self.shard(first % SHARDS)
    }

    pub(super) fn own_key(&self) -> Key {
        Key::new(self.partition(), OWN_ROW)
    }

    pub(super) fn article_key(&self, id: &str) -> Key {
        Key::new(self.partition(), format!("{ARTICLE_PREFIX}{}", encode(id)))
    }

    pub(super) fn part_key(&self, id: &str, generation: &str, part: usize) -> Key {
        Key::new(self.shard_of(id), format!("{}{part:04}", chunks_prefix(id, generation)))
    }

    pub(super) fn unused_key(&self, id: &str, generation: &str) -> Key {
        Key::new(self.partition(), format!("{UNUSED_PREFIX}{}#{generation}", encode(id)))
    }

    /// The row that lists chunks which no article refers to, or not yet.
    pub(super) fn unused_item(&self, id: &str, generation: &str, chunks: u32, now: SystemTime) -> Item {
        let changed = n(millis(now));
        let attributes =
            [("article", s(id)), ("generation", s(generation)), (CHUNK_COUNT, n(chunks)), ("changedAt", changed)];
        item(&self.unused_key(id, generation), attributes)
    }
}

/// The prefix of the sort keys of one generation of an article's chunks.
pub(super) fn chunks_prefix(id: &str, generation: &str) -> String {
    format!("{CHUNKS_PREFIX}{}#{generation}#", encode(id))
}
