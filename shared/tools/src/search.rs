//! Requests to the search provider, with a shared cache, rate limiter and budgets.

mod allowance;
mod budget;
mod clock;
mod config;
mod emergency;
mod failure;
mod filters;
mod question;
mod request;
mod results;
mod shown;
mod text;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Admission, Claim, Lead, Owner, RateLimit, RateLimiter, SearchCache, Store};

use self::allowance::Allowance;
pub use self::allowance::DailySearches;
pub use self::budget::Budget;
pub(crate) use self::budget::next_hour;
use self::budget::{Account, Standing};
pub(crate) use self::clock::Clock;
pub use self::config::SearchConfig;
use self::emergency::EmergencyLimiter;
pub(crate) use self::failure::SearchFailure;
pub(crate) use self::filters::{Filters, TimeRange, Topic};
pub(crate) use self::question::{Question, Reply};
pub(crate) use self::request::{Mode, SearchRequest};
pub(crate) use self::results::{FoundPage, SearchResults, summary, visible, web_address};
pub(crate) use self::text::{Told, failed, from_the_web, told};
pub use self::watch::{CreditWatch, RefusedBy};
use crate::tavily::{Fetched, Tavily};

/// Maximum duration of a request, with its waits and second attempt.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);

/// Lease of the instance that requests the provider: how long the others wait if it crashes.
const LEASE: Duration = Duration::from_secs(12);

/// First and longest pause between two polls of the cache while another instance sends the same request.
const POLLS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(250));

/// The search provider of one deployment, shared by all its tools.
pub struct Search {
    tavily: Tavily,
    base_url: String,
    ttl: Duration,
    limit: RateLimit,
    cache: SearchCache,
    limiter: RateLimiter,
    emergency: EmergencyLimiter,
    account: Account,
    allowance: Allowance,
}

/// The outcome of a request.
#[derive(Debug, PartialEq)]
pub(crate) struct Found<A> {
    pub(crate) answer: A,
    /// Whether an earlier or a concurrent equal request fetched it.
    pub(crate) cached: bool,
    /// Whether the caller's own request fetched it; callers cannot see each other's searches.
    pub(crate) own: bool,
    /// The credits spent by this request.
    pub(crate) credits: u64,
    /// The credits spent by the other caller whose request fetched it; 0 for the caller's own.
    pub(crate) others_credits: u64,
    /// A note for the model.
    pub(crate) notice: Option<Notice>,
}

/// How an answer differs from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The budget is low: the request was replaced by its cheapest form.
    Cheap,
    /// The budget is spent: the answer is stale.
    Old,
    /// The first answer was not relevant: the request was repeated in more depth.
    Deepened,
}

/// A cached answer.
#[derive(Debug, Serialize, Deserialize)]
struct Kept<A> {
    answer: A,
    cheap: bool,
    /// The credits spent.
    #[serde(default)]
    credits: u64,
    /// A digest of the caller and the request, equal only for equal requests of the same caller.
    #[serde(default)]
    asker: String,
}

/// The result of a cache lookup.
enum Place<A> {
    Known(Kept<A>),
    Leader { lead: Lead, stale: Option<Kept<A>> },
    Late { stale: Option<Kept<A>> },
    WithoutStore,
}

impl Search {
    /// Creates the provider with the cache, the limiter and the counters that all instances share; makes no call.
    pub fn new(config: SearchConfig, http: transport::Client, store: &Store) -> Self {
        let SearchConfig { base_url, api_key, ttl, limit, daily, budget } = config;
        Self {
            tavily: Tavily::new(http, base_url.clone(), api_key),
            account: Account::new(base_url.clone(), budget, store.search_credits.clone()),
            base_url,
            ttl,
            limit,
            cache: store.search_cache.clone(),
            limiter: store.rate_limiter.clone(),
            emergency: EmergencyLimiter::new(limit),
            allowance: Allowance::new(daily, store.ledger.clone()),
        }
    }

    /// Reports the state of the credits to `observer`.
    #[must_use]
    pub fn watched_by(self, watch: Arc<dyn CreditWatch>) -> Self {
        Self { account: self.account.watched_by(watch), ..self }
    }

