use std::time::SystemTime;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderName, StatusCode};
use tokio::time::Instant;

use crate::body::{Body, Taking};
use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::{ModelError, Wire, retry};

/// The maximum number of bytes to read of an error body.
const ERROR_LIMIT: usize = 64 * 1024;

/// A response that may contain a reply.
pub(crate) struct Declared {
    pub(crate) body: Body,
    /// Whether the body may be one JSON document.
    pub(crate) json: bool,
}

/// Rejects responses without a reply by status and headers; an error body is read until `until` at most.
pub(crate) async fn accept(
    response: reqwest::Response,
    wire: Wire,
    until: Instant,
    taking: Taking,
) -> Result<Declared, Fault> {
    let status = response.status();
    let kind = header(&response, CONTENT_TYPE);
    // No compression was requested: a compressed body may expand to any size.
    let compressed = !matches!(&*header(&response, CONTENT_ENCODING), "" | "identity");
    let retry_after = retry::retry_after(response.headers(), SystemTime::now());
    let body = Body::new(response, retry_after, taking);
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
        return Err(Fault::passing(ModelError::BadResponse).with_status(status.as_u16()));
    }
    if !status.is_success() {
        return Err(refusal(body, until).await.with_status(status.as_u16(), retry_after));
    }
    if compressed || kind == "text/html" {
        return Err(Fault::last(ModelError::BadResponse).with_status(status.as_u16()));
    }
    // Ollama declares its lines with various types; on other wires JSON that is not declared as events is a document.
    let json = wire != Wire::Ollama && kind != "text/event-stream";
    Ok(Declared { body, json })
}

async fn refusal(mut body: Body, until: Instant) -> Refusal {
    let mut read = Vec::new();
    while read.len() < ERROR_LIMIT {
        match body.next_chunk(until).await {
            Ok(Some(bytes)) => read.extend_from_slice(&bytes[..bytes.len().min(ERROR_LIMIT - read.len())]),
            Ok(None) => break,
            Err(end) => {
                body.end(end);
                break;
            }
        }
    }
    Refusal::parse(&String::from_utf8_lossy(&read))
}

/// Returns the header's value without parameters, in lower case; empty if there is none.
fn header(response: &reqwest::Response, name: HeaderName) -> String {
    let value = response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
