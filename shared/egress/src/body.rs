use std::ops::ControlFlow;

use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use tokio::time::timeout;

use crate::{EgressError, Limits, OnOversize, Request, Response};

/// A chunk of a response body as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct BodyChunk<'a> {
    /// The response's status.
    pub status: StatusCode,
    /// The response's headers.
    pub headers: &'a HeaderMap,
    /// The new bytes, within the size limit.
    pub bytes: &'a [u8],
}

/// Called for each chunk of a body. A break ends the body there, as if it were complete.
pub(crate) type OnChunk<'a> = dyn FnMut(BodyChunk<'_>) -> ControlFlow<()> + Send + 'a;

/// Rejects headers that are too long, and encoded bodies.
pub(crate) fn check_headers(headers: &HeaderMap, limits: &Limits) -> Result<(), EgressError> {
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > limits.max_header_bytes {
        return Err(EgressError::TooLarge);
    }
    let plain = |value: &[u8]| value.is_empty() || value.eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).iter().all(|value| plain(value.as_bytes())) {
        Ok(())
    } else {
        Err(EgressError::Compressed)
    }
}

/// Reads a response to its end, to where `on_chunk` ends it, or to the size limit.
pub(crate) async fn read_response(
    mut response: reqwest::Response,
    request: &Request,
    on_chunk: &mut OnChunk<'_>,
) -> Result<Response, EgressError> {
    let (limits, url) = (&request.limits, request.url.clone());
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    loop {
        let chunk = timeout(limits.read_timeout, response.chunk()).await.map_err(|_| EgressError::TimedOut)?;
        let Some(chunk) = chunk.map_err(|_| EgressError::Disconnected)? else {
            return Ok(Response { status, url, headers, body, truncated: false });
        };
        let remaining = limits.max_body_bytes - body.len();
        if chunk.len() > remaining && limits.on_oversize == OnOversize::Refuse {
            return Err(EgressError::TooLarge);
        }
        let bytes = chunk.get(..remaining).unwrap_or(&chunk);
        body.extend_from_slice(bytes);
        let ended = on_chunk(BodyChunk { status, headers: &headers, bytes }).is_break();
        if ended || chunk.len() > remaining {
            return Ok(Response { status, url, headers, body, truncated: !ended });
        }
    }
}
