use std::sync::Arc;
use std::time::{Duration, SystemTime};

use platform::aws::{Call, Method, Service};
use platform::transport::Client;
use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::VectorIndexError;

/// Timeout of one attempt, with its response: a search may take 30 seconds in all.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(12);

/// The pause before the second attempt; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause that the service can demand.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The longest response that is read, in bytes: 100 results with metadata of 40 KB.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The longest error code that is reported, in characters.
const MAX_CODE_CHARS: usize = 60;

/// The header with the error code of a rejected request.
const ERROR_TYPE: &str = "x-amzn-errortype";

/// How often a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempts {
    /// Of a search, whose caller waits.
    Query = 2,
    /// Of a change, which can wait while the service limits the rate.
    Change = 6,
}

/// Signed requests to S3 Vectors.
#[derive(Clone, Debug)]
pub(super) struct VectorsClient {
    http: Client,
    service: Arc<Service>,
}

/// A failed attempt, and the pause that the service demands.
struct FailedAttempt {
    error: VectorIndexError,
    pause: Option<Duration>,
}

impl From<VectorIndexError> for FailedAttempt {
    fn from(error: VectorIndexError) -> Self {
        Self { error, pause: None }
    }
}

impl VectorsClient {
    pub(super) fn new(http: Client, service: Arc<Service>) -> Self {
        Self { http, service }
    }

    /// Calls an operation, with retries: all operations here are idempotent.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        operation: &str,
        request: &impl Serialize,
        attempts: Attempts,
    ) -> Result<T, VectorIndexError> {
        let body = serde_json::to_vec(request).map_err(|_| VectorIndexError::BadResponse)?;
        let mut made: u32 = 0;
        loop {
            let sent = timeout(ATTEMPT_TIMEOUT, self.attempt(operation, body.clone())).await;
            let failed = match sent.unwrap_or(Err(VectorIndexError::Unavailable.into())) {
                Ok(body) => return serde_json::from_slice(&body).map_err(|_| VectorIndexError::BadResponse),
                Err(failed) => failed,
            };
            made += 1;
            let pause = failed.pause.unwrap_or(FIRST_PAUSE * (1 << (made - 1).min(6)));
            if made >= attempts as u32 || !failed.error.is_temporary() || pause > MAX_PAUSE {
                return Err(failed.error);
            }
            sleep(pause).await;
        }
    }

    async fn attempt(&self, operation: &str, body: Vec<u8>) -> Result<Vec<u8>, FailedAttempt> {
        let headers = [("content-type", "application/json")];
        let call = Call { method: Method::POST, path: &format!("/{operation}"), headers: &headers, body };
        let request = self.service.signed_request(&self.http, call, SystemTime::now());
        let request = request.map_err(|_| VectorIndexError::BadResponse)?;
        let response = request.send().await.map_err(|_| VectorIndexError::Unavailable)?;
        if !response.status().is_success() {
            return Err(classify(response.status().as_u16(), response.headers()));
        }
        read_body(response).await
    }
}

fn classify(status: u16, headers: &HeaderMap) -> FailedAttempt {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let code = text(ERROR_TYPE).unwrap_or_default().chars().take_while(char::is_ascii_alphanumeric);
    let error = match status {
        401 | 403 => VectorIndexError::Denied,
        404 => VectorIndexError::Absent,
        408 | 429 | 500.. => VectorIndexError::Unavailable,
        status => VectorIndexError::Rejected(status, code.take(MAX_CODE_CHARS).collect()),
    };
    let pause = text(RETRY_AFTER.as_str()).and_then(|seconds| seconds.trim().parse().ok());
    FailedAttempt { error, pause: pause.map(Duration::from_secs) }
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, FailedAttempt> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| VectorIndexError::Unavailable)? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(VectorIndexError::BadResponse.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
