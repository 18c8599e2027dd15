use std::borrow::Cow;
use std::fmt;

use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};

/// A response of any status, read to its end or to the size limit.
#[derive(Clone)]
pub struct Response {
    /// The status; 3xx for a redirect that was not followed.
    pub status: StatusCode,
    /// The final URL, after redirects.
    pub url: Url,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, or its beginning.
    pub body: Vec<u8>,
    /// Whether the body was truncated.
    pub truncated: bool,
}

impl Response {
    /// The body as text. Invalid UTF-8 becomes replacement characters; a character cut by truncation is dropped.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.whole_characters())
    }

    fn whole_characters(&self) -> &[u8] {
        let last = self.body.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        let (whole, rest) = self.body.split_at(self.body.len() - last);
        // Only these bytes begin a multi-byte character; other bytes were invalid from the start.
        let cut = self.truncated && rest.first().is_some_and(|byte| *byte >= 0xc2);
        if cut { whole } else { &self.body }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Response({}, {} bytes)", self.status, self.body.len())
    }
}
