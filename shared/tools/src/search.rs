//! Searches behind the cache and the limiter: who asks the provider, who waits, and who is told no.

mod allowance;
mod clock;
mod config;
mod emergency;
mod failure;
mod request;
mod results;
mod text;

use std::time::Duration;

use sha2::{Digest, Sha256};
use store::{Admission, Claim, Lead, Owner, RateLimit, RateLimiter, SearchCache, Store};

use self::allowance::Allowance;
use self::emergency::EmergencyLimiter;
use crate::tavily::{Fetched, Tavily};

pub use self::allowance::DailySearches;
pub(crate) use self::clock::Clock;
pub use self::config::SearchConfig;
pub(crate) use self::failure::SearchFailure;
pub(crate) use self::request::{Mode, SearchRequest};
pub(crate) use self::results::{FoundPage, SearchResults, summary};
pub(crate) use self::text::{Told, failed, told};

/// Longest time of a search, with its waits and second attempts.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);

/// How long the one who asks the provider keeps the others waiting when it dies.
const LEASE: Duration = Duration::from_secs(12);

/// First and last pause between two looks at a search that another one makes.
const POLLS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(250));

/// How long "nothing was found" is fresh.
const EMPTY_TTL: Duration = Duration::from_mins(1);

/// Part of every key: changes when the cached form or its meaning does.
const FORMAT: &str = "tavily-1";

/// Searches of one deployment.
pub(crate) struct Search {
    tavily: Tavily,
    base_url: String,
    ttl: Duration,
    limit: RateLimit,
    cache: SearchCache,
    limiter: RateLimiter,
    emergency: EmergencyLimiter,
    allowance: Allowance,
}

/// What a search brought.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) results: SearchResults,
    /// Whether somebody else's search brought it.
    pub(crate) cached: bool,
    pub(crate) credits: u64,
}

/// What the cache leaves to be done.
enum Place {
    Known(SearchResults),
    Leader { lead: Lead, stale: Option<SearchResults> },
    Late { stale: Option<SearchResults> },
    WithoutStore,
}

impl Search {
    pub(crate) fn new(config: SearchConfig, http: transport::Client, store: &Store) -> Self {
        let SearchConfig { base_url, api_key, ttl, limit, daily } = config;
        Self {
            tavily: Tavily::new(http, base_url.clone(), api_key),
            base_url,
            ttl,
            limit,
            cache: store.search_cache.clone(),
            limiter: store.rate_limiter.clone(),
            emergency: EmergencyLimiter::new(limit),
            allowance: Allowance::new(daily, store.ledger.clone()),
        }
    }

    /// The results of `request`: from the cache, from an equal search that is under way, or from the provider.
    ///
    /// Only the last counts against the limit of `owner` and the day's budgets. Where the provider or one of those says
    /// no, results that are no longer fresh serve as well.
    pub(crate) async fn find(
        &self,
        request: &SearchRequest,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<Found, SearchFailure> {
        match self.place(&self.key(request), clock).await {
            Place::Known(results) => Ok(Found::cached(results)),
            Place::Leader { lead, stale } => self.lead(lead, stale, request, owner, clock).await,
            Place::Late { stale } => stale.map(Found::cached).ok_or(SearchFailure::Timeout),
            Place::WithoutStore => {
                admitted(self.emergency.admit(clock.now()))?;
                self.paid(request, owner, clock).await.map(Found::from)
            }
        }
    }

    /// The same for searches whose results are the same, whoever makes them.
    fn key(&self, request: &SearchRequest) -> String {
        let asked = serde_json::json!([FORMAT, self.base_url, request]);
        format!("{:x}", Sha256::digest(asked.to_string()))
    }

    async fn place(&self, key: &str, clock: &Clock) -> Place {
        let (mut pause, longest_pause) = POLLS;
        loop {
            let stale = match self.cache.claim(key, LEASE, clock.now()).await {
                Ok(Claim::Fresh(text)) => return read(&text).map_or(Place::WithoutStore, Place::Known),
                Ok(Claim::Lead { lead, stale }) => {
                    return Place::Leader { lead, stale: stale.as_deref().and_then(read) };
                }
                Ok(Claim::Follow { stale }) => stale,
                Err(_) => {
                    tracing::warn!("the search cache cannot be read");
                    return Place::WithoutStore;
                }
            };
            if !clock.wait(pause).await {
                return Place::Late { stale: stale.as_deref().and_then(read) };
            }
            pause = longest_pause.min(pause * 2);
        }
    }

    async fn lead(
        &self,
        lead: Lead,
        stale: Option<SearchResults>,
        request: &SearchRequest,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<Found, SearchFailure> {
        match self.fetch(request, owner, clock).await {
            Ok(fetched) => {
                self.keep(lead, &fetched.results, clock).await;
                Ok(Found::from(fetched))
            }
            Err(failure) => {
                self.give_up(lead).await;
                stale.map(Found::cached).ok_or(failure)
            }
        }
    }

    async fn fetch(&self, request: &SearchRequest, owner: &Owner, clock: &Clock) -> Result<Fetched, SearchFailure> {
        let key = format!("search:{}", owner.as_str());
        let admission = match self.limiter.admit(&key, self.limit, clock.now()).await {
            Ok(admission) => admission,
            Err(_) => self.emergency.admit(clock.now()),
        };
        admitted(admission)?;
        self.paid(request, owner, clock).await
    }

    /// Asks the provider, within the day's budgets.
    async fn paid(&self, request: &SearchRequest, owner: &Owner, clock: &Clock) -> Result<Fetched, SearchFailure> {
        let unasked = || admitted(self.emergency.admit(clock.now()));
        let booking = self.allowance.book(owner, clock.now(), unasked).await?;
        let searched = self.tavily.search(request, clock).await;
        if searched.as_ref().is_err_and(|failure| failure.is_free()) {
            self.allowance.give_back(booking).await;
        }
        searched
    }

    async fn keep(&self, lead: Lead, results: &SearchResults, clock: &Clock) {
        let Ok(text) = serde_json::to_string(results) else { return };
        let put = self.cache.put(lead, &text, freshness(results, self.ttl), clock.now());
        if put.await.is_err() {
            tracing::warn!("search results could not be cached");
        }
    }

    async fn give_up(&self, lead: Lead) {
        if self.cache.release(lead).await.is_err() {
            tracing::warn!("the lead of a search was left to run out");
        }
    }
}

impl Found {
    fn cached(results: SearchResults) -> Self {
        Self { results, cached: true, credits: 0 }
    }
}

impl From<Fetched> for Found {
    fn from(Fetched { results, credits }: Fetched) -> Self {
        Self { results, cached: false, credits }
    }
}

fn admitted(admission: Admission) -> Result<(), SearchFailure> {
    match admission {
        Admission::Admitted => Ok(()),
        Admission::Denied { retry_after } => Err(SearchFailure::Limited { retry_after }),
    }
}

fn read(text: &str) -> Option<SearchResults> {
    serde_json::from_str(text).ok()
}

/// An empty result is soon out of date: what was searched for may just have happened.
fn freshness(results: &SearchResults, ttl: Duration) -> Duration {
    if results.pages.is_empty() { ttl.min(EMPTY_TTL) } else { ttl }
}

#[cfg(test)]
mod tests;
