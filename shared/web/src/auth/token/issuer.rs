use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::time::timeout;

use super::super::config::{IssuerConfig, is_address};
use super::key::KeySet;

/// Timeout for fetching the issuer's keys.
const PATIENCE: Duration = Duration::from_secs(4);

/// Maximum length of a document, in bytes.
const LONGEST: usize = 256 * 1024;

/// How long keys are used before they are fetched again.
const FRESH: Duration = Duration::from_hours(1);

/// How long keys are used if the issuer is unavailable.
const USABLE: Duration = Duration::from_hours(24);

/// Time between two attempts to fetch other keys while there are usable ones.
const PAUSE: Duration = Duration::from_mins(5);

/// The keys of one issuer: fetched on first use, cached, and fetched again at a limited rate.
pub(super) struct Issuer {
    http: transport::Client,
    /// The issuer's name, which is also its URL.
    name: String,
    jwks: Option<String>,
    known: Mutex<Known>,
    /// Held during a fetch, so that concurrent callers cause one request.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    keys: Option<Dated>,
    /// Number of fetches so far.
    asked: u64,
    /// When the last fetch failed, unless one has succeeded since.
    failed: Option<SystemTime>,
    /// When a token with an unknown key last caused a fetch.
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

    /// The issuer's keys; `None` if there are no usable ones and the issuer returns none.
    pub(super) async fn keys(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        let asked = {
            let known = self.known();
            if let Some(keys) = known.fresh(now) {
                return Some(keys);
            }
            known.asked
        };
        let _asking = self.asking.lock().await;
        // A caller that held the lock in the meantime has fetched for all waiting callers.
        if self.known().asked == asked {
            self.ask(now).await;
        }
        self.known().usable(now)
    }

    /// Keys other than `seen`, for a token with an unknown key; fetches at most once in five minutes.
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

    /// Fetches the issuer's keys; returns whether that succeeded.
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
    /// Keys that need no fetch: fresh ones, and older ones for a while after a failed fetch.
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

/// Whether less than `span` has passed. It uses the wall clock, which continues while an instance is frozen. After a
/// clock set back, everything counts as expired.
fn is_within(since: SystemTime, span: Duration, now: SystemTime) -> bool {
    now.duration_since(since).is_ok_and(|age| age < span)
}
