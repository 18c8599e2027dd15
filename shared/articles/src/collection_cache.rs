//! The copies of collections that a process keeps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use store::{ArticleCollection, Articles};
use tokio::sync::Mutex as AsyncMutex;
use work::lock;

use crate::SearchError;
use crate::collection::LoadedCollection;

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
