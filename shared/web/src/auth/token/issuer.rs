use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::time::timeout;

use super::super::config::{IssuerConfig, is_address};
use super::key::KeySet;

/// Longest time for asking the issuer for its keys.
const PATIENCE: Duration = Duration::from_secs(4);

/// The longest document that is read, in bytes.
const LONGEST: usize = 256 * 1024;

/// After this long keys are asked for again.
const FRESH: Duration = Duration::from_hours(1);

/// For this long keys are used when the issuer cannot be asked.
const USABLE: Duration = Duration::from_hours(24);

/// Between two attempts to get other keys while there are usable ones.
const PAUSE: Duration = Duration::from_mins(5);

/// The keys of one issuer: asked for when they are first needed, kept, and asked for again with restraint.
pub(super) struct Issuer {
    http: transport::Client,
    /// Its name, which is also its address.
    name: String,
    jwks: Option<String>,
    known: Mutex<Known>,
    /// Held while the issuer is asked, so that many who wait cause one request.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    keys: Option<Dated>,
    /// How often the issuer was asked.
    asked: u64,
    /// When keys that grew old were last asked for in vain.
    failed: Option<SystemTime>,
    /// When a token last caused the issuer to be asked for a key that was not there.
    renewed: Option<SystemTime>,
}

#[derive(Clone)]
struct Dated {
    keys: Arc<KeySet>,
    since: SystemTime,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    pub(super) fn new(config: &IssuerConfig, http: transport::Client) -> Self {
        let IssuerConfig { issuer, jwks, .. } = config.clone();
        Self { http, name: issuer, jwks, known: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// The issuer's keys; `None` when there are none that may still be used and the issuer gives none.
    pub(super) async fn keys(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        let asked = {
            let known = self.known();
            if let Some(keys) = known.fresh(now) {
                return Some(keys);
            }
            known.asked
        };
        let _asking = self.asking.lock().await;
        // Who asked in the meantime asked for all who waited.
        if self.known().asked == asked {
            self.ask(now).await;
        }
        self.known().usable(now)
    }

    /// Other keys than `seen`, for a token whose key is not among those; asks the issuer at most once in five minutes.
    pub(super) async fn newer_keys(&self, seen: &Arc<KeySet>, now: SystemTime) -> Option<Arc<KeySet>> {
        let _asking = self.asking.lock().await;
        let current = self.known().usable(now);
        if current.as_ref().is_some_and(|current| !Arc::ptr_eq(current, seen)) {
            return current;
        }
        if !self.known().may_renew(now) {
            return None;
        }
        if self.ask(now).await { self.known().usable(now) } else { None }
    }

    /// Asks the issuer, and tells whether it gave keys.
    async fn ask(&self, now: SystemTime) -> bool {
        let keys = timeout(PATIENCE, self.fetch()).await.ok().flatten();
        if keys.is_none() {
            tracing::warn!(issuer = %self.name, "the issuer's keys could not be read");
        }
        let mut known = self.known();
        known.asked += 1;
        known.failed = keys.is_none().then_some(now);
        let Some(keys) = keys else { return false };
        known.keys = Some(Dated { keys: Arc::new(keys), since: now });
        true
    }

    async fn fetch(&self) -> Option<KeySet> {
        let address = match &self.jwks {
            Some(address) => address.clone(),
            None => self.discover().await?,
        };
        KeySet::parse(&self.document(&address).await?)
    }

    /// `OpenID` Connect Discovery 1.0, section 4: the document must be the issuer's own.
    async fn discover(&self) -> Option<String> {
        let base = self.name.trim_end_matches('/');
        let document = self.document(&format!("{base}/.well-known/openid-configuration")).await?;
        let document: Discovery = serde_json::from_slice(&document).ok()?;
        let plain = self.name.starts_with("http://");
        (document.issuer == self.name && is_address(&document.jwks_uri, plain)).then_some(document.jwks_uri)
    }

    async fn document(&self, address: &str) -> Option<Vec<u8>> {
        let mut response = self.http.get(address).header("accept", "application/json").send().await.ok()?;
        if response.status() != http::StatusCode::OK {
            return None;
        }
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            if document.len() + chunk.len() > LONGEST {
                return None;
            }
            document.extend_from_slice(&chunk);
        }
        Some(document)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Keys that need not be asked for: young ones, and old ones for a while after the issuer failed to answer.
    fn fresh(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        let keys = self.keys.as_ref()?;
        let spared = self.failed.is_some_and(|at| is_within(at, PAUSE, now)) && is_within(keys.since, USABLE, now);
        (spared || is_within(keys.since, FRESH, now)).then(|| keys.keys.clone())
    }

    fn usable(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        self.keys.as_ref().filter(|keys| is_within(keys.since, USABLE, now)).map(|keys| keys.keys.clone())
    }

    fn may_renew(&mut self, now: SystemTime) -> bool {
        let may = !self.renewed.is_some_and(|at| is_within(at, PAUSE, now));
        if may {
            self.renewed = Some(now);
        }
        may
    }
}

/// Whether less than `span` has passed. The wall clock goes on while an instance is frozen; where it was set back,
/// nothing is known and everything counts as long ago.
fn is_within(since: SystemTime, span: Duration, now: SystemTime) -> bool {
    now.duration_since(since).is_ok_and(|age| age < span)
}
