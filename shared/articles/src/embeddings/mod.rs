//! Embeddings from an OpenAI-compatible endpoint.

mod config;
mod wire;

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret;
use store::QuantisedVector;
use tokio::time::{sleep, timeout};

pub use self::config::EmbeddingsConfig;
#[cfg(test)]
pub(crate) use self::wire::parse as parse_reply;

/// How many texts a request has: all endpoints accept so many.
const BATCH_TEXTS: usize = 10;

/// How many requests run at the same time.
const MAX_REQUESTS: usize = 4;

/// How often a text of an article is sent; a query is sent twice at most.
const MAX_ATTEMPTS: u32 = 6;

/// The pause before the second attempt; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause that an endpoint can demand.
const MAX_PAUSE: Duration = Duration::from_mins(1);

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

/// A failed attempt, and the pause that the endpoint demands.
struct FailedAttempt {
    error: EmbeddingsError,
    pause: Option<Duration>,
}

impl From<EmbeddingsError> for FailedAttempt {
    fn from(error: EmbeddingsError) -> Self {
        Self { error, pause: None }
    }
}

impl EmbeddingsError {
    /// Whether another attempt may succeed.
    fn is_temporary(self) -> bool {
        matches!(self, Self::Unavailable | Self::Busy)
    }
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
        let vectors = self.embed_batch(&[PROBE_TEXT.to_owned()], 1).await?;
        vectors.first().map(|vector| vector.values.len()).ok_or(EmbeddingsError::BadResponse)
    }

    /// Embeds the texts of an article, with retries; all vectors have the same length.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Vec<QuantisedVector>, EmbeddingsError> {
        let batches: Vec<Vec<String>> = texts.chunks(BATCH_TEXTS).map(<[String]>::to_vec).collect();
        let batches = stream::iter(batches).map(async |batch| self.embed_batch(&batch, MAX_ATTEMPTS).await);
        let batches: Vec<Vec<QuantisedVector>> = batches.buffered(MAX_REQUESTS).try_collect().await?;
        let vectors: Vec<QuantisedVector> = batches.into_iter().flatten().collect();
        let same = vectors.windows(2).all(|pair| matches!(pair, [a, b] if a.values.len() == b.values.len()));
        if same { Ok(vectors) } else { Err(EmbeddingsError::BadResponse) }
    }

    /// Embeds a query.
    pub(crate) async fn embed_query(&self, query: &str) -> Result<QuantisedVector, EmbeddingsError> {
        let vectors = self.embed_batch(&[query.to_owned()], 2).await?;
        vectors.into_iter().next().ok_or(EmbeddingsError::BadResponse)
    }

    async fn embed_batch(&self, texts: &[String], attempts: u32) -> Result<Vec<QuantisedVector>, EmbeddingsError> {
        let mut made = 0;
        loop {
            let sent = timeout(ATTEMPT_TIMEOUT, self.attempt(texts)).await;
            let failed = match sent.unwrap_or(Err(EmbeddingsError::Unavailable.into())) {
                Ok(vectors) => return Ok(vectors),
                Err(failed) => failed,
            };
            made += 1;
            let pause = failed.pause.unwrap_or(FIRST_PAUSE * (1 << (made - 1).min(6)));
            let is_renewed = made == 1 && failed.error == EmbeddingsError::Unauthorized && self.renew_key();
            if made == attempts || !(failed.error.is_temporary() || is_renewed) || pause > MAX_PAUSE {
                return Err(failed.error);
            }
            sleep(pause).await;
        }
    }

    /// Whether a rejected key can be read again from its secret store.
    fn renew_key(&self) -> bool {
        self.config.api_key.as_ref().is_some_and(platform::secrets::Secret::invalidate)
    }

    async fn attempt(&self, texts: &[String]) -> Result<Vec<QuantisedVector>, FailedAttempt> {
        let request = wire::Request { model: &self.config.model, input: texts, encoding_format: "float" };
        let mut post = self.http.post(format!("{}/embeddings", self.config.base_url)).json(&request);
        if let Some(key) = &self.config.api_key {
            let key = key.get().await.map_err(|_unreadable| EmbeddingsError::Unauthorized)?;
            post = post.bearer_auth(key.expose_secret());
        }
        let response = post.send().await.map_err(|_unreachable| EmbeddingsError::Unavailable)?;
        if !response.status().is_success() {
            return Err(classify(response.status(), response.headers()));
        }
        Ok(wire::parse(&read_body(response).await?, texts.len()).ok_or(EmbeddingsError::BadResponse)?)
    }
}

fn classify(status: StatusCode, headers: &HeaderMap) -> FailedAttempt {
    let error = match status.as_u16() {
        401 | 403 => EmbeddingsError::Unauthorized,
        429 => EmbeddingsError::Busy,
        408 | 500.. => EmbeddingsError::Unavailable,
        status => EmbeddingsError::Rejected(status),
    };
    let pause = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    FailedAttempt { error, pause: pause.map(Duration::from_secs) }
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, FailedAttempt> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_cut| EmbeddingsError::Unavailable)? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(EmbeddingsError::BadResponse.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
