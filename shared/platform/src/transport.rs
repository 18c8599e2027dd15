//! The HTTP client for the hosts that the operator configured.
//!
//! One TLS provider (`ring`) with embedded roots, so that a cold start parses no certificate store. No redirects, so
//! that a key never follows one; no proxies and no decompression.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use reqwest::{IntoUrl, Method, Request, RequestBuilder, Response, Url};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::time::timeout;

/// Timeout for making a connection, including name resolution and TLS.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an idle connection is kept.
pub const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum length of a document that is fetched, in bytes; a stored secret has at most 64 KiB.
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// Why a client cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The TLS configuration is refused by the provider.
    #[error("TLS cannot be configured: {0}")]
    Tls(#[from] rustls::Error),
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built: {0}")]
    Client(#[from] reqwest::Error),
}

/// The HTTP client shared by models, search and all other code; it pools connections per host.
///
/// Lambda freezes an instance between invocations. Its connections die meanwhile, but the monotonic clock of their idle
/// timeouts does not advance. So the client checks the wall clock at every use and replaces the pool after a long
/// pause.
#[derive(Clone)]
pub struct Client(Arc<ClientState>);

struct ClientState {
    new_pool: Box<dyn Fn() -> Result<reqwest::Client, TransportError> + Send + Sync>,
    pool: Mutex<Pool>,
}

struct Pool {
    client: reqwest::Client,
    last_used: SystemTime,
}

impl Client {
    /// Creates a client whose pools `new_pool` builds.
    ///
    /// # Errors
    /// The first pool cannot be built.
    pub fn with_pool_factory(
        new_pool: impl Fn() -> Result<reqwest::Client, TransportError> + Send + Sync + 'static,
    ) -> Result<Self, TransportError> {
        let pool = Mutex::new(Pool { client: new_pool()?, last_used: SystemTime::now() });
        Ok(Self(Arc::new(ClientState { new_pool: Box::new(new_pool), pool })))
    }

    /// Creates a `GET` request.
    pub fn get(&self, url: impl IntoUrl) -> RequestBuilder {
        self.request(Method::GET, url)
    }

    /// Creates a `POST` request.
    pub fn post(&self, url: impl IntoUrl) -> RequestBuilder {
        self.request(Method::POST, url)
    }

    /// Creates a request of any method.
    pub fn request(&self, method: Method, url: impl IntoUrl) -> RequestBuilder {
        self.current_pool(SystemTime::now()).request(method, url)
    }

    /// Sends a request that was already built.
    ///
    /// # Errors
    /// The request failed before the response head arrived.
    pub async fn execute(&self, request: Request) -> Result<Response, reqwest::Error> {
        self.current_pool(SystemTime::now()).execute(request).await
    }

    fn current_pool(&self, now: SystemTime) -> reqwest::Client {
        // A panic while the lock is held leaves a usable pool.
        let mut pool = self.0.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let is_stale = now.duration_since(pool.last_used).is_ok_and(|pause| pause > POOL_IDLE_TIMEOUT);
        if is_stale && let Ok(client) = (self.0.new_pool)() {
            pool.client = client;
        }
        pool.last_used = now;
        pool.client.clone()
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

/// Builds the shared client.
pub fn build_client() -> Result<Client, TransportError> {
    build_client_with(CONNECT_TIMEOUT)
}

/// Builds a client with another timeout for making a connection.
#[expect(clippy::disallowed_methods, reason = "one of the two users of the common configuration")]
pub fn build_client_with(connect_timeout: Duration) -> Result<Client, TransportError> {
    Client::with_pool_factory(move || {
        Ok(builder()?.connect_timeout(connect_timeout).pool_idle_timeout(POOL_IDLE_TIMEOUT).build()?)
    })
}

/// Why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The connection broke.
    #[error("the answer broke off")]
    Disconnected,
    /// It is longer than the limit.
    #[error("the answer is too long")]
    TooLong,
}

/// Why a short document could not be fetched: the reason, without any data, and whether a later attempt may succeed.
pub struct FetchError {
    /// The status and the code of an error response, or why there was none.
    pub reason: String,
    /// Whether a later attempt may succeed.
    pub is_transient: bool,
}

/// Sends a request and reads a successful answer of at most 256 KiB, within `limit`.
///
/// The future is boxed, because a turn awaits it below all of its other futures: the compiler limits their depth.
///
/// # Errors
/// Of a rejection the status and the code in `code_field`, without the message, which may quote data.
pub fn fetch(
    request: RequestBuilder,
    limit: Duration,
    code_field: &'static str,
) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, FetchError>> + Send>> {
    let read = async {
        let response = request.send().await.map_err(|_| "the endpoint cannot be reached".to_owned())?;
        let status = response.status().as_u16();
        Ok((status, read_body(response, MAX_DOCUMENT_BYTES).await.map_err(|error| error.to_string())?))
    };
    Box::pin(async move {
        let read = timeout(limit, read).await.unwrap_or_else(|_| Err("no answer in time".to_owned()));
        let (status, body) = read.map_err(|reason| FetchError { reason, is_transient: true })?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let reason = describe_rejection(status, &body, code_field);
        Err(FetchError { reason, is_transient: matches!(status, 408 | 429 | 500..) })
    })
}

/// Reads the body of a response to its end, if that has at most `max_bytes`.
///
/// # Errors
/// Why there is no whole body.
pub async fn read_body(mut response: Response, max_bytes: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| BodyError::Disconnected)? {
        if body.len() + chunk.len() > max_bytes {
            return Err(BodyError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The status and the code of an error; AWS writes a name space before its codes.
fn describe_rejection(status: u16, body: &[u8], code_field: &str) -> String {
    let error: Value = serde_json::from_slice(body).unwrap_or_default();
    let code = error.get(code_field).and_then(|code| code.as_str()?.rsplit('#').next()).unwrap_or_default();
    let is_code =
        (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_code { format!("status {status}, {code}") } else { format!("status {status}") }
}

/// Whether credentials may be sent to an address: over TLS, or to this machine.
pub fn is_protected(url: &str) -> bool {
    let is_protected = |url: Url| url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url);
    Url::parse(url).is_ok_and(is_protected)
}

/// Whether a URL is one of this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The client configuration as a base for the egress crate, which sends guarded requests to hosts named by data.
///
/// # Errors
/// The TLS configuration is refused by the provider.
#[expect(clippy::disallowed_methods, reason = "the one place in which the configuration of a client begins")]
pub fn builder() -> Result<reqwest::ClientBuilder, TransportError> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls_config()?)
        .user_agent(concat!("lambda-chat/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true);
    Ok(builder)
}

fn tls_config() -> Result<ClientConfig, rustls::Error> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

/// Whether a `Host`, with or without a port, names this machine: `localhost`, `127.0.0.0/8` or `[::1]`, and nothing else.
pub fn is_loopback_host(host: &str) -> bool {
    let (name, rest) = host.split_at(host.find(']').map_or_else(|| host.find(':').unwrap_or(host.len()), |at| at + 1));
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    if !rest.is_empty() && !rest.strip_prefix(':').is_some_and(is_port) {
        return false;
    }
    match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()),
        None if name.eq_ignore_ascii_case("localhost") => true,
        None => name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Responds to every request on every connection, and counts the connections.
    async fn start_server() -> (String, Arc<Mutex<usize>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let count = Arc::new(Mutex::new(0));
        let connections = count.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                *connections.lock().unwrap() += 1;
                tokio::spawn(async move {
                    let mut request = [0; 4096];
                    while stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
                    }
                });
            }
        });
        (url, count)
    }

    #[tokio::test]
    async fn f094_long_pause_replaces_the_connection_pool() {
        let (url, connections) = start_server().await;
        let client = build_client().unwrap();
        let start = SystemTime::now();
        for (seconds, expected) in [(0, 1), (20, 1), (41, 2), (42, 2)] {
            let current = client.current_pool(start + Duration::from_secs(seconds));
            current.get(&url).send().await.unwrap().bytes().await.unwrap();
            assert_eq!(*connections.lock().unwrap(), expected, "after {seconds} s");
        }
    }

    #[test]
    fn rejection_keeps_code_without_message() {
        let described = |body: Value| describe_rejection(400, body.to_string().as_bytes(), "__type");
        let aws = json!({"__type": "com.amazonaws.ssm#ParameterNotFound", "message": "canary"});
        assert_eq!(described(aws), "status 400, ParameterNotFound");
        assert_eq!(described(json!({"__type": "the canary sang"})), "status 400");
        assert_eq!(describe_rejection(502, b"<html>", "error"), "status 502");
        assert_eq!(describe_rejection(401, br#"{"error":"invalid_client"}"#, "error"), "status 401, invalid_client");
    }
}
