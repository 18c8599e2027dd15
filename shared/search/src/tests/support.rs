//! DynamoDB on loopback, and searches that run against it and the fake provider.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_smithy_types::retry::RetryConfig;
use domain::Owner;
use dynoxide::Database;
use platform::aws::Service;
use platform::secrets::Secret;
use platform::settings::Settings;
use store::{RateLimit, Store, TableNames, create_tables, sdk_config};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tools::OutboundRedactor;

pub(super) use super::fake_provider::{FakeReply, Provider};
use crate::aws_search;
use crate::budget::CreditBudget;
use crate::clock::Clock;
use crate::clock::MAX_DURATION;
use crate::config::{ProviderConfig, SearchConfig};
use crate::daily_quota::DailySearchLimits;
use crate::failure::SearchFailure;
use crate::filters::Filters;
use crate::outcome::SearchOutcome;
use crate::request::{Mode, SearchRequest};
use crate::results::SearchResults;
use crate::search::Search;

pub(super) const HOUR: Duration = Duration::from_hours(1);

/// A store with its tables in a database of its own.
pub(super) async fn store() -> Store {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    let config = sdk_config(&Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)])).unwrap();
    create_tables(&config, &tables()).await.unwrap();
    Store::new(&config, tables())
}

/// A store whose database does not answer, and whose SDK does not try again.
pub(super) async fn dead_store() -> Store {
    let endpoint = format!("http://{}", free_address().await);
    let config = sdk_config(&Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)])).unwrap();
    Store::new(&config.to_builder().retry_config(RetryConfig::disabled()).build(), tables())
}

/// An address without a listener.
pub(super) async fn free_address() -> std::net::SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

fn tables() -> TableNames {
    TableNames { data: "data".to_owned(), ephemeral: "ephemeral".to_owned() }
}

pub(super) fn config(provider: &Provider) -> SearchConfig {
    config_of([tavily(provider.url.clone(), Some(Secret::by_value("tvly-key")))])
}

pub(super) fn tavily(base_url: String, api_key: Option<Secret>) -> ProviderConfig {
    ProviderConfig::Tavily { base_url, api_key, pages_only: false }
}

/// Amazon's web search at the address of a fake provider.
pub(super) fn aws(provider: &Provider) -> ProviderConfig {
    let settings = Settings::from_pairs([
        ("AT", provider.url.as_str()),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "canary"),
    ]);
    ProviderConfig::Aws(Arc::new(Service::from_settings(&settings, aws_search::SERVICE, "AT").unwrap()))
}

pub(super) fn config_of(providers: impl Into<Vec<ProviderConfig>>) -> SearchConfig {
    SearchConfig {
        providers: providers.into(),
        ttl: HOUR,
        limit: RateLimit { burst: 100, window: Duration::from_mins(1) },
        daily: DailySearchLimits::default(),
        budget: CreditBudget::default(),
    }
}

/// Searches over a provider and a fresh store, as one process sees them.
pub(super) async fn search(provider: &Provider) -> Search {
    search_with(config(provider), &store().await)
}

pub(super) fn search_with(config: SearchConfig, store: &Store) -> Search {
    let http = platform::transport::build_client().unwrap();
    Search::new(config, &http, store)
}

pub(super) fn ada() -> Owner {
    Owner::new("ada")
}

/// A search for this query at `second` of the tests' time, without a close deadline.
pub(super) async fn find(
    search: &Search,
    query: &str,
    second: u64,
) -> Result<SearchOutcome<SearchResults>, SearchFailure> {
    find_for(search, query, &ada(), second).await
}

pub(super) async fn find_for(
    search: &Search,
    query: &str,
    owner: &Owner,
    second: u64,
) -> Result<SearchOutcome<SearchResults>, SearchFailure> {
    search.find(&request(query), owner, &clock(second, MAX_DURATION)).await
}

/// The same with little time.
pub(super) async fn find_hastily(
    search: &Search,
    query: &str,
    second: u64,
) -> Result<SearchOutcome<SearchResults>, SearchFailure> {
    search.find(&request(query), &ada(), &clock(second, Duration::from_millis(200))).await
}

pub(super) fn request(query: &str) -> SearchRequest {
    SearchRequest::new(query, Mode::Normal, Filters::default(), &OutboundRedactor::default()).unwrap()
}

fn clock(second: u64, longest: Duration) -> Clock {
    Clock::new(at(second), Instant::now() + longest)
}

pub(super) fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + second)
}

/// The outcome of a search: the content of its page (the number of the request that fetched it), and its cost.
pub(super) fn seen(
    found: Result<SearchOutcome<SearchResults>, SearchFailure>,
) -> Result<(String, bool, u64), SearchFailure> {
    found.map(|SearchOutcome { answer, cached, credits, .. }| (answer.pages[0].content.clone(), cached, credits))
}

/// Fetched by the `number`th request.
#[expect(clippy::unnecessary_wraps, reason = "compared with what a search gives")]
pub(super) fn fetched(number: usize) -> Result<(String, bool, u64), SearchFailure> {
    Ok((number.to_string(), false, 3))
}

/// Fetched by the `number`th request, of another caller or earlier.
#[expect(clippy::unnecessary_wraps, reason = "compared with what a search gives")]
pub(super) fn kept(number: usize) -> Result<(String, bool, u64), SearchFailure> {
    Ok((number.to_string(), true, 0))
}
