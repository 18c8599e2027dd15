//! Collections in memory, and which of them a process keeps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, stream};
use store::{ArticleChunk, ArticleCollection, Articles, ChunkPart, SHARDS, StoreError, StoredArticle};
use tokio::sync::Mutex as AsyncMutex;
use work::lock;

use crate::SearchError;

/// Up to so many changed articles are read one by one, more together with all others.
const MAX_SINGLE_READS: usize = 16;

/// How many articles are read at the same time.
const MAX_READS: usize = 8;

#[derive(Debug)]
pub(crate) struct LoadedArticle {
    pub(crate) head: StoredArticle,
    pub(crate) texts: Vec<Box<str>>,
    /// The vectors of all chunks, one after the other; empty without embeddings.
    vectors: Vec<i8>,
    scales: Vec<f32>,
}

#[derive(Debug, Default)]
pub(crate) struct LoadedCollection {
    pub(crate) revision: String,
    pub(crate) articles: Vec<Arc<LoadedArticle>>,
}

impl LoadedArticle {
    fn new(head: StoredArticle) -> Self {
        Self { head, texts: Vec::new(), vectors: Vec::new(), scales: Vec::new() }
    }

    fn push(&mut self, chunks: Vec<ArticleChunk>) {
        for ArticleChunk { text, vector } in chunks {
            self.texts.push(text.into_boxed_str());
            if let Some(vector) = vector {
                self.vectors.extend_from_slice(&vector.values);
                self.scales.push(vector.scale);
            }
        }
    }

    pub(crate) fn has_vectors_of(&self, model: &str, dimensions: usize) -> bool {
        let is_same =
            |known: &store::EmbeddingModel| known.name == model && usize::try_from(known.dimensions) == Ok(dimensions);
        self.head.model.as_ref().is_some_and(is_same)
            && self.scales.len() == self.texts.len()
            && self.vectors.len() == self.texts.len() * dimensions
    }

    /// The vectors of the chunks, which have this length, with their scales.
    pub(crate) fn vectors(&self, dimensions: usize) -> impl Iterator<Item = (&[i8], f32)> {
        self.vectors.chunks_exact(dimensions.max(1)).zip(self.scales.iter().copied())
    }
}

impl LoadedCollection {
    /// Reads the articles of `heads`; those of an earlier copy that have not changed are kept.
    async fn read(
        store: &Articles,
        collection: &ArticleCollection,
        revision: String,
        heads: Vec<StoredArticle>,
        earlier: Option<&Self>,
    ) -> Result<Self, StoreError> {
        let known: HashMap<&str, &Arc<LoadedArticle>> = earlier.map_or_else(HashMap::new, |earlier| {
            earlier.articles.iter().map(|article| (article.head.generation.as_str(), article)).collect()
        });
        let (mut articles, mut changed) = (Vec::new(), Vec::new());
        for head in heads {
            match known.get(head.generation.as_str()) {
                Some(article) => articles.push(Arc::clone(article)),
                None => changed.push(head),
            }
        }
        let changed = if changed.len() <= MAX_SINGLE_READS {
            read_each(store, collection, changed).await?
        } else {
            read_together(store, collection, changed).await?
        };
        // An article that was replaced while it was read is left out until the next search.
        let is_whole = |article: &LoadedArticle| usize::try_from(article.head.chunks) == Ok(article.texts.len());
        articles.extend(changed.into_iter().filter(is_whole).map(|mut article| {
            article.vectors.shrink_to_fit();
            Arc::new(article)
        }));
        // The order of results must not depend on earlier copies.
        articles.sort_unstable_by(|one, other| one.head.id.cmp(&other.head.id));
        Ok(Self { revision, articles })
    }
}

async fn read_each(
    store: &Articles,
    collection: &ArticleCollection,
    heads: Vec<StoredArticle>,
) -> Result<Vec<LoadedArticle>, StoreError> {
    let read = async |head: StoredArticle| {
        let mut article = LoadedArticle::new(head);
        article.push(store.chunks(collection, &article.head).await?);
        Ok(article)
    };
    stream::iter(heads).map(read).buffer_unordered(MAX_READS).try_collect().await
}

