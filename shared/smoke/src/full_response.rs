use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::timeout;

use crate::CheckFailure;
use crate::target::{Request, Response, Target};

const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

pub(crate) struct FullResponse {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

impl Target {
    pub(crate) async fn send(&self, request: Request, limit: Duration) -> Result<Response, CheckFailure> {
        match timeout(limit, self.transport.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(CheckFailure::new("an answer", error.to_string())),
            Err(_) => Err(CheckFailure::new("an answer", format!("none within {} ms", limit.as_millis()))),
        }
    }

    pub(crate) async fn fetch(&self, request: Request, limit: Duration) -> Result<FullResponse, CheckFailure> {
        let reading = async {
            let response = self.send(request, limit).await?;
            read_body(response).await
        };
        let timed_out = || CheckFailure::new("a whole answer", format!("none within {} ms", limit.as_millis()));
        timeout(limit, reading).await.unwrap_or_else(|_| Err(timed_out()))
    }
}

async fn read_body(mut response: Response) -> Result<FullResponse, CheckFailure> {
    let mut body = Vec::new();
    while let Some(bytes) = response.body.next().await {
        body.extend_from_slice(&bytes.map_err(|error| CheckFailure::new("a whole answer", error.to_string()))?);
        CheckFailure::ensure(body.len() <= MAX_BODY_BYTES, "an answer of 4 MiB at most", || "a longer one".to_owned())?;
    }
    Ok(FullResponse { status: response.status, content_type: response.content_type, body })
}

/// Describes an error response of a stream's route by its status and code.
pub(crate) async fn describe_failure(response: Response, limit: Duration) -> String {
    match timeout(limit, read_body(response)).await {
        Ok(Ok(response)) => response.status_and_code(),
        Ok(Err(failure)) => failure.to_string(),
        Err(_) => "an answer without an end".to_owned(),
    }
}

impl FullResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Status and code, such as `401 unauthorized`.
    pub(crate) fn status_and_code(&self) -> String {
        let body = self.json();
        let code = body.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
        format!("{} {code}", self.status).trim_end().to_owned()
    }

    pub(crate) fn expect_status(&self, status: u16) -> Result<(), CheckFailure> {
        CheckFailure::ensure(self.status == status, &format!("status {status}"), || self.status_and_code())
    }
}
