use std::ops::ControlFlow;

use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use reqwest::{Response, StatusCode};
use tokio::time::timeout;

use crate::{EgressError, Limits, OverCap};

/// A chunk of a response body as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The response's status.
    pub status: StatusCode,
    /// The response's headers.
    pub headers: &'a HeaderMap,
    /// The new bytes, within the size limit.
    pub bytes: &'a [u8],
}

/// Called for each chunk of a body. A break ends the body there, as if it were complete.
pub(crate) type Watch<'a> = dyn FnMut(Part<'_>) -> ControlFlow<()> + Send + 'a;

/// Rejects headers that are too long, and encoded bodies.
pub(crate) fn check_headers(headers: &HeaderMap, limits: &Limits) -> Result<(), EgressError> {
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > limits.headers {
        return Err(EgressError::TooLarge);
    }
    let plain = |value: &[u8]| value.is_empty() || value.eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).iter().all(|value| plain(value.as_bytes())) {
        Ok(())
    } else {
        Err(EgressError::Compressed)
    }
}

/// Reads a body to its end, to where `on_chunk` ends it, or to the size limit. Returns the body and whether it was
/// truncated.
pub(crate) async fn read(
    mut response: Response,
    limits: &Limits,
    watch: &mut Watch<'_>,
) -> Result<(Vec<u8>, bool), EgressError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    loop {
        let chunk = timeout(limits.read, response.chunk()).await.map_err(|_| EgressError::TimedOut)?;
        let Some(chunk) = chunk.map_err(|_| EgressError::Broken)? else { return Ok((body, false)) };
        let room = limits.body - body.len();
        if chunk.len() > room && limits.over == OverCap::Refuse {
            return Err(EgressError::TooLarge);
        }
        let bytes = chunk.get(..room).unwrap_or(&chunk);
        body.extend_from_slice(bytes);
        let ended = watch(Part { status, headers: &headers, bytes }).is_break();
        if ended || chunk.len() > room {
            return Ok((body, !ended));
        }
    }
}
