//! Client for Tavily and compatible services.

mod pause;
pub(crate) mod wire;

use std::time::Duration;

use platform::secrets::Secret;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret;
use tokio::time::{sleep, timeout_at};

use self::pause::Pause;
use crate::clock::Clock;
use crate::failure::SearchFailure;
use crate::provider_request::ProviderRequest;

/// Longest reply that is read, in bytes.
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// Pause before a second attempt if the provider states none.
const RETRY_PAUSE: Duration = Duration::from_millis(300);

/// Longest pause before a second attempt that is accepted from the provider.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(3);

/// A client for one endpoint.
pub(crate) struct Tavily {
    http: platform::transport::Client,
    base_url: String,
    api_key: Option<Secret>,
    pause: Pause,
}

/// An answer and its cost.
#[derive(Debug, PartialEq)]
pub(crate) struct PaidAnswer<A> {
    pub(crate) answer: A,
    pub(crate) credits: u64,
}

/// A failed attempt; `retry_after` is set if a second one may help.
#[derive(Debug, PartialEq)]
struct FailedAttempt {
    failure: SearchFailure,
    retry_after: Option<Duration>,
}

impl From<SearchFailure> for FailedAttempt {
    fn from(failure: SearchFailure) -> Self {
        Self { failure, retry_after: None }
    }
}

impl Tavily {
    pub(crate) fn new(http: platform::transport::Client, base_url: String, api_key: Option<Secret>) -> Self {
        Self { http, base_url, api_key, pause: Pause::default() }
    }

    /// Sends a request, with one second attempt where it may help, and ends at the clock's deadline.
    ///
    /// A rejected key and an exhausted plan pause further requests.
    pub(crate) async fn fetch<R: ProviderRequest>(
        &self,
        request: &R,
        clock: &Clock,
    ) -> Result<PaidAnswer<R::Answer>, SearchFailure> {
        self.pause.check(clock.now())?;
        let outcome =
            timeout_at(clock.end(), self.attempt_with_retry(request)).await.unwrap_or(Err(SearchFailure::Timeout));
        if let Err(failure) = outcome {
            self.pause.record(failure, clock.now());
        }
        outcome
    }

    async fn attempt_with_retry<R: ProviderRequest>(
        &self,
        request: &R,
    ) -> Result<PaidAnswer<R::Answer>, SearchFailure> {
        let failed = match self.attempt(request).await {
            Ok(fetched) => return Ok(fetched),
            Err(failed) => failed,
        };
        let Some(pause) = failed.retry_after.or_else(|| self.retry_with_new_key(failed.failure)) else {
            return Err(failed.failure);
        };
        sleep(pause).await;
        self.attempt(request).await.map_err(|failed| failed.failure)
    }

    /// A rejected key from a secret store may have been replaced: it is read again without a pause.
    fn retry_with_new_key(&self, failure: SearchFailure) -> Option<Duration> {
        let key = self.api_key.as_ref().filter(|_| failure == SearchFailure::Refused)?;
        key.invalidate().then_some(Duration::ZERO)
    }

    async fn attempt<R: ProviderRequest>(&self, request: &R) -> Result<PaidAnswer<R::Answer>, FailedAttempt> {
        let response = self.send(request).await?;
        if !response.status().is_success() {
            return Err(classify_status(response.status(), response.headers()));
        }
        let body = read_body(response).await?;
        let reply = request.parse_reply(&body)?;
        Ok(PaidAnswer { answer: reply.answer, credits: reply.credits.unwrap_or_else(|| request.list_price()) })
    }

    async fn send<R: ProviderRequest>(&self, request: &R) -> Result<Response, FailedAttempt> {
        let mut post = self.http.post(format!("{}{}", self.base_url, R::PATH)).json(request);
        if let Some(key) = &self.api_key {
            let key = key.get().await.map_err(|_unreadable| SearchFailure::Unavailable)?;
            post = post.bearer_auth(key.expose_secret());
        }
        post.send().await.map_err(|_unreachable| connection_failure())
    }
}

/// The failure for no reply or an incomplete one.
fn connection_failure() -> FailedAttempt {
    FailedAttempt { failure: SearchFailure::Unavailable, retry_after: Some(RETRY_PAUSE) }
}

/// Maps a status to a failed attempt. The provider documents its own codes: 432 and 433 are the limits of a plan and of
/// pay-as-you-go.
fn classify_status(status: StatusCode, headers: &HeaderMap) -> FailedAttempt {
    match status.as_u16() {
        400 | 413 | 422 => SearchFailure::Rejected.into(),
        401 | 403 => SearchFailure::Refused.into(),
        429 => FailedAttempt { failure: SearchFailure::Busy, retry_after: retry_pause(headers) },
        432 | 433 => SearchFailure::Exhausted.into(),
        500.. => connection_failure(),
        _ => SearchFailure::BadResponse.into(),
    }
}

/// Returns the pause before a second attempt; `None` if the provider requests one that is too long.
fn retry_pause(headers: &HeaderMap) -> Option<Duration> {
    let requested = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let requested = requested.and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok());
    let pause = requested.unwrap_or(RETRY_PAUSE).max(RETRY_PAUSE);
    (pause <= MAX_RETRY_PAUSE).then_some(pause)
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, FailedAttempt> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_cut| connection_failure())? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(SearchFailure::BadResponse.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause_for(retry_after: &str) -> Option<Duration> {
        retry_pause(&HeaderMap::from_iter([(RETRY_AFTER, retry_after.parse().unwrap())]))
    }

    #[test]
    fn f063_short_retry_after_is_honoured_long_one_fails() {
        assert_eq!(pause_for("2"), Some(Duration::from_secs(2)));
        assert_eq!(pause_for("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(pause_for("4"), None);
        assert_eq!(retry_pause(&HeaderMap::new()), Some(RETRY_PAUSE));
    }

    #[test]
    fn f063_invalid_retry_after_uses_the_default() {
        for odd in ["0", "-1", "NaN", "", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(pause_for(odd), Some(RETRY_PAUSE), "{odd}");
        }
        assert_eq!(pause_for("1e308"), Some(RETRY_PAUSE));
        assert_eq!(pause_for("inf"), Some(RETRY_PAUSE));
    }

    #[test]
    fn f061_f062_f064_permanent_failure_is_not_retried() {
        let cases = [
            (400, SearchFailure::Rejected),
            (401, SearchFailure::Refused),
            (403, SearchFailure::Refused),
            (432, SearchFailure::Exhausted),
            (433, SearchFailure::Exhausted),
            (302, SearchFailure::BadResponse),
        ];
        for (status, failure) in cases {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(
                classify_status(status, &HeaderMap::new()),
                FailedAttempt { failure, retry_after: None },
                "{status}"
            );
        }
    }
}
