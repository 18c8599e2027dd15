//! Embeddings from an OpenAI-compatible endpoint.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings, parse_base_url};
use redaction::Redactor;
use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use store::QuantisedVector;

use crate::attempts::{Attempts, ServiceError};
use crate::vectors::quantise;

/// How many texts a request has: all endpoints accept so many.
const BATCH_TEXTS: usize = 10;

/// How many requests run at the same time.
const MAX_REQUESTS: usize = 4;

const ARTICLE: Attempts = Attempts {
    count: 6,
    timeout: Duration::from_mins(1),
    first_pause: Duration::from_millis(500),
    max_pause: Duration::from_mins(1),
};

/// Attempts with a query, whose caller waits.
const QUERY: Attempts = Attempts { count: 2, ..ARTICLE };

const PROBE: Attempts = Attempts { count: 1, ..ARTICLE };

/// The maximum length of a vector.
const MAX_DIMENSIONS: usize = 8192;

const PROBE_TEXT: &str = "probe";

const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// <https://platform.openai.com/docs/api-reference/embeddings/create>, as of November 2026.
#[derive(Deserialize)]
struct Reply<E> {
    data: Vec<Row<E>>,
    #[serde(default)]
    usage: ReplyUsage,
}

#[derive(Deserialize)]
struct Row<E> {
    /// Absent in replies of some endpoints, which are in order.
    index: Option<usize>,
    embedding: E,
}

#[derive(Default, Deserialize)]
struct ReplyUsage {
    #[serde(default)]
    prompt_tokens: u64,
}

impl<E> Reply<E> {
    /// What `read` makes of the embeddings of `count` texts, in their order; `None` unless each text has one.
    fn in_order<V: Clone>(self, count: usize, read: impl Fn(E) -> Option<V>) -> Option<Vec<V>> {
        let mut vectors = vec![None; count];
        for (position, Row { index, embedding }) in self.data.into_iter().enumerate() {
            *vectors.get_mut(index.unwrap_or(position))? = read(embedding);
        }
        vectors.into_iter().collect()
    }
}

/// A request of a client for the embeddings of its own texts.
#[derive(Clone, Debug)]
pub struct EmbeddingsRequest {
    /// The texts.
    pub input: Vec<String>,
    /// `float` or `base64`.
    pub encoding_format: String,
    /// The length of the vectors, for models that have several.
    pub dimensions: Option<u32>,
}

