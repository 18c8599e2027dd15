//! Clients for the search providers.

mod pause;

use std::time::{Duration, SystemTime};

use platform::aws::{Call, Method};
use platform::transport::{self, BodyError, Client};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};
use secrecy::ExposeSecret;
use tokio::time::{Instant, sleep, timeout_at};

use self::pause::Pause;
use crate::aws_search;
use crate::clock::Clock;
use crate::config::ProviderConfig;
use crate::failure::SearchFailure;
use crate::provider_request::{ProviderReply, ProviderRequest};

/// Longest reply that is read, in bytes.
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// Pause before a second attempt if the provider states none.
const RETRY_PAUSE: Duration = Duration::from_millis(300);

/// Longest pause before a second attempt that is accepted from the provider.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(3);

/// How long a provider is paused after a failure if it states no time, while another one searches.
const REST: Duration = Duration::from_mins(1);

/// Longest rest that a provider may state.
const MAX_REST: Duration = Duration::from_hours(1);

/// A provider that had less time than this does not rest after it: the caller was in a hurry.
const MIN_FAIR_TIME: Duration = Duration::from_secs(2);

pub(crate) struct Provider {
    http: Client,
    config: ProviderConfig,
    pause: Pause,
}

/// What else may answer a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alternatives {
    /// The number of providers that are tried next.
    pub(crate) ready: u32,
    /// Whether there is another provider, which may rest.
    pub(crate) exist: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) struct PaidAnswer<A> {
    pub(crate) answer: A,
    pub(crate) credits: u64,
    /// Whether the cheaper form of the request was sent.
    pub(crate) cheap: bool,
}

#[derive(Debug, PartialEq)]
struct FailedAttempt {
    failure: SearchFailure,
    /// The pause before a second attempt, if it may help.
    retry_after: Option<Duration>,
    /// The pause that the provider states.
    stated: Option<Duration>,
}

impl From<SearchFailure> for FailedAttempt {
    fn from(failure: SearchFailure) -> Self {
        Self { failure, retry_after: None, stated: None }
    }
}

impl Provider {
    pub(crate) fn new(http: Client, config: ProviderConfig) -> Self {
        Self { http, pause: Pause::new(config.name()), config }
    }

    pub(crate) fn accepts<R: ProviderRequest>(&self) -> bool {
        if R::IS_SEARCH { self.config.searches() } else { !self.config.is_aws() }
    }

    /// Whether it does not rest.
    pub(crate) fn is_ready(&self, now: SystemTime) -> bool {
        self.pause.check(now).is_ok()
    }

    /// Sends a request, or its cheaper form if the budget `is_low`. It ends at the clock's deadline, and leaves as much
    /// time to each alternative. Without one there is a second attempt where it may help.
    ///
    /// A rejected key and an exhausted plan pause further requests; with an alternative, every failure does that the
    /// request is not the cause of.
    pub(crate) async fn fetch<R: ProviderRequest>(
        &self,
        request: &R,
        is_low: bool,
        clock: &Clock,
        alternatives: Alternatives,
    ) -> Result<PaidAnswer<R::Answer>, SearchFailure> {
        match self.pause.check(clock.now()) {
            // A page is read even so, because no other provider can.
            Err(SearchFailure::Busy) if !alternatives.exist => {}
            checked => checked?,
        }
        let cheaper = if is_low && !self.config.is_aws() { request.cheaper_form() } else { None };
        let time = clock.remaining() / (alternatives.ready + 1);
        let attempts = self.attempt_with_retry(cheaper.as_ref().unwrap_or(request), clock, alternatives.ready == 0);
        let outcome = timeout_at(Instant::now() + time, attempts).await.unwrap_or(Err(SearchFailure::Timeout.into()));
        let reply = outcome.map_err(|FailedAttempt { failure, stated, .. }| {
            let is_unfair = failure == SearchFailure::Timeout && time < MIN_FAIR_TIME;
            let rest = stated.unwrap_or(REST).min(MAX_REST);
            self.pause.record(failure, (alternatives.exist && !is_unfair).then_some(rest), clock.now());
            failure
        })?;
        let credits = reply.credits.unwrap_or_else(|| cheaper.as_ref().unwrap_or(request).list_price());
        Ok(PaidAnswer { answer: reply.answer, credits, cheap: cheaper.is_some() })
    }

    async fn attempt_with_retry<R: ProviderRequest>(
        &self,
        request: &R,
        clock: &Clock,
        is_last: bool,
    ) -> Result<ProviderReply<R::Answer>, FailedAttempt> {
        let failed = match self.attempt(request, clock).await {
            Ok(reply) => return Ok(reply),
            Err(failed) => failed,
        };
        let pause = failed.retry_after.filter(|_| is_last).or_else(|| self.retry_with_new_key(failed.failure));
        let Some(pause) = pause else { return Err(failed) };
        sleep(pause).await;
        self.attempt(request, clock).await
    }

    /// A rejected key from a secret store may have been replaced: it is read again without a pause.
    fn retry_with_new_key(&self, failure: SearchFailure) -> Option<Duration> {
        let key = self.config.api_key().filter(|_| failure == SearchFailure::Refused)?;
        key.invalidate().then_some(Duration::ZERO)
    }

