//! Client for Tavily and compatible services.

mod pause;
pub(crate) mod wire;

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret;
use secrets::Secret;
use tokio::time::{sleep, timeout_at};

use self::pause::Pause;
use crate::search::{Clock, Question, SearchFailure};

/// Longest reply that is read, in bytes.
const MAX_BODY: usize = 2 * 1024 * 1024;

/// Pause before a second attempt if the provider states none.
const RETRY_PAUSE: Duration = Duration::from_millis(300);

/// Longest pause before a second attempt that is accepted from the provider.
const LONGEST_RETRY_PAUSE: Duration = Duration::from_secs(3);

/// A client for one endpoint.
pub(crate) struct Tavily {
    http: transport::Client,
    base_url: String,
    api_key: Option<Secret>,
    pause: Pause,
}

/// An answer and its cost.
#[derive(Debug, PartialEq)]
pub(crate) struct Fetched<A> {
    pub(crate) answer: A,
    pub(crate) credits: u64,
}

/// A failed attempt; `retry_after` is set if a second one may help.
#[derive(Debug, PartialEq)]
struct Missed {
    failure: SearchFailure,
    again_after: Option<Duration>,
}

impl From<SearchFailure> for Missed {
    fn from(failure: SearchFailure) -> Self {
        Self { failure, again_after: None }
    }
}

impl Tavily {
    pub(crate) fn new(http: transport::Client, base_url: String, api_key: Option<Secret>) -> Self {
        Self { http, base_url, api_key, pause: Pause::default() }
    }

    /// Sends a request, with one second attempt where it may help, and ends at the clock's deadline.
    ///
    /// A rejected key and an exhausted plan pause further requests.
    pub(crate) async fn ask<Q: Question>(
        &self,
        question: &Q,
        clock: &Clock,
    ) -> Result<Fetched<Q::Answer>, SearchFailure> {
        self.pause.check(clock.now())?;
        let outcome = timeout_at(clock.end(), self.attempts(question)).await.unwrap_or(Err(SearchFailure::Timeout));
        if let Err(failure) = outcome {
            self.pause.note(failure, clock.now());
        }
        outcome
    }

    async fn attempts<Q: Question>(&self, question: &Q) -> Result<Fetched<Q::Answer>, SearchFailure> {
        let missed = match self.attempt(question).await {
            Ok(fetched) => return Ok(fetched),
            Err(missed) => missed,
        };
        let Some(pause) = missed.again_after.or_else(|| self.after_new_key(missed.failure)) else {
            return Err(missed.failure);
        };
        sleep(pause).await;
        self.attempt(question).await.map_err(|missed| missed.failure)
    }

    /// A rejected key from a secret store may have been replaced: it is read again without a pause.
    fn after_new_key(&self, failure: SearchFailure) -> Option<Duration> {
        let key = self.api_key.as_ref().filter(|_| failure == SearchFailure::Refused)?;
        key.refused().then_some(Duration::ZERO)
    }

    async fn attempt<Q: Question>(&self, question: &Q) -> Result<Fetched<Q::Answer>, Missed> {
        let response = self.send(question).await?;
        if !response.status().is_success() {
            return Err(missed(response.status(), response.headers()));
        }
        let body = body(response).await?;
        let reply = question.read(&body)?;
        Ok(Fetched { answer: reply.answer, credits: reply.credits.unwrap_or_else(|| question.list_price()) })
    }

    async fn send<Q: Question>(&self, question: &Q) -> Result<Response, Missed> {
        let mut post = self.http.post(format!("{}{}", self.base_url, Q::PATH)).json(question);
        if let Some(key) = &self.api_key {
            let key = key.reveal().await.map_err(|_unreadable| SearchFailure::Unavailable)?;
            post = post.bearer_auth(key.expose_secret());
        }
        post.send().await.map_err(|_unreachable| broken())
    }
}

/// The failure for no reply or an incomplete one.
fn broken() -> Missed {
    Missed { failure: SearchFailure::Unavailable, again_after: Some(RETRY_PAUSE) }
}

/// Maps a status to a failed attempt. The provider documents its own codes: 432 and 433 are the limits of a plan and of
/// pay-as-you-go.
fn missed(status: StatusCode, headers: &HeaderMap) -> Missed {
    match status.as_u16() {
        400 | 413 | 422 => SearchFailure::Rejected.into(),
        401 | 403 => SearchFailure::Refused.into(),
        429 => Missed { failure: SearchFailure::Busy, again_after: retry_pause(headers) },
        432 | 433 => SearchFailure::Exhausted.into(),
        500.. => broken(),
        _ => SearchFailure::BadResponse.into(),
    }
}

/// Returns the pause before a second attempt; `None` if the provider requests one that is too long.
fn retry_pause(headers: &HeaderMap) -> Option<Duration> {
    let asked = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let asked = asked.and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok());
    let pause = asked.unwrap_or(RETRY_PAUSE).max(RETRY_PAUSE);
    (pause <= LONGEST_RETRY_PAUSE).then_some(pause)
}

async fn body(mut response: Response) -> Result<Vec<u8>, Missed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_cut| broken())? {
        if body.len() + chunk.len() > MAX_BODY {
            return Err(SearchFailure::BadResponse.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(retry_after: &str) -> Option<Duration> {
        retry_pause(&HeaderMap::from_iter([(RETRY_AFTER, retry_after.parse().unwrap())]))
    }

    #[test]
    fn f063_short_retry_after_is_honoured_long_one_fails() {
        assert_eq!(asked("2"), Some(Duration::from_secs(2)));
        assert_eq!(asked("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(asked("4"), None);
        assert_eq!(retry_pause(&HeaderMap::new()), Some(RETRY_PAUSE));
    }

    #[test]
    fn f063_invalid_retry_after_uses_the_default() {
        for odd in ["0", "-1", "NaN", "", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(asked(odd), Some(RETRY_PAUSE), "{odd}");
        }
        assert_eq!(asked("1e308"), Some(RETRY_PAUSE));
        assert_eq!(asked("inf"), Some(RETRY_PAUSE));
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
            assert_eq!(missed(status, &HeaderMap::new()), Missed { failure, again_after: None }, "{status}");
        }
    }
}
