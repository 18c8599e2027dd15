use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use secrecy::SecretString;

use crate::SecretError;
use crate::vault::Vault;

/// How long a value is used before it is read again.
const FRESH: Duration = Duration::from_mins(5);

/// How long a value is used if it cannot be read again.
const USABLE: Duration = Duration::from_hours(1);

/// Minimum time between two reads while there is a usable value.
const PAUSE: Duration = Duration::from_secs(30);

/// A secret stored at AWS, with a cache of its last value.
pub(crate) struct Kept {
    vault: Vault,
    known: Mutex<Known>,
    /// The client, kept between reads. The lock is held during a read, so that concurrent callers cause one read.
    reading: tokio::sync::Mutex<Option<transport::Client>>,
}

#[derive(Default)]
struct Known {
    value: Option<(SecretString, SystemTime)>,
    /// Whether a service rejected the value since it was read.
    refused: bool,
    /// When a rejection last caused a read.
    reread: Option<SystemTime>,
    /// When a read last failed, unless one has succeeded since.
    failed: Option<SystemTime>,
    /// Number of reads so far.
    readings: u64,
}

impl Kept {
    pub(crate) fn new(vault: Vault) -> Self {
        Self { vault, known: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// Returns the value: a fresh one, else one that is read now, else the last one while it is usable.
    pub(crate) async fn reveal(&self, now: SystemTime) -> Result<SecretString, SecretError> {
        let readings = {
            let known = self.known();
            if let Some(value) = known.at_hand(now) {
                return Ok(value);
            }
            known.readings
        };
        let mut client = self.reading.lock().await;
        // A caller that held the lock in the meantime has read for all waiting callers.
        if self.known().readings == readings {
            let value = self.vault.read(&mut client, now).await;
            self.known().note(value, now);
        }
        self.known().usable(now).ok_or_else(|| self.vault.unreadable())
    }

    /// The last value that was read, of any age.
    pub(crate) fn last(&self) -> Option<SecretString> {
        self.known().value.as_ref().map(|(value, _)| value.clone())
    }

    /// Records that a service rejected the value; returns whether it will be read again for that.
    pub(crate) fn refused(&self, now: SystemTime) -> bool {
        let mut known = self.known();
        let spared = [known.reread, known.failed].into_iter().flatten().any(|at| is_within(at, PAUSE, now));
        if !spared {
            known.refused = true;
            known.reread = Some(now);
        }
        !spared
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// A value that needs no read: a fresh one, or a usable one right after a failed read.
    fn at_hand(&self, now: SystemTime) -> Option<SecretString> {
        let (value, since) = self.value.as_ref()?;
        let fresh = is_within(*since, FRESH, now) && !self.refused;
        let spared = is_within(*since, USABLE, now) && self.failed.is_some_and(|at| is_within(at, PAUSE, now));
        (fresh || spared).then(|| value.clone())
    }

    fn usable(&self, now: SystemTime) -> Option<SecretString> {
        self.value.as_ref().filter(|(_, since)| is_within(*since, USABLE, now)).map(|(value, _)| value.clone())
    }

    fn note(&mut self, value: Option<SecretString>, now: SystemTime) {
        self.readings += 1;
        self.failed = value.is_none().then_some(now);
        if let Some(value) = value {
            self.value = Some((value, now));
            self.refused = false;
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
