//! The copies of collections that a process keeps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{ArticleCollection, Articles, StoreError};
use tokio::sync::Mutex as AsyncMutex;

use crate::collection::LoadedCollection;

/// Why a collection cannot be searched.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// It is larger than the memory for all.
    TooLarge,
    /// The storage failed.
    Store(StoreError),
}

impl From<StoreError> for LoadError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Copies of collections, bounded in size: the one that was not used for the longest time goes first.
pub(crate) struct CollectionCache {
    store: Articles,
    max_bytes: u64,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    by_collection: HashMap<ArticleCollection, Slot>,
    uses: u64,
}

#[derive(Clone, Default)]
struct Slot {
    /// Held while the collection is read, so that simultaneous searches read it once.
    copy: Arc<AsyncMutex<Option<Arc<LoadedCollection>>>>,
    bytes: u64,
    last_use: u64,
}

impl CollectionCache {
    pub(crate) fn new(store: Articles, max_bytes: u64) -> Self {
        Self { store, max_bytes, slots: Mutex::default() }
    }

    /// The current state of a collection: of an unchanged one, the copy after one request.
    pub(crate) async fn load(&self, collection: &ArticleCollection) -> Result<Arc<LoadedCollection>, LoadError> {
        let Some(revision) = self.store.revision(collection).await? else {
            self.lock().by_collection.remove(collection);
            return Ok(Arc::default());
        };
        let slot = self.slot(collection);
        let mut copy = slot.copy.lock().await;
        if let Some(current) = copy.as_ref().filter(|copy| copy.revision == revision) {
            return Ok(Arc::clone(current));
        }
        let heads = self.store.list(collection).await?;
        if heads.iter().map(|head| head.bytes).sum::<u64>() > self.max_bytes {
            *copy = None;
            self.record_size(collection, 0);
            return Err(LoadError::TooLarge);
        }
        let read = LoadedCollection::read(&self.store, collection, revision, heads, copy.as_deref()).await?;
        let read = Arc::new(read);
        *copy = Some(Arc::clone(&read));
        self.record_size(collection, read.bytes());
        Ok(read)
    }

    fn slot(&self, collection: &ArticleCollection) -> Slot {
        let mut slots = self.lock();
        slots.uses += 1;
        let uses = slots.uses;
        let slot = slots.by_collection.entry(collection.clone()).or_default();
        slot.last_use = uses;
        slot.clone()
    }

    /// Records the size of a collection, and drops others until all fit.
    fn record_size(&self, collection: &ArticleCollection, bytes: u64) {
        let mut slots = self.lock();
        if let Some(slot) = slots.by_collection.get_mut(collection) {
            slot.bytes = bytes;
        }
        while slots.by_collection.values().map(|slot| slot.bytes).sum::<u64>() > self.max_bytes {
            let others = slots.by_collection.iter().filter(|(other, slot)| *other != collection && slot.bytes > 0);
            let Some(oldest) = others.min_by_key(|(_, slot)| slot.last_use).map(|(oldest, _)| oldest.clone()) else {
                return;
            };
            slots.by_collection.remove(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
