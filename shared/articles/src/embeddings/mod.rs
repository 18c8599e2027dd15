//! Embeddings from an OpenAI-compatible endpoint.

mod config;
mod wire;

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use platform::secrets::Secret;
use reqwest::Response;
use secrecy::ExposeSecret;
use serde_json::json;
use store::QuantisedVector;
use tokio::time::timeout;

pub use self::config::EmbeddingsConfig;
#[cfg(test)]
pub(crate) use self::wire::parse as parse_reply;
use crate::attempts::{Attempts, FailedAttempt, demanded_pause, read_body};

/// How many texts a request has: all endpoints accept so many.
const BATCH_TEXTS: usize = 10;

/// How many requests run at the same time.
const MAX_REQUESTS: usize = 4;

/// Attempts with the texts of an article.
const ARTICLE: Attempts =
    Attempts { count: 6, first_pause: Duration::from_millis(500), max_pause: Duration::from_mins(1) };

/// Attempts with a query, whose caller waits.
const QUERY: Attempts = Attempts { count: 2, ..ARTICLE };

/// The attempt of a probe.
const PROBE: Attempts = Attempts { count: 1, ..ARTICLE };

/// Timeout of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_mins(1);

/// The longest reply that is read, in bytes: ten vectors of 4,096 components with all their digits.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// What a probe embeds.
const PROBE_TEXT: &str = "probe";

/// Why there are no embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingsError {
    /// No reply, or a failure of the endpoint.
    #[error("the embeddings endpoint (EMBEDDINGS_BASE_URL) cannot be reached or fails")]
    Unavailable,
    /// The endpoint limits the rate or the amount.
    #[error("the embeddings endpoint is busy, or its quota is used up")]
    Busy,
    /// The key is missing or rejected.
    #[error("the embeddings endpoint rejects the key: set EMBEDDINGS_API_KEY")]
    Unauthorized,
    /// The endpoint does not know the model or the route, or rejects the texts.
    #[error("the embeddings endpoint rejects the request (status {0}): set EMBEDDINGS_MODEL and EMBEDDINGS_BASE_URL")]
    Rejected(u16),
    /// The reply does not have a vector for each text.
    #[error("the reply of the embeddings endpoint cannot be read")]
    BadResponse,
}

/// A client of an embeddings endpoint.
#[derive(Clone, Debug)]
pub struct Embeddings {
    config: EmbeddingsConfig,
    http: platform::transport::Client,
}

impl Embeddings {
    /// Creates the client; makes no call.
    pub fn new(config: EmbeddingsConfig, http: platform::transport::Client) -> Self {
        Self { config, http }
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        &self.config.model
    }

    /// Embeds one short text, without retries; returns the length of its vector.
    pub async fn probe(&self) -> Result<usize, EmbeddingsError> {
        let vectors = self.embed_batch(&[PROBE_TEXT.to_owned()], PROBE).await?;
        vectors.first().map(|vector| vector.values.len()).ok_or(EmbeddingsError::BadResponse)
    }

    /// Embeds the texts of an article, with retries; all vectors have the same length.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Vec<QuantisedVector>, EmbeddingsError> {
        let batches: Vec<Vec<String>> = texts.chunks(BATCH_TEXTS).map(<[String]>::to_vec).collect();
        let batches = stream::iter(batches).map(async |batch| self.embed_batch(&batch, ARTICLE).await);
        let batches: Vec<Vec<QuantisedVector>> = batches.buffered(MAX_REQUESTS).try_collect().await?;
        let vectors: Vec<QuantisedVector> = batches.into_iter().flatten().collect();
        let same = vectors.windows(2).all(|pair| matches!(pair, [a, b] if a.values.len() == b.values.len()));
        if same { Ok(vectors) } else { Err(EmbeddingsError::BadResponse) }
    }

    /// Embeds a query.
    pub(crate) async fn embed_query(&self, query: &str) -> Result<QuantisedVector, EmbeddingsError> {
        let vectors = self.embed_batch(&[query.to_owned()], QUERY).await?;
        vectors.into_iter().next().ok_or(EmbeddingsError::BadResponse)
    }

    async fn embed_batch(&self, texts: &[String], attempts: Attempts) -> Result<Vec<QuantisedVector>, EmbeddingsError> {
        let attempt = || async {
            let sent = timeout(ATTEMPT_TIMEOUT, self.attempt(texts));
            sent.await.unwrap_or(Err(EmbeddingsError::Unavailable.into()))
        };
        attempts.run(attempt, |error| self.is_temporary(*error)).await
    }

    async fn attempt(&self, texts: &[String]) -> Result<Vec<QuantisedVector>, FailedAttempt<EmbeddingsError>> {
        // Some endpoints have another default than `float`.
        let request = json!({ "model": self.config.model, "input": texts, "encoding_format": "float" });
        let mut post = self.http.post(format!("{}/embeddings", self.config.base_url)).json(&request);
        if let Some(key) = &self.config.api_key {
            let key = key.get().await.map_err(|_| EmbeddingsError::Unauthorized)?;
            post = post.bearer_auth(key.expose_secret());
        }
        let response = post.send().await.map_err(|_| EmbeddingsError::Unavailable)?;
        if !response.status().is_success() {
            return Err(EmbeddingsError::of_response(&response));
        }
        let (cut, too_long) = (EmbeddingsError::Unavailable, EmbeddingsError::BadResponse);
        let body = read_body(response, MAX_BODY_BYTES, cut, too_long).await?;
        Ok(wire::parse(&body, texts.len()).ok_or(EmbeddingsError::BadResponse)?)
    }

    /// Whether another attempt may succeed. A rejected key is read again from its secret store, at most twice a minute.
    fn is_temporary(&self, error: EmbeddingsError) -> bool {
        match error {
            EmbeddingsError::Unavailable | EmbeddingsError::Busy => true,
            EmbeddingsError::Unauthorized => self.config.api_key.as_ref().is_some_and(Secret::invalidate),
            EmbeddingsError::Rejected(_) | EmbeddingsError::BadResponse => false,
        }
    }
}

impl EmbeddingsError {
    /// The error of a response without success.
    fn of_response(response: &Response) -> FailedAttempt<Self> {
        let error = match response.status().as_u16() {
            401 | 403 => Self::Unauthorized,
            429 => Self::Busy,
            408 | 500.. => Self::Unavailable,
            status => Self::Rejected(status),
        };
        FailedAttempt { error, pause: demanded_pause(response.headers()) }
    }
}
