use std::time::{Duration, Instant};

use articles::{Embeddings, EmbeddingsConfig, EmbeddingsError};
use tokio::time::timeout;

use super::finding::{Finding, check_key};

const SUBJECT: &str = "embeddings";

/// Embeds one short text; `host` is the host and port of the endpoint.
pub(super) async fn check(
    config: &EmbeddingsConfig,
    host: &str,
    http: platform::transport::Client,
    limit: Duration,
) -> Finding {
    if let Some(finding) = check_key(config.api_key.as_ref(), "the secret of EMBEDDINGS_API_KEY", limit).await {
        return finding;
    }
    let started = Instant::now();
    match timeout(limit, Embeddings::new(config.clone(), http).probe()).await {
        Ok(Ok(dimensions)) => {
            let seconds = started.elapsed().as_secs_f64();
            Finding::ok(SUBJECT, format!("{dimensions} dimensions, after {seconds:.1} s"))
        }
        Ok(Err(error)) => Finding::failed(SUBJECT, describe(error, config, host)),
        Err(_elapsed) => Finding::failed(
            SUBJECT,
            format!(
                "no answer within {} s: try again with a longer --timeout if the server is still loading the model",
                limit.as_secs()
            ),
        ),
    }
}

/// Returns what is wrong and what to set, in one line.
fn describe(error: EmbeddingsError, config: &EmbeddingsConfig, host: &str) -> String {
    let model = &config.model;
    match error {
        EmbeddingsError::Unauthorized if config.api_key.is_some() => {
            "the key was rejected: set EMBEDDINGS_API_KEY".to_owned()
        }
        EmbeddingsError::Unauthorized => "the server requires a key: set EMBEDDINGS_API_KEY".to_owned(),
        EmbeddingsError::Rejected(402) => "the account has no balance or quota left (HTTP 402): top it up, or set \
             EMBEDDINGS_API_KEY to another account's"
            .to_owned(),
        EmbeddingsError::Rejected(404) => format!(
            "the server has no model `{model}` (HTTP 404): set EMBEDDINGS_MODEL, or EMBEDDINGS_BASE_URL if its path is wrong"
        ),
        EmbeddingsError::Rejected(status) => format!(
            "the request was rejected (HTTP {status}): set EMBEDDINGS_MODEL to a model for embeddings, which `{model}` may not be"
        ),
        EmbeddingsError::Busy => {
            "too many requests, or the quota is used up: try again later, or set EMBEDDINGS_API_KEY \
             to another account's"
                .to_owned()
        }
        EmbeddingsError::Unavailable => format!(
            "{host} cannot be reached or is broken: start the server, set EMBEDDINGS_BASE_URL, or try again later"
        ),
        EmbeddingsError::BadResponse => format!("{host} does not speak this protocol: set EMBEDDINGS_BASE_URL"),
    }
}
