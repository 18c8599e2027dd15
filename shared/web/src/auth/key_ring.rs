use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use store::{ApiKey, KeyRecord, Keys, StoreError};
use tokio::time::timeout;

use super::{Caller, Denial};

/// How long a key that was seen is believed; a revoked one is refused after this at the latest.
const BELIEVED: Duration = Duration::from_secs(30);

/// The most keys that are remembered.
const MOST: usize = 1_000;

/// The longest time for reading all keys.
const LIST_TIMEOUT: Duration = Duration::from_secs(4);

/// How long a list of all keys is used.
const LIST_TTL: Duration = Duration::from_secs(10);

/// The most keys of the list that are looked at, the oldest ones.
const MAX_LISTED_KEYS: usize = 10_000;

/// Recognises API keys, with a short memory for those that were good.
pub(super) struct KeyRing {
    keys: Keys,
    known: Mutex<HashMap<String, Known>>,
    /// All keys and when they were read; held while they are read, so that many who wait cause one request.
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

    /// The caller who holds this key, if it was good a short while ago and still is; without a request.
    pub(super) fn recognised(&self, key: &ApiKey, now: SystemTime) -> Option<Caller> {
        let record = self.remembered(key.id(), now).filter(|record| record.admits(key, now))?;
        Some(Caller::new(record.holder(), record.administrator))
    }

    /// The caller who holds this key, by a look at the database.
    ///
    /// The look-up is made for a key with a wrong secret too whose id is remembered: the time of the answer is the same for it
    /// as for an id that is none.
    pub(super) async fn look_up(&self, key: &ApiKey, now: SystemTime) -> Result<Caller, Denial> {
        let found = self.keys.get(key.id()).await.map_err(|error| unread(&error))?;
        let record = found.filter(|record| record.admits(key, now)).ok_or(Denial::Wrong)?;
        let caller = Caller::new(record.holder(), record.administrator);
        self.remember(record, now);
        Ok(caller)
    }

    /// The caller who holds this key, if it is in a list of all keys that is at most ten seconds old.
    ///
    /// For callers at an address that may cause no look-ups: the list costs the same however many ask, and answers for all keys
    /// at once. Of more than 10,000 keys it has the oldest.
    pub(super) async fn listed(&self, key: &ApiKey, now: SystemTime) -> Option<Caller> {
        let mut listed = self.listed.lock().await;
        let fresh = listed.as_ref().is_some_and(|(_, since)| is_within(*since, LIST_TTL, now));
        if !fresh {
            let records =
                timeout(LIST_TIMEOUT, self.keys.first(MAX_LISTED_KEYS)).await.unwrap_or(Err(StoreError::Busy));
            // A list that cannot be read is empty for as long: a store in trouble is not queried by every request.
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

    /// Remembers a good key from its first sight on: being used must not make it believed for longer.
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

/// The wall clock counts, because it goes on while an instance is frozen; one that was set back ends the belief.
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
