use std::fmt;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use secrecy::SecretString;

use crate::{HeaderRefusal, headers};

/// The most redirects that a request can ask for.
const MOST_REDIRECTS: u8 = 3;

/// What an answer may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest time from the question to the last byte.
    pub total: Duration,
    /// The longest silence within the body.
    pub read: Duration,
    /// The longest body that is read, in bytes.
    pub body: usize,
    /// What becomes of a longer one.
    pub over: OverCap,
    /// The longest headers, in bytes of names and values.
    pub headers: usize,
}

/// What becomes of an answer that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverCap {
    /// Its beginning is taken, and marked as such.
    Truncate,
    /// It is an error.
    Refuse,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(10),
            read: Duration::from_secs(5),
            body: 256 * 1024,
            over: OverCap::Refuse,
            headers: 32 * 1024,
        }
    }
}

/// A request to a host that is named by data.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// Sent to the first host only.
    pub(crate) secrets: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) redirects: u8,
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
            redirects: 0,
            limits: Limits::default(),
        }
    }

    /// Sets a header; what says who asks or where the message ends cannot be set.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, HeaderRefusal> {
        let (name, value) = headers::free(name, value)?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sets a header that no other host than the URL's may see, `Authorization` for one.
    pub fn secret(mut self, name: &str, value: &SecretString) -> Result<Self, HeaderRefusal> {
        let (name, value) = headers::secret(name, value)?;
        self.headers.remove(&name);
        self.secrets.insert(name, value);
        Ok(self)
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Where it goes.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Its headers without those that hold a secret.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// What it carries.
    pub fn payload(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// Sets the body.
    #[must_use]
    pub fn body(self, body: Vec<u8>) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Follows up to so many redirects of a `GET` or `HEAD`, three at most; other methods follow none.
    #[must_use]
    pub fn redirects(self, most: u8) -> Self {
        Self { redirects: most.min(MOST_REDIRECTS), ..self }
    }

    /// Sets what the answer may cost.
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
