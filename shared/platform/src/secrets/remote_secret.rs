use std::time::{Duration, SystemTime};

use secrecy::SecretString;
use work::{RefreshPolicy, Refreshed};

use super::SecretError;
use super::backend::SecretBackend;

const POLICY: RefreshPolicy = RefreshPolicy {
    fresh_for: Duration::from_mins(5),
    usable_for: Duration::from_hours(1),
    retry_interval: Duration::from_secs(30),
};

/// A secret stored at AWS, with a cache of its last value.
pub(crate) struct RemoteSecret {
    backend: SecretBackend,
    value: Refreshed<SecretString, ()>,
    /// The client, kept between reads.
    client: tokio::sync::Mutex<Option<crate::transport::Client>>,
}

impl RemoteSecret {
    pub(crate) fn new(backend: SecretBackend) -> Self {
        Self { backend, value: Refreshed::new(POLICY), client: tokio::sync::Mutex::default() }
    }

    /// Returns the value: a fresh one, else one that is read now, else the last one while it is usable.
    pub(crate) async fn get(&self, now: SystemTime) -> Result<SecretString, SecretError> {
        let read = async || self.backend.read(&mut *self.client.lock().await, now).await.ok_or(());
        self.value.get(now, read).await.map_err(|()| self.backend.read_error())
    }

    /// The last value that was read, of any age.
    pub(crate) fn peek(&self) -> Option<SecretString> {
        self.value.peek()
    }

    /// Records that a service rejected the value; returns whether it will be read again for that.
    pub(crate) fn invalidate(&self, now: SystemTime) -> bool {
        self.value.try_invalidate(now)
    }
}

#[cfg(test)]
mod tests;