/// The vectors of a client's texts, in their order, as the endpoint rendered them.
#[derive(Clone, Debug, Default)]
pub struct ClientEmbeddings {
    /// Each an array of numbers, or a string in Base64.
    pub vectors: Vec<Box<RawValue>>,
    /// The tokens of the texts, as the endpoint counts them.
    pub tokens: u64,
}

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
        let vectors = self.vectors(&[PROBE_TEXT.to_owned()], PROBE).await?;
        vectors.first().map(|vector| vector.values.len()).ok_or(EmbeddingsError::BadResponse)
    }

    /// Embeds the texts of an article, with retries; all vectors have the same length.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Vec<QuantisedVector>, EmbeddingsError> {
        let vectors = self.vectors(texts, ARTICLE).await?;
        let same = vectors.windows(2).all(|pair| matches!(pair, [a, b] if a.values.len() == b.values.len()));
        if same { Ok(vectors) } else { Err(EmbeddingsError::BadResponse) }
    }

    /// Embeds a query, without personal data if this is masked.
    pub(crate) async fn embed_query(&self, query: &str) -> Result<QuantisedVector, EmbeddingsError> {
        let masked = self.config.redactor.redact_text(query).into_owned();
        let vectors = self.vectors(&[masked], QUERY).await?;
        vectors.into_iter().next().ok_or(EmbeddingsError::BadResponse)
    }

    /// Embeds the texts of a client, of which one waits for all.
    pub async fn embed_for_client(&self, request: &EmbeddingsRequest) -> Result<ClientEmbeddings, EmbeddingsError> {
        let mut fields = json!({ "encoding_format": request.encoding_format });
        if let Some(dimensions) = request.dimensions {
            fields["dimensions"] = dimensions.into();
        }
        let mut all = ClientEmbeddings::default();
        for (reply, count) in self.replies(&request.input, &fields, QUERY).await? {
            let reply: Reply<Box<RawValue>> =
                serde_json::from_slice(&reply).map_err(|_| EmbeddingsError::BadResponse)?;
            all.tokens += reply.usage.prompt_tokens;
            // The vectors are passed on unread.
            let vectors = reply.in_order(count, |vector| Some(vector).filter(|one| one.get().starts_with(['[', '"'])));
            all.vectors.extend(vectors.ok_or(EmbeddingsError::BadResponse)?);
        }
        Ok(all)
    }

    async fn vectors(&self, texts: &[String], attempts: Attempts) -> Result<Vec<QuantisedVector>, EmbeddingsError> {
        // Some endpoints have another default than `float`.
        let replies = self.replies(texts, &json!({ "encoding_format": "float" }), attempts).await?;
        let vectors = replies.iter().map(|(reply, count)| parse_reply(reply, *count));
        vectors.collect::<Option<Vec<_>>>().map(|vectors| vectors.concat()).ok_or(EmbeddingsError::BadResponse)
    }

    /// The replies to batches of texts, in their order, each with the number of its texts. `fields` are those of every request.
    async fn replies(
        &self,
        texts: &[String],
        fields: &Value,
        attempts: Attempts,
    ) -> Result<Vec<(Vec<u8>, usize)>, EmbeddingsError> {
        let batches: Vec<Vec<String>> = texts.chunks(BATCH_TEXTS).map(<[String]>::to_vec).collect();
        let replies = stream::iter(batches).map(async |batch| {
            let reply = attempts.send(|| self.request(&batch, fields), |error| self.is_temporary(*error)).await?;
            Ok((reply, batch.len()))
        });
        replies.buffered(MAX_REQUESTS).try_collect().await
    }

    async fn request(&self, texts: &[String], fields: &Value) -> Result<RequestBuilder, EmbeddingsError> {
        let mut request = fields.clone();
        request["model"] = self.config.model.as_str().into();
        request["input"] = texts.into();
        let post = self.http.post(format!("{}/embeddings", self.config.base_url)).json(&request);
        let Some(key) = &self.config.api_key else { return Ok(post) };
        let key = key.get().await.map_err(|_| EmbeddingsError::Unauthorized)?;
        Ok(post.bearer_auth(key.expose_secret()))
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

impl ServiceError for EmbeddingsError {
    const UNAVAILABLE: Self = Self::Unavailable;
    const BAD_RESPONSE: Self = Self::BadResponse;

    fn of_response(status: u16, _: &HeaderMap) -> Self {
        match status {
            401 | 403 => Self::Unauthorized,
            429 => Self::Busy,
            408 | 500.. => Self::Unavailable,
            status => Self::Rejected(status),
        }
    }
}

/// The vectors of `count` texts, in their order; `None` unless each text has one.
pub(crate) fn parse_reply(body: &[u8], count: usize) -> Option<Vec<QuantisedVector>> {
    let reply: Reply<Vec<f32>> = serde_json::from_slice(body).ok()?;
    reply
        .in_order(count, |vector| Some(vector).filter(|one| one.len() <= MAX_DIMENSIONS).and_then(|one| quantise(&one)))
}

/// The endpoint that embeds texts.
#[derive(Clone, Debug)]
pub struct EmbeddingsConfig {
    /// URL of an OpenAI-compatible API; `http` or `https`, without a trailing slash.
    pub base_url: String,
    /// Absent for an endpoint without authentication.
    pub api_key: Option<Secret>,
    /// The endpoint's own name of the model.
    pub model: String,
    /// Masks the queries of searches; off until it is set.
    pub redactor: Redactor,
}

impl EmbeddingsConfig {
    /// Reads `EMBEDDINGS_MODEL`, `EMBEDDINGS_BASE_URL` and `EMBEDDINGS_API_KEY` (or the reference to the secret); `None`
    /// without a model.
    ///
    /// # Errors
    /// A setting that cannot be parsed, also without a model.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, SettingError> {
        let accepted = "an http or https address without a query";
        let base_url = settings.parse("EMBEDDINGS_BASE_URL", accepted, parse_base_url)?;
        let api_key = Secret::from_settings(settings, "EMBEDDINGS_API_KEY")?;
        let Some(model) = settings.var("EMBEDDINGS_MODEL").map(str::to_owned) else { return Ok(None) };
        let base_url = base_url.unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
        Ok(Some(Self { base_url, api_key, model, redactor: Redactor::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scales(body: &str, count: usize) -> Option<Vec<Vec<i8>>> {
        Some(parse_reply(body.as_bytes(), count)?.into_iter().map(|vector| vector.values).collect())
    }

    #[test]
    fn vectors_are_in_order_of_their_texts() {
        let body = r#"{"data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[4,0]}],"usage":{}}"#;
        assert_eq!(scales(body, 2), Some(vec![vec![127, 0], vec![0, -127]]));
        let unordered = r#"{"data":[{"embedding":[4,0]},{"embedding":[0,-2]}]}"#;
        assert_eq!(scales(unordered, 2), Some(vec![vec![127, 0], vec![0, -127]]));
    }

    #[test]
    fn incomplete_replies_are_refused() {
        let row = r#"{"index":0,"embedding":[1]}"#;
        for body in [
            "",
            "{}",
            r#"{"data":[]}"#,
            &format!(r#"{{"data":[{row}]}}"#),
            &format!(r#"{{"data":[{row},{row}]}}"#),
            &format!(r#"{{"data":[{row},{{"index":2,"embedding":[1]}}]}}"#),
            &format!(r#"{{"data":[{row},{{"index":1,"embedding":[0]}}]}}"#),
            &format!(r#"{{"data":[{row},{{"index":1,"embedding":"AAAA"}}]}}"#),
        ] {
            assert_eq!(scales(body, 2), None, "{body}");
        }
    }
}
