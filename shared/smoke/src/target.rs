use std::error::Error;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use http::{Method, header};
use platform::secrets::Secret;
use platform::transport::is_loopback;
use secrecy::ExposeSecret;
use url::Url;

use crate::CheckFailure;

/// The user name without authentication, so that the check's conversations are separate from others.
const USER: &str = "smoke";

/// A deployment and the key of the caller who checks it.
pub struct Target {
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) key: Option<Secret>,
    /// Whether the deployment runs on this machine.
    pub(crate) is_local: bool,
}

/// Why no request can be made; each is a usage error.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The address is not that of a deployment.
    #[error("the address must be https://HOST or http://HOST, with a path at most")]
    InvalidAddress,
    /// The key would be sent unencrypted.
    #[error("a key is only sent over https:// or to this machine")]
    PlaintextKey,
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Transport(#[from] platform::transport::TransportError),
}

impl Target {
    /// A deployment at this address, which may include the path of a stage.
    ///
    /// # Errors
    /// An address that is invalid, or over which a key would be sent unencrypted.
    pub fn new(address: &str, key: Option<Secret>) -> Result<Self, TargetError> {
        let base = Url::parse(address).map_err(|_| TargetError::InvalidAddress)?;
        let has_no_user = base.username().is_empty() && base.password().is_none();
        let has_no_query = base.query().is_none() && base.fragment().is_none();
        if !matches!(base.scheme(), "http" | "https") || !has_no_user || !has_no_query {
            return Err(TargetError::InvalidAddress);
        }
        let is_local = is_loopback(&base);
        if key.is_some() && base.scheme() == "http" && !is_local {
            return Err(TargetError::PlaintextKey);
        }
        let base = base.as_str().trim_end_matches('/').to_owned();
        let transport = HttpTransport { http: platform::transport::build_client()?, base };
        Ok(Self { transport: Box::new(transport), key, is_local })
    }

    /// A deployment that is reached by another transport, with this key.
    pub fn with_transport(transport: impl Transport + 'static, key: Secret) -> Self {
        Self { transport: Box::new(transport), key: Some(key), is_local: false }
    }

    pub(crate) async fn caller_request(&self, method: Method, path: &str) -> Result<Request, CheckFailure> {
        let request = Request::new(method, path).header("x-user-id", USER);
        let Some(key) = &self.key else { return Ok(request) };
        let key = key.get().await.map_err(|error| CheckFailure::new("a key", error.to_string()))?;
        Ok(request.header("x-api-key", key.expose_secret()))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("key", &self.key).field("here", &self.is_local).finish_non_exhaustive()
    }
}

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

/// Why a response, or the rest of one, did not arrive; the text never holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The deployment could not be reached, for this reason.
    #[error("no connection ({0})")]
    Unreachable(String),
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
            error if error.is_connect() => Self::Unreachable(connection_fault(&error)),
            error if error.is_timeout() => Self::TimedOut,
            _ => Self::Disconnected,
        }
    }
}

/// The causes of a failed connection: that of name resolution (`dns error`), of TCP, or of TLS.
fn connection_fault(error: &reqwest::Error) -> String {
    // The first cause only states that connecting failed.
    let causes = std::iter::successors(error.source(), |&cause| cause.source()).skip(1);
    let causes = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let is_named = ["dns ", "tcp ", "operation timed out"].iter().any(|start| causes.starts_with(start));
    if is_named { causes } else { format!("TLS: {causes}") }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn new_target(address: &str, key: bool) -> Result<Target, TargetError> {
        Target::new(address, key.then(|| Secret::by_value("canary")))
    }

    #[test]
    fn target_address_is_validated() {
        for good in
            ["https://chat.example", "https://chat.example/prod/", "http://127.0.0.1:3000", "http://chat.example"]
        {
            assert!(new_target(good, false).is_ok(), "{good}");
        }
        for bad in ["chat.example", "ftp://a", "https://a?b", "https://a#b", "https://u:p@a", ""] {
            assert!(matches!(new_target(bad, false), Err(TargetError::InvalidAddress)), "{bad}");
        }
    }

    #[test]
    fn key_is_never_sent_unencrypted() {
        for good in ["https://chat.example", "http://localhost:3000", "http://[::1]:3000", "http://127.0.0.2"] {
            assert!(new_target(good, true).is_ok(), "{good}");
        }
        assert!(matches!(new_target("http://chat.example", true), Err(TargetError::PlaintextKey)));
        assert!(!format!("{:?}", new_target("https://chat.example", true)).contains("canary"));
    }
}
