use std::fmt;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use secrecy::SecretString;

use crate::{HeaderError, headers};

const MAX_REDIRECTS: u8 = 3;

/// Time and size limits of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Timeout from the start of the request to the last byte.
    pub total_timeout: Duration,
    /// Timeout for each read of the body.
    pub read_timeout: Duration,
    /// Maximum length of the body, in bytes.
    pub max_body_bytes: usize,
    /// What happens to a longer body.
    pub on_oversize: OnOversize,
    /// Maximum length of the headers, in bytes of names and values.
    pub max_header_bytes: usize,
}

/// What happens to a body over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOversize {
    /// The body is truncated and marked as such.
    Truncate,
    /// The request fails.
    Refuse,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(5),
            max_body_bytes: 256 * 1024,
            on_oversize: OnOversize::Refuse,
            max_header_bytes: 32 * 1024,
        }
    }
}

/// A request to a host named by data.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The URL; it is checked when the request is sent.
    pub url: Url,
    pub(crate) headers: HeaderMap,
    /// Sent to the first host only.
    pub(crate) secrets: HeaderMap,
    /// The body.
    pub body: Option<Vec<u8>>,
    pub(crate) redirects_left: u8,
    pub(crate) limits: Limits,
}

impl Request {
    /// A request without headers, body and redirects.
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            secrets: HeaderMap::new(),
            body: None,
            redirects_left: 0,
            limits: Limits::default(),
        }
    }

    /// Sets a header; those for authentication or message framing cannot be set.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, HeaderError> {
        let (name, value) = headers::parse_header(name, value)?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sets a header that is sent to no other host than the URL's, for example `Authorization`.
    pub fn secret(mut self, name: &str, value: &SecretString) -> Result<Self, HeaderError> {
        let (name, value) = headers::parse_secret_header(name, value)?;
        self.headers.remove(&name);
        self.secrets.insert(name, value);
        Ok(self)
    }

    /// The headers without secret ones.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Sets the body.
    #[must_use]
    pub fn body(self, body: Vec<u8>) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Follows at most `max` redirects of a `GET` or `HEAD`, three at most; other methods follow none.
    #[must_use]
    pub fn redirects(self, max: u8) -> Self {
        Self { redirects_left: max.min(MAX_REDIRECTS), ..self }
    }

    /// Sets the limits of the response.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({})", self.method)
    }
}