    /// Returns the answer to `request`: from the cache, from an equal request in flight, or from the provider.
    ///
    /// Only a request to the provider counts against the rate limit of `owner` and the daily quotas. When the
    /// provider's budget is low, the cheaper form is requested. If the provider, the limiter or the budget rejects the
    /// request, a stale answer is returned if there is one.
    pub(crate) async fn find<Q: Question>(
        &self,
        question: &Q,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<Found<Q::Answer>, SearchFailure> {
        match self.place::<Q>(&self.key(question), clock).await {
            Place::Known(kept) => Ok(kept.found(&self.asker(question, owner))),
            Place::Leader { lead, stale } => self.lead(lead, stale, question, owner, clock).await,
            Place::Late { stale } => {
                let asker = self.asker(question, owner);
                stale.map(|kept| kept.found(&asker)).ok_or(SearchFailure::Timeout)
            }
            Place::WithoutStore => {
                admitted(self.emergency.admit(clock.now()))?;
                let Fetched { answer, credits } = self.paid(question, owner, clock).await?;
                Ok(Found { answer, cached: false, own: true, credits, others_credits: 0, notice: None })
            }
        }
    }

    /// Whether the budget allows more than the necessary requests.
    pub(crate) async fn has_plenty(&self, clock: &Clock) -> bool {
        self.account.standing(clock.now()).await == Standing::Enough
    }

    /// Returns a key that is equal for requests with equal answers, for any caller.
    fn key<Q: Question>(&self, question: &Q) -> String {
        let asked = serde_json::json!([Q::FORMAT, self.base_url, question]);
        format!("{:x}", Sha256::digest(asked.to_string()))
    }

    /// Returns a digest that is equal for equal requests of one caller.
    fn asker<Q: Question>(&self, question: &Q, owner: &Owner) -> String {
        let asked = serde_json::json!([self.key(question), owner.as_str()]);
        format!("{:x}", Sha256::digest(asked.to_string()))
    }

    async fn place<Q: Question>(&self, key: &str, clock: &Clock) -> Place<Q::Answer> {
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

    async fn lead<Q: Question>(
        &self,
        lead: Lead,
        stale: Option<Kept<Q::Answer>>,
        question: &Q,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<Found<Q::Answer>, SearchFailure> {
        let asker = self.asker(question, owner);
        match self.fetch(question, owner, clock).await {
            Ok((kept, credits)) => {
                let freshness = Q::freshness(&kept.answer, self.ttl);
                tokio::join!(self.keep(lead, &kept, freshness, clock), self.account.count(credits, clock.now()));
                Ok(Found { cached: false, credits, ..kept.found(&asker) })
            }
            Err(failure) => {
                tokio::join!(self.give_up(lead), self.account.note(failure, clock.now()));
                let old = matches!(failure, SearchFailure::Exhausted | SearchFailure::Spent).then_some(Notice::Old);
                stale.map(|kept| Found { notice: old, ..kept.found(&asker) }).ok_or(failure)
            }
        }
    }

    async fn fetch<Q: Question>(
        &self,
        question: &Q,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<(Kept<Q::Answer>, u64), SearchFailure> {
        let cheaper = match self.account.standing(clock.now()).await {
            Standing::Enough => None,
            Standing::Low => question.cheaper(),
            Standing::Nothing(by) => {
                self.account.tell_refused(by, clock.now());
                return Err(SearchFailure::Spent);
            }
        };
        let key = format!("search:{}", owner.as_str());
        let admission = match self.limiter.admit(&key, self.limit, clock.now()).await {
            Ok(admission) => admission,
            Err(_) => self.emergency.admit(clock.now()),
        };
        admitted(admission)?;
        let Fetched { answer, credits } = self.paid(cheaper.as_ref().unwrap_or(question), owner, clock).await?;
        let asker = self.asker(question, owner);
        Ok((Kept { answer, cheap: cheaper.is_some(), credits, asker }, credits))
    }

    /// Sends the request to the provider within the daily quotas.
    async fn paid<Q: Question>(
        &self,
        question: &Q,
        owner: &Owner,
        clock: &Clock,
    ) -> Result<Fetched<Q::Answer>, SearchFailure> {
        let unasked = || admitted(self.emergency.admit(clock.now()));
        let booking = self.allowance.book(owner, clock.now(), unasked).await?;
        let asked = self.tavily.ask(question, clock).await;
        if asked.as_ref().is_err_and(|failure| failure.is_free()) {
            self.allowance.give_back(booking).await;
        }
        if matches!(asked, Err(SearchFailure::Exhausted)) {
            self.account.tell_refused(RefusedBy::Plan, clock.now());
        }
        asked
    }

    async fn keep<A: Serialize>(&self, lead: Lead, kept: &Kept<A>, freshness: Duration, clock: &Clock) {
        let Ok(text) = serde_json::to_string(kept) else { return };
        if self.cache.put(lead, &text, freshness, clock.now()).await.is_err() {
            tracing::warn!("search results could not be cached");
        }
    }

    async fn give_up(&self, lead: Lead) {
        if self.cache.release(lead).await.is_err() {
            tracing::warn!("the lead of a search was left to run out");
        }
    }
}

impl<A> Kept<A> {
    /// Converts a cached answer to the outcome for this caller, which costs nothing.
    fn found(self, asker: &str) -> Found<A> {
        let own = self.asker == asker;
        let (notice, others_credits) = (self.cheap.then_some(Notice::Cheap), if own { 0 } else { self.credits });
        Found { answer: self.answer, cached: true, own, credits: 0, others_credits, notice }
    }
}

impl<A> Found<A> {
    /// Whether the caller may see that it came from the cache: only after an earlier request of the same caller.
    pub(crate) fn is_known_as_cached(&self) -> bool {
        self.cached && self.own
    }

    /// Returns the credits that are reported to the caller. Another caller's answer is reported at its original cost,
    /// as if fetched again.
    pub(crate) fn reported_credits(&self) -> u64 {
        self.credits + self.others_credits
    }
}

fn admitted(admission: Admission) -> Result<(), SearchFailure> {
    match admission {
        Admission::Admitted => Ok(()),
        Admission::Denied { retry_after } => Err(SearchFailure::Limited { retry_after }),
    }
}

fn read<A: for<'a> Deserialize<'a>>(text: &str) -> Option<Kept<A>> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests;
