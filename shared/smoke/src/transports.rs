use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use http::{Method, header};

/// A transport to a deployment, such as HTTP; the checks do not depend on which one it is.
pub trait Transport: Send + Sync {
    /// Sends a request; returns as soon as the head of the response has arrived.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>>;
}

/// A request to the deployment.
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query, from the deployment's root.
    pub path: String,
    /// Header names in lower case, with their values; one of them may hold a key.
    pub headers: Vec<(&'static str, String)>,
    /// The body, if any.
    pub body: Option<String>,
}

/// A response whose head has arrived.
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The `content-type` header; empty if there is none.
    pub content_type: String,
    /// The body, one chunk per read of the connection. Dropping it does not stop the deployment's work.
    pub body: BoxStream<'static, Result<Bytes, TransportError>>,
}

/// Why a response, or the rest of one, did not arrive; the text holds neither address nor key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The deployment could not be reached.
    #[error("no connection")]
    Unreachable,
    /// The deployment did not respond in time.
    #[error("no answer in time")]
    TimedOut,
    /// The connection broke.
    #[error("a broken connection")]
    Disconnected,
    /// A service in front of the deployment rejected the request or reported a failure, with this text.
    #[error("{0}")]
    Refused(String),
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        match error {
            error if error.is_connect() => Self::Unreachable,
            error if error.is_timeout() => Self::TimedOut,
            _ => Self::Disconnected,
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

/// The transport of ordinary HTTP clients.
pub(crate) struct HttpTransport {
    pub(crate) http: platform::transport::Client,
    /// Without a trailing slash.
    pub(crate) base: String,
}

impl Transport for HttpTransport {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let builder = self.http.request(request.method, format!("{}{}", self.base, request.path));
            let builder =
                request.headers.into_iter().fold(builder, |builder, (name, value)| builder.header(name, value));
            let builder = request.body.into_iter().fold(builder, reqwest::RequestBuilder::body);
            let response = builder.send().await?;
            let status = response.status().as_u16();
            let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
            let content_type = content_type.unwrap_or_default().to_owned();
            let body = response.bytes_stream().map_err(TransportError::from).boxed();
            Ok(Response { status, content_type, body })
        })
    }
}
