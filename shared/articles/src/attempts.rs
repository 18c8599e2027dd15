//! Requests that are repeated while the service is busy.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::time::sleep;

/// How often and how slowly a request is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempts {
    /// The maximum number of requests.
    pub(crate) count: u32,
    /// The pause before the second request; each further one doubles it.
    pub(crate) first_pause: Duration,
    /// The longest pause that the service can demand.
    pub(crate) max_pause: Duration,
}

/// A failed attempt, and the pause that the service demands.
pub(crate) struct FailedAttempt<E> {
    pub(crate) error: E,
    pub(crate) pause: Option<Duration>,
}

impl<E> From<E> for FailedAttempt<E> {
    fn from(error: E) -> Self {
        Self { error, pause: None }
    }
}

impl Attempts {
    /// Runs `attempt` until it succeeds, fails with an error that is not temporary, or has run often enough.
    pub(crate) async fn run<T, E, F>(self, attempt: impl Fn() -> F, is_temporary: impl Fn(&E) -> bool) -> Result<T, E>
    where
        F: Future<Output = Result<T, FailedAttempt<E>>>,
    {
        let (mut made, mut pause) = (1, self.first_pause);
        loop {
            let FailedAttempt { error, pause: demanded } = match attempt().await {
                Ok(value) => return Ok(value),
                Err(failed) => failed,
            };
            let next = demanded.unwrap_or(pause);
            if made >= self.count || next > self.max_pause || !is_temporary(&error) {
                return Err(error);
            }
            sleep(next).await;
            (made, pause) = (made + 1, pause * 2);
        }
    }
}

/// The pause that the headers of a response demand.
pub(crate) fn demanded_pause(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Reads a body: fails with `cut` if the connection breaks, and with `too_long` beyond `max_bytes`.
pub(crate) async fn read_body<E>(mut response: Response, max_bytes: usize, cut: E, too_long: E) -> Result<Vec<u8>, E> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Err(_) => return Err(cut),
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if body.len() + chunk.len() > max_bytes => return Err(too_long),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
        }
    }
}
