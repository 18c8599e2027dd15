use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use store::{ApiKey, KeyRecord, Keys, StoreError};
use tokio::time::timeout;

use super::{Caller, Denial};

/// How long a valid key stays cached. A revoked key is rejected after this time at the latest.
const BELIEVED: Duration = Duration::from_secs(30);

/// Maximum number of cached keys.
const MOST: usize = 1_000;

/// Timeout for reading all keys.
const LIST_TIMEOUT: Duration = Duration::from_secs(4);

/// How long a list of all keys is used.
const LIST_TTL: Duration = Duration::from_secs(10);

/// Maximum number of keys in the list; the oldest ones are kept.
const MAX_LISTED_KEYS: usize = 10_000;

/// Verifies API keys, with a short cache of valid ones.
pub(super) struct KeyRing {
    keys: Keys,
    known: Mutex<HashMap<String, Known>>,
    /// All keys and when they were read. The lock is held during the read, so that concurrent callers cause one
    /// request.
    listed: tokio::sync::Mutex<Option<(HashMap<String, KeyRecord>, SystemTime)>>,
}

struct Known {
    record: KeyRecord,
    since: SystemTime,
}

impl KeyRing {
    pub(super) fn new(keys: Keys) -> Self {
        Self { keys, known: Mutex::default(), listed: tokio::sync::Mutex::default() }
    }

    /// The holder of this key, if the key is cached and still valid; makes no request.
    pub(super) fn recognised(&self, key: &ApiKey, now: SystemTime) -> Option<Caller> {
        let record = self.remembered(key.id(), now).filter(|record| record.admits(key, now))?;
        Some(Caller::new(record.holder(), record.administrator))
    }

    /// Looks up the holder of this key in the database.
    ///
    /// A key with a cached id but a wrong secret causes a lookup too. So its response takes as long as that of an
    /// unknown id.
    pub(super) async fn look_up(&self, key: &ApiKey, now: SystemTime) -> Result<Caller, Denial> {
        let found = self.keys.get(key.id()).await.map_err(|error| unread(&error))?;
        let record = found.filter(|record| record.admits(key, now)).ok_or(Denial::Wrong)?;
        let caller = Caller::new(record.holder(), record.administrator);
        self.remember(record, now);
        Ok(caller)
    }

    /// The holder of this key, if the key is in a list of all keys that is at most ten seconds old.
    ///
    /// Serves callers at an address whose lookups are used up: the list costs the same for any number of callers and
    /// covers all keys. Of more than 10,000 keys it holds the oldest.
    pub(super) async fn listed(&self, key: &ApiKey, now: SystemTime) -> Option<Caller> {
        let mut listed = self.listed.lock().await;
        let fresh = listed.as_ref().is_some_and(|(_, since)| is_within(*since, LIST_TTL, now));
        if !fresh {
            let records =
                timeout(LIST_TIMEOUT, self.keys.first(MAX_LISTED_KEYS)).await.unwrap_or(Err(StoreError::Busy));
            // A failed read counts as an empty list for the same time, so that not every request queries a failing
            // store.
            let records = records.inspect_err(|error| tracing::warn!(%error, "the keys could not be listed"));
            let records = records.unwrap_or_default().into_iter().map(|record| (record.id.clone(), record));
            *listed = Some((records.collect(), now));
        }
        let (records, since) = listed.as_ref()?;
        let record = records.get(key.id()).filter(|record| record.admits(key, now))?;
        self.remember(record.clone(), *since);
        Some(Caller::new(record.holder(), record.administrator))
    }

    fn remembered(&self, id: &str, now: SystemTime) -> Option<KeyRecord> {
        let known = self.known();
        known.get(id).filter(|known| known.is_believed(now)).map(|known| known.record.clone())
    }

    /// Caches a valid key from its first use on: later uses do not extend its time in the cache.
    fn remember(&self, record: KeyRecord, now: SystemTime) {
        let mut known = self.known();
        if known.get(&record.id).is_some_and(|known| known.is_believed(now)) {
            return;
        }
        if known.len() >= MOST {
            known.retain(|_, known| known.is_believed(now));
        }
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(record.id.clone(), Known { record, since: now });
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn is_believed(&self, now: SystemTime) -> bool {
        is_within(self.since, BELIEVED, now)
    }
}

/// Whether less than `span` has passed. It uses the wall clock, which continues while an instance is frozen. After a
/// clock set back, entries count as expired.
fn is_within(since: SystemTime, span: Duration, now: SystemTime) -> bool {
    now.duration_since(since).is_ok_and(|age| age < span)
}

fn unread(error: &StoreError) -> Denial {
    tracing::error!(%error, "a key could not be looked up");
    match error {
        StoreError::Busy | StoreError::Full => Denial::Unavailable,
        StoreError::Damaged | StoreError::Fault(_) => Denial::Broken,
    }
}
