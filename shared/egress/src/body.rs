use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use tokio::time::timeout;

use crate::{EgressError, Limits, OverCap};

/// Refuses headers that are too long, and a body that is not what it seems.
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

/// Reads a body to its end or to the cap, and tells whether it was cut.
pub(crate) async fn read(mut response: Response, limits: &Limits) -> Result<(Vec<u8>, bool), EgressError> {
    let mut body = Vec::new();
    loop {
        let chunk = timeout(limits.read, response.chunk()).await.map_err(|_| EgressError::TimedOut)?;
        let Some(chunk) = chunk.map_err(|_| EgressError::Broken)? else { return Ok((body, false)) };
        let room = limits.body - body.len();
        if chunk.len() <= room {
            body.extend_from_slice(&chunk);
        } else if limits.over == OverCap::Refuse {
            return Err(EgressError::TooLarge);
        } else {
            body.extend(chunk.into_iter().take(room));
            return Ok((body, true));
        }
    }
}
