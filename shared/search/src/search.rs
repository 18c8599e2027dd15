use std::sync::Arc;
use std::time::Duration;

use domain::{CreditLimit, CreditObserver, Owner, new_id};
use serde::Serialize;
use sha2::{Digest, Sha256};
use store::{Admission, Claim, FetchLease, RateLimit, RateLimiter, SearchCache, SpentCredits, Store};

use crate::budget::{CreditAccount, CreditLevel};
use crate::clock::Clock;
use crate::config::SearchConfig;
use crate::daily_quota::DailyQuota;
use crate::failure::SearchFailure;
use crate::local_limiter::LocalLimiter;
use crate::outcome::{CachedAnswer, SearchNotice, SearchOutcome};
use crate::provider::{PaidAnswer, Providers};
use crate::provider_request::ProviderRequest;

/// Timeout of a call, slightly more than [`crate::clock::MAX_DURATION`]: a request ends with its own reason.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(15);

/// Lease of the instance that requests the provider: how long the others wait if it crashes.
const LEASE_DURATION: Duration = Duration::from_secs(12);

/// First and longest pause between two polls of the cache while another instance sends the same request.
const POLL_PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(250));

/// The search providers of one deployment, shared by all its tools.
pub struct Search {
    providers: Providers,
    /// The address of the main provider; part of cache keys.
    base_url: String,
    ttl: Duration,
    limit: RateLimit,
    cache: SearchCache,
    limiter: RateLimiter,
    local_limiter: LocalLimiter,
    credit_account: CreditAccount,
    daily_quota: DailyQuota,
}

enum CacheLookup<A> {
    Hit(CachedAnswer<A>),
    Fetch { lease: FetchLease, stale: Option<CachedAnswer<A>>, spent: SpentCredits },
    TimedOut,
    StoreUnavailable,
}

impl Search {
    /// Creates the search with the cache, the limiter and the counters that all instances share; makes no call.
    pub fn new(config: SearchConfig, http: &platform::transport::Client, store: &Store) -> Self {
        let base_url = config.main_base_url().to_owned();
        let SearchConfig { providers, ttl, limit, daily, budget } = config;
        Self {
            providers: Providers::new(http, providers),
            credit_account: CreditAccount::new(base_url.clone(), budget, store.search_credits.clone()),
            base_url,
            ttl,
            limit,
            cache: store.search_cache.clone(),
            limiter: store.rate_limiter.clone(),
            local_limiter: LocalLimiter::new(limit),
            daily_quota: DailyQuota { limits: daily, ledger: store.ledger.clone() },
        }
    }

    /// Reports the state of the credits to `observer`.
    #[must_use]
    pub fn with_credit_observer(mut self, observer: Arc<dyn CreditObserver>) -> Self {
        self.credit_account.observer = observer;
        self
    }

