use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use store::{ApiKey, KeyRecord, Keys, StoreError};
use tokio::time::timeout;
use work::{RefreshPolicy, Refreshed, lock, make_space};

use super::{AuthError, Caller};

/// How long a valid key stays cached. A revoked key is rejected after this time at the latest.
const CACHE_TTL: Duration = Duration::from_secs(30);

const MAX_CACHED_KEYS: usize = 1_000;

const LIST_TIMEOUT: Duration = Duration::from_secs(4);

const LIST_POLICY: RefreshPolicy =
    RefreshPolicy { fresh_for: Duration::from_secs(10), usable_for: Duration::ZERO, retry_interval: Duration::ZERO };

/// Maximum number of keys in the list; the oldest ones are kept.
const MAX_LISTED_KEYS: usize = 10_000;

/// All keys by their ids, and when they were read.
type KeyList = (HashMap<String, KeyRecord>, SystemTime);

/// Verifies API keys, with a short cache of valid ones.
pub(super) struct ApiKeyVerifier {
    keys: Keys,
    /// Valid keys by their ids, and when each was cached.
    cache: Mutex<HashMap<String, (KeyRecord, SystemTime)>>,
    list: Refreshed<Arc<KeyList>, Infallible>,
}

impl ApiKeyVerifier {
    pub(super) fn new(keys: Keys) -> Self {
        Self { keys, cache: Mutex::default(), list: Refreshed::new(LIST_POLICY) }
    }

    /// The holder of this key, if the key is cached and still valid; makes no request.
    pub(super) fn cached(&self, key: &ApiKey, now: SystemTime) -> Option<Caller> {
        let cache = lock(&self.cache);
        let (record, _) = cache.get(key.id()).filter(|(record, at)| is_fresh(*at, now) && record.admits(key, now))?;
        Some(Caller::of_key(record))
    }

    /// Looks up the holder of this key in the database.
    ///
    /// A key with a cached id but a wrong secret causes a lookup too. So its response takes as long as that of an
    /// unknown id.
    pub(super) async fn lookup(&self, key: &ApiKey, now: SystemTime) -> Result<Caller, AuthError> {
        let found = self.keys.get(key.id()).await.map_err(|error| to_auth_error(&error))?;
        let record = found.filter(|record| record.admits(key, now)).ok_or(AuthError::Rejected)?;
        let caller = Caller::of_key(&record);
        self.cache_record(record, now);
        Ok(caller)
    }

    /// The holder of this key, if the key is in a list of all keys that is at most ten seconds old.
    ///
    /// Serves callers at an address whose lookups are used up: the list costs the same for any number of callers and
    /// covers all keys. Of more than 10,000 keys it holds the oldest.
    pub(super) async fn find_in_list(&self, key: &ApiKey, now: SystemTime) -> Option<Caller> {
        let read = async || {
            let records =
                timeout(LIST_TIMEOUT, self.keys.list_oldest(MAX_LISTED_KEYS)).await.unwrap_or(Err(StoreError::Busy));
            // A failed read counts as an empty list for the same time, so that not every request queries a failing
            // store.
            let records = records.inspect_err(|error| tracing::warn!(%error, "the keys could not be listed"));
            let records = records.unwrap_or_default().into_iter().map(|record| (record.id.clone(), record));
            Ok(Arc::new((records.collect(), now)))
        };
        let Ok(list) = self.list.get(now, read).await;
        let (records, since) = &*list;
        let record = records.get(key.id()).filter(|record| record.admits(key, now))?;
        self.cache_record(record.clone(), *since);
        Some(Caller::of_key(record))
    }

    /// Caches a valid key from its first use on: later uses do not extend its time in the cache.
    fn cache_record(&self, record: KeyRecord, now: SystemTime) {
        let mut cache = lock(&self.cache);
        if cache.get(&record.id).is_some_and(|(_, at)| is_fresh(*at, now)) {
            return;
        }
        make_space(&mut cache, MAX_CACHED_KEYS, |(_, at)| is_fresh(*at, now));
        cache.insert(record.id.clone(), (record, now));
    }
}

fn is_fresh(cached_at: SystemTime, now: SystemTime) -> bool {
    // By the wall clock, which continues while an instance is frozen. After a clock set back, entries count as expired.
    now.duration_since(cached_at).is_ok_and(|age| age < CACHE_TTL)
}

fn to_auth_error(error: &StoreError) -> AuthError {
    tracing::error!(%error, "a key could not be looked up");
    match error {
        StoreError::Busy | StoreError::Full => AuthError::Unavailable,
        StoreError::Damaged | StoreError::Fault(_) => AuthError::Internal,
    }
}
