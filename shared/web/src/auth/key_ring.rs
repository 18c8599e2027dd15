use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use store::{ApiKey, KeyRecord, Keys, StoreError};

use super::{Caller, Denial};

/// How long a key that was seen is believed; a revoked one is refused after this at the latest.
const BELIEVED: Duration = Duration::from_secs(30);

/// The most keys that are remembered.
const MOST: usize = 1_000;

/// Recognises API keys, with a short memory for those that were good.
pub(super) struct KeyRing {
    keys: Keys,
    known: Mutex<HashMap<String, Known>>,
}

struct Known {
    record: KeyRecord,
    since: SystemTime,
}

impl KeyRing {
    pub(super) fn new(keys: Keys) -> Self {
        Self { keys, known: Mutex::default() }
    }

    /// The caller who holds this key. What is not of a key's form is refused without a look at the database.
    pub(super) async fn holder(&self, text: &str, now: SystemTime) -> Result<Caller, Denial> {
        let key = ApiKey::parse(text).ok_or(Denial::Worthless)?;
        let record = match self.remembered(key.id(), now) {
            Some(record) => record,
            None => self.keys.get(key.id()).await.map_err(|error| unread(&error))?.ok_or(Denial::Wrong)?,
        };
        if !record.admits(&key, now) {
            return Err(Denial::Wrong);
        }
        let caller = Caller::new(record.holder(), record.administrator);
        self.remember(record, now);
        Ok(caller)
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
    /// The wall clock counts, because it goes on while an instance is frozen; one that was set back ends the belief.
    fn is_believed(&self, now: SystemTime) -> bool {
        now.duration_since(self.since).is_ok_and(|age| age < BELIEVED)
    }
}

fn unread(error: &StoreError) -> Denial {
    tracing::error!(%error, "a key could not be looked up");
    match error {
        StoreError::Busy | StoreError::Full => Denial::Unavailable,
        StoreError::Damaged | StoreError::Fault(_) => Denial::Broken,
    }
}
