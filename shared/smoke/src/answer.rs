use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::timeout;

use crate::Fault;
use crate::door::{Request, Response};
use crate::target::Target;

/// Maximum length of a document, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A complete response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

impl Target {
    /// Sends a request and returns the head of the response.
    pub(crate) async fn sent(&self, request: Request, limit: Duration) -> Result<Response, Fault> {
        match timeout(limit, self.door().send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(lost)) => Err(Fault::new("an answer", lost.to_string())),
            Err(_) => Err(Fault::new("an answer", format!("none within {} ms", limit.as_millis()))),
        }
    }

    /// Sends a request and returns the complete response.
    pub(crate) async fn answered(&self, request: Request, limit: Duration) -> Result<Answer, Fault> {
        let reading = async {
            let response = self.sent(request, limit).await?;
            read(response).await
        };
        let late = || Fault::new("a whole answer", format!("none within {} ms", limit.as_millis()));
        timeout(limit, reading).await.unwrap_or_else(|_| Err(late()))
    }
}

async fn read(mut response: Response) -> Result<Answer, Fault> {
    let mut body = Vec::new();
    while let Some(bytes) = response.body.next().await {
        body.extend_from_slice(&bytes.map_err(|lost| Fault::new("a whole answer", lost.to_string()))?);
        Fault::unless(body.len() <= MAX_BYTES, "an answer of 4 MiB at most", || "a longer one".to_owned())?;
    }
    Ok(Answer { status: response.status, content_type: response.content_type, body })
}

/// Describes an error response of a stream's route by its status and code.
pub(crate) async fn refused(response: Response, limit: Duration) -> String {
    match timeout(limit, read(response)).await {
        Ok(Ok(answer)) => answer.said(),
        Ok(Err(fault)) => fault.to_string(),
        Err(_) => "an answer without an end".to_owned(),
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Status and code, such as `401 unauthorized`.
    pub(crate) fn said(&self) -> String {
        let body = self.json();
        let code = body.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
        format!("{} {code}", self.status).trim_end().to_owned()
    }

    pub(crate) fn must_be(&self, status: u16) -> Result<(), Fault> {
        Fault::unless(self.status == status, &format!("status {status}"), || self.said())
    }
}
