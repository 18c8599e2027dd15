use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::time::timeout;

use super::super::config::IssuerConfig;
use super::super::issuer_url::is_key_url;
use super::key::KeySet;

/// Timeout for fetching the issuer's keys.
const FETCH_TIMEOUT: Duration = Duration::from_secs(4);

/// Maximum length of a document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// How long keys are used before they are fetched again.
const CACHE_TTL: Duration = Duration::from_hours(1);

/// How long keys are used if the issuer is unavailable.
const MAX_STALENESS: Duration = Duration::from_hours(24);

/// Time between two attempts to fetch other keys while there are usable ones.
const RETRY_INTERVAL: Duration = Duration::from_mins(5);

/// The keys of one issuer: fetched on first use, cached, and fetched again at a limited rate.
pub(super) struct Issuer {
    http: platform::transport::Client,
    /// The issuer's name, which is also its URL.
    name: String,
    jwks_url: Option<String>,
    state: Mutex<IssuerState>,
    /// Held during a fetch, so that concurrent callers cause one request.
    fetch_lock: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct IssuerState {
    keys: Option<CachedKeys>,
    /// Number of fetches so far.
    fetches: u64,
    /// When the last fetch failed, unless one has succeeded since.
    failed_at: Option<SystemTime>,
    /// When a token with an unknown key last caused a fetch.
    renewed_at: Option<SystemTime>,
}

#[derive(Clone)]
struct CachedKeys {
    keys: Arc<KeySet>,
    fetched_at: SystemTime,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    pub(super) fn new(config: &IssuerConfig, http: platform::transport::Client) -> Self {
        let IssuerConfig { issuer, jwks_url, .. } = config.clone();
        Self { http, name: issuer, jwks_url, state: Mutex::default(), fetch_lock: tokio::sync::Mutex::default() }
    }

    /// The issuer's keys; `None` if there are no usable ones and the issuer returns none.
    pub(super) async fn keys(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        let fetches = {
            let state = self.lock_state();
            if let Some(keys) = state.fresh_keys(now) {
                return Some(keys);
            }
            state.fetches
        };
        let _guard = self.fetch_lock.lock().await;
        // A caller that held the lock in the meantime has fetched for all waiting callers.
        if self.lock_state().fetches == fetches {
            self.refresh(now).await;
        }
        self.lock_state().usable_keys(now)
    }

    /// Keys other than `seen`, for a token with an unknown key; fetches at most once in five minutes.
    pub(super) async fn newer_keys(&self, seen: &Arc<KeySet>, now: SystemTime) -> Option<Arc<KeySet>> {
        let _guard = self.fetch_lock.lock().await;
        let current = self.lock_state().usable_keys(now);
        if current.as_ref().is_some_and(|current| !Arc::ptr_eq(current, seen)) {
            return current;
        }
        if !self.lock_state().claim_renewal(now) {
            return None;
        }
        if self.refresh(now).await { self.lock_state().usable_keys(now) } else { None }
    }

    /// Fetches the issuer's keys; returns whether that succeeded.
    async fn refresh(&self, now: SystemTime) -> bool {
        let keys = timeout(FETCH_TIMEOUT, self.fetch()).await.ok().flatten();
        if keys.is_none() {
            tracing::warn!(issuer = %self.name, "the issuer's keys could not be read");
        }
        let mut state = self.lock_state();
        state.fetches += 1;
        state.failed_at = keys.is_none().then_some(now);
        let Some(keys) = keys else { return false };
        state.keys = Some(CachedKeys { keys: Arc::new(keys), fetched_at: now });
        true
    }

    async fn fetch(&self) -> Option<KeySet> {
        let address = match &self.jwks_url {
            Some(address) => address.clone(),
            None => self.discover_jwks_url().await?,
        };
        KeySet::parse(&self.fetch_document(&address).await?)
    }

    /// `OpenID` Connect Discovery 1.0, section 4: the document must be the issuer's own.
    async fn discover_jwks_url(&self) -> Option<String> {
        let base = self.name.trim_end_matches('/');
        let document = self.fetch_document(&format!("{base}/.well-known/openid-configuration")).await?;
        let document: Discovery = serde_json::from_slice(&document).ok()?;
        let allow_http = self.name.starts_with("http://");
        (document.issuer == self.name && is_key_url(&document.jwks_uri, allow_http)).then_some(document.jwks_uri)
    }

    async fn fetch_document(&self, address: &str) -> Option<Vec<u8>> {
        let mut response = self.http.get(address).header("accept", "application/json").send().await.ok()?;
        if response.status() != http::StatusCode::OK {
            return None;
        }
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            if document.len() + chunk.len() > MAX_DOCUMENT_BYTES {
                return None;
            }
            document.extend_from_slice(&chunk);
        }
        Some(document)
    }

    fn lock_state(&self) -> MutexGuard<'_, IssuerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IssuerState {
    /// Keys that need no fetch: fresh ones, and older ones for a while after a failed fetch.
    fn fresh_keys(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        let keys = self.keys.as_ref()?;
        let is_backing_off = self.failed_at.is_some_and(|at| is_within(at, RETRY_INTERVAL, now))
            && is_within(keys.fetched_at, MAX_STALENESS, now);
        (is_backing_off || is_within(keys.fetched_at, CACHE_TTL, now)).then(|| keys.keys.clone())
    }

    fn usable_keys(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        self.keys.as_ref().filter(|keys| is_within(keys.fetched_at, MAX_STALENESS, now)).map(|keys| keys.keys.clone())
    }

    fn claim_renewal(&mut self, now: SystemTime) -> bool {
        let is_due = !self.renewed_at.is_some_and(|at| is_within(at, RETRY_INTERVAL, now));
        if is_due {
            self.renewed_at = Some(now);
        }
        is_due
    }
}

/// Whether less than `span` has passed. It uses the wall clock, which continues while an instance is frozen. After a
/// clock set back, everything counts as expired.
fn is_within(since: SystemTime, span: Duration, now: SystemTime) -> bool {
    now.duration_since(since).is_ok_and(|age| age < span)
}
