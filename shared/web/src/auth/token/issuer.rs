use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::time::timeout;
use work::{RefreshPolicy, Refreshed};

use super::super::config::IssuerConfig;
use super::super::sign_in::is_key_url;
use super::key::KeySet;

const FETCH_TIMEOUT: Duration = Duration::from_secs(4);

const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

const POLICY: RefreshPolicy = RefreshPolicy {
    fresh_for: Duration::from_hours(1),
    usable_for: Duration::from_hours(24),
    retry_interval: Duration::from_mins(5),
};

/// The keys of one issuer: fetched on first use, cached, and fetched again at a limited rate.
pub(super) struct Issuer {
    http: platform::transport::Client,
    /// The issuer's name, which is also its URL.
    name: String,
    jwks_url: Option<String>,
    keys: Refreshed<Arc<KeySet>, ()>,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    pub(super) fn new(config: &IssuerConfig, http: platform::transport::Client) -> Self {
        let IssuerConfig { issuer, jwks_url, .. } = config.clone();
        Self { http, name: issuer, jwks_url, keys: Refreshed::new(POLICY) }
    }

    /// The issuer's keys; `None` if there are no usable ones and the issuer returns none.
    pub(super) async fn keys(&self, now: SystemTime) -> Option<Arc<KeySet>> {
        self.keys.get(now, async || self.read().await).await.ok()
    }

    /// Keys other than `seen`, for a token with an unknown key; fetches at most once in five minutes.
    pub(super) async fn newer_keys(&self, seen: &Arc<KeySet>, now: SystemTime) -> Option<Arc<KeySet>> {
        self.keys.renew(now, |keys| !Arc::ptr_eq(keys, seen), async || self.read().await).await
    }

    async fn read(&self) -> Result<Arc<KeySet>, ()> {
        let keys = timeout(FETCH_TIMEOUT, self.fetch()).await.ok().flatten();
        if keys.is_none() {
            tracing::warn!(issuer = %self.name, "the issuer's keys could not be read");
        }
        keys.map(Arc::new).ok_or(())
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
}
