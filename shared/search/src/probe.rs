//! One small search, for a check of the configuration.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use tools::OutboundRedactor;

use crate::clock::Clock;
use crate::config::ProviderConfig;
use crate::failure::SearchFailure;
use crate::filters::Filters;
use crate::provider::{Alternatives, Provider};
use crate::request::{Mode, SearchRequest};

const QUERY: &str = "weather";

/// Sends one basic search and returns the number of its results. It uses no cache, no rate limit and no budget; the
/// provider charges 1 credit.
///
/// # Errors
/// The provider's failure, or [`SearchFailure::Timeout`] after `timeout`.
pub async fn probe(
    config: &ProviderConfig,
    http: platform::transport::Client,
    timeout: Duration,
) -> Result<usize, SearchFailure> {
    let redactor = OutboundRedactor::default();
    let request = SearchRequest::new(QUERY, Mode::Quick, Filters::default(), &redactor);
    let request = request.ok_or(SearchFailure::Rejected)?;
    let provider = Provider::new(http, config.clone());
    let clock = Clock::new(SystemTime::now(), Instant::now() + timeout);
    provider.fetch(&request, false, &clock, Alternatives::default()).await.map(|paid| paid.answer.pages.len())
}