    /// Returns the answer to `request`: from the cache, from an equal request in flight, or from a provider.
    ///
    /// Only a request to a provider counts against the rate limit of `owner` and the daily quotas. When the
    /// budget is low, Tavily gets the cheaper form. If the providers, the limiter or the budget reject the
    /// request, a stale answer is returned if there is one.
    pub(crate) async fn find<R: ProviderRequest>(
        &self,
        request: &R,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<SearchOutcome<R::Answer>, SearchFailure> {
        match self.check_cache::<R>(&self.cache_key(request), clock).await {
            CacheLookup::Hit(cached) => Ok(self.outcome_for_caller(cached, request, owner, clock).await),
            CacheLookup::Fetch { lease, stale, spent } => {
                let level = self.credit_account.level_after(spent, clock.now());
                let fetched = self.fetch_within_limits(level, request, owner, clock).await;
                self.cache_outcome(fetched, (lease, stale), request, owner, clock).await
            }
            CacheLookup::TimedOut => Err(SearchFailure::Timeout),
            CacheLookup::StoreUnavailable => {
                self.local_limiter.admit(clock.now())?;
                let paid = self.request_within_quota(request, false, owner, clock).await?;
                let PaidAnswer { answer, credits, .. } = paid;
                Ok(SearchOutcome { answer, cached: false, own: true, credits, others_credits: 0, notice: None })
            }
        }
    }

    /// Whether the budget allows more than the necessary requests.
    pub(crate) async fn has_ample_credits(&self, clock: &Clock) -> bool {
        self.credit_account.current_level(clock.now()).await == CreditLevel::Sufficient
    }

    /// Returns a key that is equal for requests with equal answers, for any caller.
    pub(crate) fn cache_key<R: ProviderRequest>(&self, request: &R) -> String {
        digest(&serde_json::json!([R::FORMAT, self.base_url, request]).to_string())
    }

    /// Returns a digest that is equal for equal requests of one caller.
    fn asker_digest<R: ProviderRequest>(&self, request: &R, owner: &Owner) -> String {
        digest(&serde_json::json!([self.cache_key(request), owner.as_str()]).to_string())
    }

    /// Converts a cached answer to the outcome for this caller. It is the caller's own if the caller fetched it, or was
    /// given it before, which is remembered.
    async fn outcome_for_caller<R: ProviderRequest>(
        &self,
        cached: CachedAnswer<R::Answer>,
        request: &R,
        owner: &Owner,
        clock: &Clock,
    ) -> SearchOutcome<R::Answer> {
        let asker = self.asker_digest(request, owner);
        if cached.asker == asker {
            return cached.into_outcome(true);
        }
        let delivery = digest(&format!("{asker} {}", cached.fetch));
        let was_delivered = self.cache.was_delivered(&delivery, self.ttl, clock.now()).await;
        let was_delivered = was_delivered.inspect_err(|_| tracing::warn!("a cached search could not be remembered"));
        cached.into_outcome(was_delivered.unwrap_or(false))
    }

    async fn check_cache<R: ProviderRequest>(&self, key: &str, clock: &Clock) -> CacheLookup<R::Answer> {
        let (mut pause, longest_pause) = POLL_PAUSES;
        loop {
            let stale = match self.cache.claim(key, &self.base_url, LEASE_DURATION, clock.now()).await {
                Ok(Claim::Fresh(text)) => {
                    return CachedAnswer::parse(&text).map_or(CacheLookup::StoreUnavailable, CacheLookup::Hit);
                }
                Ok(Claim::Lead { lease, stale, spent }) => {
                    let stale = stale.as_deref().and_then(CachedAnswer::parse);
                    return CacheLookup::Fetch { lease, stale, spent };
                }
                Ok(Claim::Follow { stale }) => stale,
                Err(_) => {
                    tracing::warn!("the search cache cannot be read");
                    return CacheLookup::StoreUnavailable;
                }
            };
            if !clock.wait(pause).await {
                let stale = stale.as_deref().and_then(CachedAnswer::parse);
                return stale.map_or(CacheLookup::TimedOut, CacheLookup::Hit);
            }
            pause = longest_pause.min(pause * 2);
        }
    }

    /// Stores what was fetched, or releases the lease and returns a stale answer.
    async fn cache_outcome<R: ProviderRequest>(
        &self,
        fetched: Result<CachedAnswer<R::Answer>, SearchFailure>,
        (lease, stale): (FetchLease, Option<CachedAnswer<R::Answer>>),
        request: &R,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<SearchOutcome<R::Answer>, SearchFailure> {
        match fetched {
            Ok(cached) => {
                let (freshness, credits) = (R::freshness(&cached.answer, self.ttl), cached.credits);
                tokio::join!(
                    self.store_answer(lease, &cached, freshness, clock),
                    self.credit_account.record_spent(credits, clock.now())
                );
                Ok(SearchOutcome { cached: false, credits, ..cached.into_outcome(true) })
            }
            Err(failure) => {
                tokio::join!(self.release_lease(lease), self.credit_account.record_failure(failure, clock.now()));
                let notice =
                    matches!(failure, SearchFailure::Exhausted | SearchFailure::Spent).then_some(SearchNotice::Stale);
                let outcome = self.outcome_for_caller(stale.ok_or(failure)?, request, owner, clock).await;
                Ok(SearchOutcome { notice, ..outcome })
            }
        }
    }

    async fn fetch_within_limits<R: ProviderRequest>(
        &self,
        level: CreditLevel,
        request: &R,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<CachedAnswer<R::Answer>, SearchFailure> {
        let is_low = match level {
            CreditLevel::Low => true,
            CreditLevel::Sufficient => false,
            // Another provider has no plan.
            CreditLevel::Exhausted(CreditLimit::Plan) if self.providers.have_alternative::<R>() => false,
            CreditLevel::Exhausted(by) => {
                self.credit_account.observer.on_refused(by, clock.now());
                return Err(SearchFailure::Spent);
            }
        };
        let key = format!("search:{}", owner.as_str());
        match self.limiter.admit(&key, self.limit, clock.now()).await {
            Ok(Admission::Admitted) => {}
            Ok(Admission::Denied { retry_after }) => return Err(SearchFailure::Limited { retry_after }),
            Err(_) => self.local_limiter.admit(clock.now())?,
        }
        let PaidAnswer { answer, credits, cheap } = self.request_within_quota(request, is_low, owner, clock).await?;
        let asker = self.asker_digest(request, owner);
        Ok(CachedAnswer { answer, cheap, credits, asker, fetch: new_id() })
    }

    async fn request_within_quota<R: ProviderRequest>(
        &self,
        request: &R,
        is_low: bool,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<PaidAnswer<R::Answer>, SearchFailure> {
        let reservation = self.daily_quota.reserve(owner, clock.now(), &self.local_limiter).await?;
        let fetched = self.providers.fetch(request, is_low, clock).await;
        if fetched.as_ref().is_err_and(|failure| failure.is_free()) {
            self.daily_quota.release(reservation).await;
        }
        if matches!(fetched, Err(SearchFailure::Exhausted)) {
            self.credit_account.observer.on_refused(CreditLimit::Plan, clock.now());
        }
        fetched
    }

    async fn store_answer<A: Serialize>(
        &self,
        lease: FetchLease,
        cached: &CachedAnswer<A>,
        freshness: Duration,
        clock: &Clock,
    ) {
        let Ok(text) = serde_json::to_string(cached) else { return };
        if self.cache.put(lease, &text, freshness, clock.now()).await.is_err() {
            tracing::warn!("search results could not be cached");
        }
    }

    async fn release_lease(&self, lease: FetchLease) {
        if self.cache.release(lease).await.is_err() {
            tracing::warn!("the lease of a search could not be freed and expires");
        }
    }
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
