//! Requests that are repeated while the service is busy.

use std::time::Duration;

use platform::transport::{BodyError, read_body};
use reqwest::RequestBuilder;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::time::{sleep, timeout};

/// The longest response that is read, in bytes: ten embeddings of 4,096 components with all their digits, or 100 results of
/// a vector index with metadata of 40 KB.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// How a request is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempts {
    /// The maximum number of requests.
    pub(crate) count: u32,
    pub(crate) timeout: Duration,
    /// The pause before the second attempt; each further one doubles it.
    pub(crate) first_pause: Duration,
    /// The longest pause that the service can demand.
    pub(crate) max_pause: Duration,
}

pub(crate) trait ServiceError: Sized {
    /// No response, or a part of one.
    const UNAVAILABLE: Self;
    /// A response that is too long.
    const BAD_RESPONSE: Self;

    /// The error of a response without success.
    fn of_response(status: u16, headers: &HeaderMap) -> Self;
}

impl Attempts {
    /// Sends a request until it has a response with success, an error that is not temporary, or was sent often enough; returns
    /// the body.
    pub(crate) async fn send<E, F>(
        self,
        request: impl Fn() -> F,
        is_temporary: impl Fn(&E) -> bool,
    ) -> Result<Vec<u8>, E>
    where
        E: ServiceError,
        F: Future<Output = Result<RequestBuilder, E>>,
    {
        let (mut made, mut pause) = (1, self.first_pause);
        loop {
            let sent = timeout(self.timeout, async { attempt(request().await).await }).await;
            let (error, demanded) = match sent.unwrap_or(Err((E::UNAVAILABLE, None))) {
                Ok(body) => return Ok(body),
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

/// Sends a request once; an error has the pause that the service demands.
async fn attempt<E: ServiceError>(request: Result<RequestBuilder, E>) -> Result<Vec<u8>, (E, Option<Duration>)> {
    let request = request.map_err(|error| (error, None))?;
    let response = request.send().await.map_err(|_| (E::UNAVAILABLE, None))?;
    if !response.status().is_success() {
        let headers = response.headers();
        let pause = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        return Err((E::of_response(response.status().as_u16(), headers), pause.map(Duration::from_secs)));
    }
    read_body(response, MAX_BODY_BYTES).await.map_err(|error| match error {
        BodyError::Disconnected => (E::UNAVAILABLE, None),
        BodyError::TooLong => (E::BAD_RESPONSE, None),
    })
}
