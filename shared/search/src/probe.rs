//! One small search, for a check of the configuration.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use tools::OutboundRedactor;

use crate::clock::Clock;
use crate::config::SearchConfig;
use crate::failure::SearchFailure;
use crate::filters::Filters;
use crate::request::{Mode, SearchRequest};
use crate::tavily::Tavily;

const QUERY: &str = "weather";

/// Sends one basic search and returns the number of its results. It uses no cache, no rate limit and no budget; the
/// provider charges 1 credit.
///
/// # Errors
/// The provider's failure, or [`SearchFailure::Timeout`] after `timeout`.
pub async fn probe(
    config: &SearchConfig,
    http: platform::transport::Client,
    timeout: Duration,
) -> Result<usize, SearchFailure> {
    let redactor = OutboundRedactor::default();
    let request = SearchRequest::new(QUERY, Mode::Quick, Filters::default(), &redactor);
    let request = request.ok_or(SearchFailure::Rejected)?;
    let tavily = Tavily::new(http, config.base_url.clone(), config.api_key.clone());
    let clock = Clock::new(SystemTime::now(), Instant::now() + timeout);
    tavily.fetch(&request, &clock).await.map(|paid| paid.answer.pages.len())
}
