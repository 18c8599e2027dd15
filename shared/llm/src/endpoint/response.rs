use std::time::SystemTime;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderName, StatusCode};
use tokio::time::Instant;

use crate::endpoint::body::{Body, RecorderGuard};
use crate::endpoint::retry_policy;
use crate::errors::{AttemptError, EndpointError};
use crate::{ModelError, Wire};

/// The maximum number of bytes to read of an error body.
const MAX_ERROR_BYTES: usize = 64 * 1024;

// Recorded answer in crmne/ruby_llm, 2026-11-26.
const AWS_ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// Returns the body of a response that may contain a reply, and whether it may be one JSON document.
///
/// Rejects responses without a reply by status and headers; an error body is read until `until` at most.
pub(crate) async fn accept(
    response: reqwest::Response,
    wire: Wire,
    until: Instant,
    recorder: RecorderGuard,
) -> Result<(Body, bool), AttemptError> {
    let status = response.status();
    let content_type = header(&response, CONTENT_TYPE);
    // No compression was requested: a compressed body may expand to any size.
    let compressed = !matches!(&*header(&response, CONTENT_ENCODING), "" | "identity");
    let retry_after = retry_policy::parse_retry_after(response.headers(), SystemTime::now());
    let aws_type = text(&response, AWS_ERROR_TYPE).to_owned();
    let body = Body::new(response, retry_after, recorder);
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
        return Err(AttemptError::transient(ModelError::BadResponse).with_status(status.as_u16()));
    }
    if !status.is_success() {
        return Err(read_error(body, &aws_type, until).await.to_attempt_error(status.as_u16(), retry_after));
    }
    if compressed || content_type == "text/html" {
        return Err(AttemptError::fatal(ModelError::BadResponse).with_status(status.as_u16()));
    }
    // Ollama declares its lines with various types; on other wires JSON that is not declared as events is a document.
    let json = wire != Wire::Ollama && content_type != "text/event-stream";
    Ok((body, json))
}

async fn read_error(mut body: Body, aws_type: &str, until: Instant) -> EndpointError {
    let mut buffer = Vec::new();
    while buffer.len() < MAX_ERROR_BYTES {
        match body.next_chunk(until).await {
            Ok(Some(bytes)) => buffer.extend_from_slice(&bytes[..bytes.len().min(MAX_ERROR_BYTES - buffer.len())]),
            Ok(None) => break,
            Err(end) => {
                body.end(end);
                break;
            }
        }
    }
    EndpointError::parse_aws(aws_type, &String::from_utf8_lossy(&buffer))
}

fn text(response: &reqwest::Response, name: HeaderName) -> &str {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the header's value without parameters, in lower case; empty if there is none.
fn header(response: &reqwest::Response, name: HeaderName) -> String {
    text(response, name).split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