/// Reads all chunks of the collection, in parallel, and keeps those of the given articles.
async fn read_together(
    store: &Articles,
    collection: &ArticleCollection,
    heads: Vec<StoredArticle>,
) -> Result<Vec<LoadedArticle>, StoreError> {
    let heads: HashMap<String, StoredArticle> = heads.into_iter().map(|head| (head.generation.clone(), head)).collect();
    let shards = stream::iter(0..SHARDS).map(|shard| read_shard(store, collection, shard, &heads));
    let shards: Vec<Vec<LoadedArticle>> = shards.buffer_unordered(usize::from(SHARDS)).try_collect().await?;
    Ok(shards.into_iter().flatten().collect())
}

async fn read_shard(
    store: &Articles,
    collection: &ArticleCollection,
    shard: u8,
    heads: &HashMap<String, StoredArticle>,
) -> Result<Vec<LoadedArticle>, StoreError> {
    let mut articles: HashMap<&str, LoadedArticle> = HashMap::new();
    let mut start = None;
    loop {
        let page = store.chunk_page(collection, shard, start).await?;
        for ChunkPart { generation, chunks, .. } in page.parts {
            if let Some((generation, head)) = heads.get_key_value(&generation) {
                articles.entry(generation).or_insert_with(|| LoadedArticle::new(head.clone())).push(chunks);
            }
        }
        start = page.next;
        if start.is_none() {
            return Ok(articles.into_values().collect());
        }
    }
}

/// Copies of collections, bounded in size: the one that was not used for the longest time goes first.
pub(crate) struct CollectionCache {
    store: Articles,
    max_bytes: u64,
    slots: Mutex<HashMap<ArticleCollection, Slot>>,
}

#[derive(Default)]
struct Slot {
    /// Held while the collection is read, so that simultaneous searches read it once.
    copy: Arc<AsyncMutex<Option<Arc<LoadedCollection>>>>,
    bytes: u64,
    last_use: Option<Instant>,
}

impl CollectionCache {
    pub(crate) fn new(store: Articles, max_bytes: u64) -> Self {
        Self { store, max_bytes, slots: Mutex::default() }
    }

    /// The current state of a collection: of an unchanged one, the copy after one request.
    pub(crate) async fn load(&self, collection: &ArticleCollection) -> Result<Arc<LoadedCollection>, SearchError> {
        let Some(revision) = self.store.revision(collection).await? else {
            lock(&self.slots).remove(collection);
            return Ok(Arc::default());
        };
        let slot = self.use_slot(collection);
        let mut copy = slot.lock().await;
        if let Some(current) = copy.as_ref().filter(|copy| copy.revision == revision) {
            return Ok(Arc::clone(current));
        }
        let heads = self.store.list(collection).await?;
        let bytes = heads.iter().map(|head| head.bytes).sum();
        if bytes > self.max_bytes {
            *copy = None;
            self.record_size(collection, 0);
            return Err(SearchError::TooLarge);
        }
        let read = LoadedCollection::read(&self.store, collection, revision, heads, copy.as_deref()).await?;
        let read = Arc::clone(copy.insert(Arc::new(read)));
        self.record_size(collection, bytes);
        Ok(read)
    }

    fn use_slot(&self, collection: &ArticleCollection) -> Arc<AsyncMutex<Option<Arc<LoadedCollection>>>> {
        let mut slots = lock(&self.slots);
        let slot = slots.entry(collection.clone()).or_default();
        slot.last_use = Some(Instant::now());
        Arc::clone(&slot.copy)
    }

    /// Records the size of a collection, and drops others until all fit.
    fn record_size(&self, collection: &ArticleCollection, bytes: u64) {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.get_mut(collection) {
            slot.bytes = bytes;
        }
        while slots.values().map(|slot| slot.bytes).sum::<u64>() > self.max_bytes {
            let others = slots.iter().filter(|(other, slot)| *other != collection && slot.bytes > 0);
            let Some(oldest) = others.min_by_key(|(_, slot)| slot.last_use).map(|(oldest, _)| oldest.clone()) else {
                return;
            };
            slots.remove(&oldest);
        }
    }
}
