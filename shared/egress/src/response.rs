use std::borrow::Cow;
use std::fmt;

use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};

/// An answer of any status, read to its end or to the cap.
#[derive(Clone)]
pub struct Response {
    /// The status; 3xx if a redirect was not to be followed.
    pub status: StatusCode,
    /// Where it came from, after redirects.
    pub url: Url,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, or the beginning of it.
    pub body: Vec<u8>,
    /// Whether the body was longer.
    pub truncated: bool,
}

impl Response {
    /// The body as text; what is no UTF-8 becomes replacement characters, a character that was cut goes.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.whole_characters())
    }

    fn whole_characters(&self) -> &[u8] {
        let last = self.body.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        let (whole, rest) = self.body.split_at(self.body.len() - last);
        // A character begins with such a byte; what begins with another one was never a character.
        let cut = self.truncated && rest.first().is_some_and(|byte| *byte >= 0xc2);
        if cut { whole } else { &self.body }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Response({}, {} bytes)", self.status, self.body.len())
    }
}
