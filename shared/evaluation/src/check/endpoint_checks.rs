use std::time::{Duration, Instant};

use articles::{Embeddings, EmbeddingsConfig, EmbeddingsError};
use commands::count;
use search::{ProviderConfig, SearchFailure};
use tokio::time::timeout;

use super::finding::{Finding, check_key, host_of, unreachable};

pub(super) async fn check_search(
    config: &ProviderConfig,
    http: platform::transport::Client,
    limit: Duration,
) -> Finding {
    if let Some(finding) = check_key(config.api_key(), "the secret of TAVILY_API_KEY", limit).await {
        return finding;
    }
    match search::probe(config, http, limit).await {
        Ok(0) => Finding::note("search", "no results for an easy query"),
        Ok(found) => Finding::ok("search", count(found as u64, "result")),
        Err(failure) => {
            let address = config.base_url().0;
            let cause = match failure {
                SearchFailure::Unavailable if !config.is_aws() => {
                    unreachable(address, &host_of(address), "TAVILY_BASE_URL", limit).await
                }
                _ => None,
            };
            Finding::failed("search", cause.unwrap_or_else(|| describe_search(failure, config, limit)))
        }
    }
}

fn describe_search(failure: SearchFailure, config: &ProviderConfig, limit: Duration) -> String {
    let (is_aws, has_key) = (config.is_aws(), config.api_key().is_some());
    match failure {
        SearchFailure::Refused if is_aws => {
            "access was denied: allow bedrock-agentcore:InvokeWebSearch on \
             arn:aws:bedrock-agentcore:REGION:aws:tool/web-search.v1, or replace the credentials"
                .to_owned()
        }
        SearchFailure::Refused if has_key => "the key was rejected: set TAVILY_API_KEY".to_owned(),
        SearchFailure::Refused => "the server requires a key: set TAVILY_API_KEY".to_owned(),
        SearchFailure::Exhausted | SearchFailure::Spent | SearchFailure::OutOfBudget => {
            "the quota of the plan is spent: raise the plan at the provider, wait for its renewal, or set TAVILY_API_KEY \
             to another account's"
                .to_owned()
        }
        SearchFailure::Busy | SearchFailure::Limited { .. } => "too many requests: try again later".to_owned(),
        SearchFailure::Timeout => format!("no answer within {} s: try again later", limit.as_secs()),
        SearchFailure::Unavailable | SearchFailure::BadResponse if is_aws => {
            "AWS has no web search here or it is broken: set SEARCH_REGION, or try again later".to_owned()
        }
        SearchFailure::Unavailable => {
            "the server cannot be reached or is broken: set TAVILY_BASE_URL, or try again later".to_owned()
        }
        SearchFailure::Rejected | SearchFailure::BadResponse | SearchFailure::Unreadable => {
            "the server does not speak Tavily's protocol: set TAVILY_BASE_URL".to_owned()
        }
    }
}

/// Embeds one short text; `host` is the host and port of the endpoint.
pub(super) async fn check_embeddings(
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
            Finding::ok("embeddings", format!("{dimensions} dimensions, after {seconds:.1} s"))
        }
        Ok(Err(error)) => {
            let cause = match error {
                EmbeddingsError::Unavailable => unreachable(&config.base_url, host, "EMBEDDINGS_BASE_URL", limit).await,
                _ => None,
            };
            Finding::failed("embeddings", cause.unwrap_or_else(|| describe_embeddings(error, config, host)))
        }
        Err(_elapsed) => Finding::failed(
            "embeddings",
            format!(
                "no answer within {} s: try again with a longer --timeout if the server is still loading the model",
                limit.as_secs()
            ),
        ),
    }
}

fn describe_embeddings(error: EmbeddingsError, config: &EmbeddingsConfig, host: &str) -> String {
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
