use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use http::Method;

/// One way to a deployment, such as the HTTP of any client; no check knows which one it goes.
pub trait Door: Send + Sync {
    /// Sends a request and gives the head of its answer, as soon as it is there.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, Lost>>;
}

/// What is asked.
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Path and query, from the deployment's root.
    pub path: String,
    /// Names in lower case, with their values: one of them may be a key.
    pub headers: Vec<(&'static str, String)>,
    /// Its body, if it has one.
    pub body: Option<String>,
}

/// An answer that has begun.
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The header of that name; empty when there is none.
    pub content_type: String,
    /// The body, each piece as one read of the connection brought it. Dropping it leaves the deployment alone.
    pub body: BoxStream<'static, Result<Bytes, Lost>>,
}

/// What kept an answer, or the rest of one, away; the text tells neither address nor key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Nobody was reached.
    #[error("no connection")]
    Unreachable,
    /// Who was reached said nothing for too long.
    #[error("no answer in time")]
    Late,
    /// It broke off.
    #[error("a broken connection")]
    Broken,
    /// Who stands before the deployment did not let the request through, or says that it failed: with that word.
    #[error("{0}")]
    Refused(String),
}

impl From<reqwest::Error> for Lost {
    fn from(error: reqwest::Error) -> Self {
        match error {
            error if error.is_connect() => Self::Unreachable,
            error if error.is_timeout() => Self::Late,
            _ => Self::Broken,
        }
    }
}

impl Request {
    pub(crate) fn new(method: Method, path: &str) -> Self {
        Self { method, path: path.to_owned(), headers: Vec::new(), body: None }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, body: String) -> Self {
        self.body = Some(body);
        self
    }
}