    async fn attempt<R: ProviderRequest>(
        &self,
        request: &R,
        clock: &Clock,
    ) -> Result<ProviderReply<R::Answer>, FailedAttempt> {
        let post = self.post(request, clock.now()).await?;
        let response = post.send().await.map_err(|_unreachable| connection_failure(None))?;
        let (status, mut stated) = (response.status(), stated_pause(response.headers()));
        let is_aws = self.config.is_aws();
        if is_aws && status == StatusCode::SERVICE_UNAVAILABLE && stated.is_none() {
            let seconds = aws_search::parse_retry_after(&read_body(response).await.unwrap_or_default());
            stated = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            return Err(connection_failure(stated));
        }
        if !status.is_success() {
            return Err(classify_status(status, stated));
        }
        let body = read_body(response).await?;
        Ok(if is_aws { request.parse_aws_reply(&body) } else { request.parse_reply(&body) }?)
    }

    async fn post<R: ProviderRequest>(&self, request: &R, now: SystemTime) -> Result<RequestBuilder, SearchFailure> {
        match &self.config {
            ProviderConfig::Tavily { base_url, api_key, .. } => {
                let post = self.http.post(format!("{base_url}{}", R::PATH)).json(request);
                let Some(key) = api_key else { return Ok(post) };
                let key = key.get().await.map_err(|_unreadable| SearchFailure::Unavailable)?;
                Ok(post.bearer_auth(key.expose_secret()))
            }
            ProviderConfig::Aws(service) => {
                let body = request.aws_body(now).ok_or(SearchFailure::Rejected)?;
                let headers = [("content-type", "application/json")];
                let call = Call { method: Method::POST, path: aws_search::PATH, headers: &headers, body };
                service.signed_request(&self.http, call, now).await.map_err(|_unsigned| SearchFailure::Unavailable)
            }
        }
    }
}

/// The failure for no reply or an incomplete one.
fn connection_failure(stated: Option<Duration>) -> FailedAttempt {
    FailedAttempt { failure: SearchFailure::Unavailable, retry_after: retry_pause(stated), stated }
}

/// Maps a status to a failed attempt. Tavily documents its own codes: 432 and 433 are the limits of a plan and of
/// pay-as-you-go.
fn classify_status(status: StatusCode, stated: Option<Duration>) -> FailedAttempt {
    match status.as_u16() {
        400 | 413 | 422 => SearchFailure::Rejected.into(),
        401 | 403 => SearchFailure::Refused.into(),
        429 => FailedAttempt { failure: SearchFailure::Busy, ..connection_failure(stated) },
        432 | 433 => SearchFailure::Exhausted.into(),
        500.. => connection_failure(stated),
        _ => SearchFailure::BadResponse.into(),
    }
}

fn stated_pause(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns the pause before a second attempt; `None` if the provider states one that is too long.
fn retry_pause(stated: Option<Duration>) -> Option<Duration> {
    let pause = stated.unwrap_or(RETRY_PAUSE).max(RETRY_PAUSE);
    (pause <= MAX_RETRY_PAUSE).then_some(pause)
}

async fn read_body(response: Response) -> Result<Vec<u8>, FailedAttempt> {
    transport::read_body(response, MAX_BODY_BYTES).await.map_err(|error| match error {
        BodyError::Disconnected => connection_failure(None),
        BodyError::TooLong => SearchFailure::BadResponse.into(),
    })
}

/// The providers of a deployment, in the order of failover.
pub(crate) struct Providers(Vec<Provider>);

impl Providers {
    pub(crate) fn new(http: &Client, configs: Vec<ProviderConfig>) -> Self {
        Self(configs.into_iter().map(|config| Provider::new(http.clone(), config)).collect())
    }

    pub(crate) fn have_alternative<R: ProviderRequest>(&self) -> bool {
        self.accepting::<R>().nth(1).is_some()
    }

    /// Returns the answer of the first provider that has one; providers that rest are skipped.
    ///
    /// # Errors
    /// The last failure, except that one which may have cost something wins over one that did not.
    pub(crate) async fn fetch<R: ProviderRequest>(
        &self,
        request: &R,
        is_low: bool,
        clock: &Clock,
    ) -> Result<PaidAnswer<R::Answer>, SearchFailure> {
        let exist = self.have_alternative::<R>();
        let (mut providers, mut failed) = (self.accepting::<R>(), None);
        while let Some(provider) = providers.next() {
            let now = clock.now();
            let ready = providers.clone().map(|provider| u32::from(provider.is_ready(now))).sum();
            match provider.fetch(request, is_low, clock, Alternatives { ready, exist }).await {
                Ok(paid) => return Ok(paid),
                Err(failure) if failed.is_none_or(SearchFailure::is_free) => failed = Some(failure),
                Err(_free_or_later) => {}
            }
        }
        Err(failed.unwrap_or(SearchFailure::Unavailable))
    }

    fn accepting<R: ProviderRequest>(&self) -> impl Iterator<Item = &Provider> + Clone {
        self.0.iter().filter(|provider| provider.accepts::<R>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause_for(retry_after: &str) -> Option<Duration> {
        retry_pause(stated_pause(&HeaderMap::from_iter([(RETRY_AFTER, retry_after.parse().unwrap())])))
    }

    #[test]
    fn f063_short_retry_after_is_honoured_long_one_fails() {
        assert_eq!(pause_for("2"), Some(Duration::from_secs(2)));
        assert_eq!(pause_for("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(pause_for("4"), None);
        assert_eq!(retry_pause(None), Some(RETRY_PAUSE));
    }

    #[test]
    fn f063_invalid_retry_after_uses_the_default() {
        for odd in ["0", "-1", "NaN", "", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(pause_for(odd), Some(RETRY_PAUSE), "{odd}");
        }
        assert_eq!(pause_for("1e308"), Some(RETRY_PAUSE));
        assert_eq!(pause_for("inf"), Some(RETRY_PAUSE));
    }
}
