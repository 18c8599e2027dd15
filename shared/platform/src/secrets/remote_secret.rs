use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use secrecy::SecretString;

use super::SecretError;
use super::backend::SecretBackend;

/// How long a value is used before it is read again.
const CACHE_TTL: Duration = Duration::from_mins(5);

/// How long a value is used if it cannot be read again.
const MAX_STALENESS: Duration = Duration::from_hours(1);

/// Minimum time between two reads while there is a usable value.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// A secret stored at AWS, with a cache of its last value.
pub(crate) struct RemoteSecret {
    backend: SecretBackend,
    cache: Mutex<CachedValue>,
    /// The client, kept between reads. The lock is held during a read, so that concurrent callers cause one read.
    client: tokio::sync::Mutex<Option<crate::transport::Client>>,
}

#[derive(Default)]
struct CachedValue {
    value: Option<(SecretString, SystemTime)>,
    /// Whether a service rejected the value since it was read.
    is_rejected: bool,
    /// When a rejection last caused a read.
    reread_at: Option<SystemTime>,
    /// When a read last failed, unless one has succeeded since.
    failed_at: Option<SystemTime>,
    /// Number of reads so far.
    reads: u64,
}

impl RemoteSecret {
    pub(crate) fn new(backend: SecretBackend) -> Self {
        Self { backend, cache: Mutex::default(), client: tokio::sync::Mutex::default() }
    }

    /// Returns the value: a fresh one, else one that is read now, else the last one while it is usable.
    pub(crate) async fn get(&self, now: SystemTime) -> Result<SecretString, SecretError> {
        let reads = {
            let cache = self.lock_cache();
            if let Some(value) = cache.value_without_read(now) {
                return Ok(value);
            }
            cache.reads
        };
        let mut client = self.client.lock().await;
        // A caller that held the lock in the meantime has read for all waiting callers.
        if self.lock_cache().reads == reads {
            let value = self.backend.read(&mut client, now).await;
            self.lock_cache().record_read(value, now);
        }
        self.lock_cache().usable_value(now).ok_or_else(|| self.backend.read_error())
    }

    /// The last value that was read, of any age.
    pub(crate) fn peek(&self) -> Option<SecretString> {
        self.lock_cache().value.as_ref().map(|(value, _)| value.clone())
    }

    /// Records that a service rejected the value; returns whether it will be read again for that.
    pub(crate) fn invalidate(&self, now: SystemTime) -> bool {
        let mut cache = self.lock_cache();
        let is_backing_off =
            [cache.reread_at, cache.failed_at].into_iter().flatten().any(|at| is_within(at, RETRY_INTERVAL, now));
        if !is_backing_off {
            cache.is_rejected = true;
            cache.reread_at = Some(now);
        }
        !is_backing_off
    }

    fn lock_cache(&self) -> MutexGuard<'_, CachedValue> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedValue {
    /// A value that needs no read: a fresh one, or a usable one right after a failed read.
    fn value_without_read(&self, now: SystemTime) -> Option<SecretString> {
        let (value, since) = self.value.as_ref()?;
        let is_fresh = is_within(*since, CACHE_TTL, now) && !self.is_rejected;
        let is_backing_off = is_within(*since, MAX_STALENESS, now)
            && self.failed_at.is_some_and(|at| is_within(at, RETRY_INTERVAL, now));
        (is_fresh || is_backing_off).then(|| value.clone())
    }

    fn usable_value(&self, now: SystemTime) -> Option<SecretString> {
        self.value.as_ref().filter(|(_, since)| is_within(*since, MAX_STALENESS, now)).map(|(value, _)| value.clone())
    }

    fn record_read(&mut self, value: Option<SecretString>, now: SystemTime) {
        self.reads += 1;
        self.failed_at = value.is_none().then_some(now);
        if let Some(value) = value {
            self.value = Some((value, now));
            self.is_rejected = false;
        }
    }
}

/// Whether less than `span` has passed. It uses the wall clock, which continues while an instance is frozen. After a
/// clock set back, everything counts as expired.
fn is_within(since: SystemTime, span: Duration, now: SystemTime) -> bool {
    now.duration_since(since).is_ok_and(|age| age < span)
}

#[cfg(test)]
mod tests;
