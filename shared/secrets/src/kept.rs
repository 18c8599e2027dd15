use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use secrecy::SecretString;

use crate::SecretError;
use crate::vault::Vault;

/// How long a value is used without being read again.
const FRESH: Duration = Duration::from_mins(5);

/// How long a value is used when it cannot be read again.
const USABLE: Duration = Duration::from_hours(1);

/// The least time between two readings while there is a value to use.
const PAUSE: Duration = Duration::from_secs(30);

/// A secret that is kept elsewhere, and what was last read of it.
pub(crate) struct Kept {
    vault: Vault,
    known: Mutex<Known>,
    /// Held during a reading, so that many who wait cause one; keeps the client between them.
    reading: tokio::sync::Mutex<Option<transport::Client>>,
}

#[derive(Default)]
struct Known {
    value: Option<(SecretString, SystemTime)>,
    /// Whether the value was refused since it was read.
    refused: bool,
    /// When a refusal last caused a reading.
    reread: Option<SystemTime>,
    /// When a reading last failed, unless one has succeeded since.
    failed: Option<SystemTime>,
    /// How many readings there were.
    readings: u64,
}

impl Kept {
    pub(crate) fn new(vault: Vault) -> Self {
        Self { vault, known: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// The value: a fresh one, else one that is read now, else the last one while it is usable.
    pub(crate) async fn reveal(&self, now: SystemTime) -> Result<SecretString, SecretError> {
        let readings = {
            let known = self.known();
            if let Some(value) = known.at_hand(now) {
                return Ok(value);
            }
            known.readings
        };
        let mut client = self.reading.lock().await;
        // Who read in the meantime read for all who waited.
        if self.known().readings == readings {
            let value = self.vault.read(&mut client, now).await;
            self.known().note(value, now);
        }
        self.known().usable(now).ok_or_else(|| self.vault.unreadable())
    }

    /// What was read last, however long ago.
    pub(crate) fn last(&self) -> Option<SecretString> {
        self.known().value.as_ref().map(|(value, _)| value.clone())
    }

    /// Takes note that the value was refused, and tells whether it will be read again for that.
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
    /// A value for which nothing need be read: a fresh one, or a usable one when a reading has just failed.
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

/// Whether less than `span` has passed. The wall clock goes on while an instance is frozen; where it was set back,
/// everything counts as long ago.
fn is_within(since: SystemTime, span: Duration, now: SystemTime) -> bool {
    now.duration_since(since).is_ok_and(|age| age < span)
}

#[cfg(test)]
mod tests;
