//! The one way in which this product speaks HTTP to the hosts that its operator configured.
//!
//! One TLS provider (ring) with embedded roots, so that a cold start parses no certificate store; no redirects, so that
//! a key never follows one; no proxies and no decompression.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use reqwest::{IntoUrl, Method, Request, RequestBuilder, Response};
use rustls::{ClientConfig, RootCertStore};

/// Longest time for a connection to be made, name resolution and TLS included.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest time for which an unused connection is kept.
pub const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// A client that cannot be built: the TLS provider lacks a protocol version that this build asks for.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The TLS configuration is refused by the provider.
    #[error("TLS cannot be configured: {0}")]
    Tls(#[from] rustls::Error),
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built: {0}")]
    Client(#[from] reqwest::Error),
}

/// The HTTP client that models, search and everything else share; connections are pooled per host.
///
/// A function's instance is frozen between invocations, and its connections die meanwhile without its clocks for idle
/// connections having moved. So the wall clock is asked at every use: after a long pause the pool is a new one.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    fresh: Box<dyn Fn() -> Result<reqwest::Client, TransportError> + Send + Sync>,
    pool: Mutex<Pool>,
}

struct Pool {
    client: reqwest::Client,
    used: SystemTime,
}

impl Client {
    /// A client whose pools `fresh` makes.
    ///
    /// # Errors
    /// What keeps the first one from being made.
    pub fn made_by(
        fresh: impl Fn() -> Result<reqwest::Client, TransportError> + Send + Sync + 'static,
    ) -> Result<Self, TransportError> {
        let pool = Mutex::new(Pool { client: fresh()?, used: SystemTime::now() });
        Ok(Self(Arc::new(Shared { fresh: Box::new(fresh), pool })))
    }

    /// A request that gets something.
    pub fn get(&self, url: impl IntoUrl) -> RequestBuilder {
        self.request(Method::GET, url)
    }

    /// A request that posts something.
    pub fn post(&self, url: impl IntoUrl) -> RequestBuilder {
        self.request(Method::POST, url)
    }

    /// A request of any method.
    pub fn request(&self, method: Method, url: impl IntoUrl) -> RequestBuilder {
        self.current(SystemTime::now()).request(method, url)
    }

    /// Sends a request that was built before.
    ///
    /// # Errors
    /// What kept the answer from beginning.
    pub async fn execute(&self, request: Request) -> Result<Response, reqwest::Error> {
        self.current(SystemTime::now()).execute(request).await
    }

    fn current(&self, now: SystemTime) -> reqwest::Client {
        // A panic elsewhere leaves a pool that can still be used.
        let mut pool = self.0.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let paused = now.duration_since(pool.used).is_ok_and(|pause| pause > POOL_IDLE_TIMEOUT);
        if paused && let Ok(client) = (self.0.fresh)() {
            pool.client = client;
        }
        pool.used = now;
        pool.client.clone()
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

/// Builds the shared client.
pub fn client() -> Result<Client, TransportError> {
    Client::made_by(build)
}

/// The configuration with which the guarded way out to hosts that data names begins.
///
/// # Errors
/// The TLS configuration is refused by the provider.
pub fn builder() -> Result<reqwest::ClientBuilder, TransportError> {
    base()
}

fn build() -> Result<reqwest::Client, TransportError> {
    Ok(base()?.pool_idle_timeout(POOL_IDLE_TIMEOUT).build()?)
}

#[expect(clippy::disallowed_methods, reason = "the one place in which the configuration of a client begins")]
fn base() -> Result<reqwest::ClientBuilder, TransportError> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls()?)
        .user_agent(concat!("lambda-chat/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true);
    Ok(builder)
}

fn tls() -> Result<ClientConfig, rustls::Error> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Answers every request on every connection, and counts the connections.
    async fn server() -> (String, Arc<Mutex<usize>>) {
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
    async fn f094_after_a_long_pause_by_the_wall_clock_connections_are_new() {
        let (url, connections) = server().await;
        let client = client().unwrap();
        let begun = SystemTime::now();
        for (seconds, expected) in [(0, 1), (20, 1), (41, 2), (42, 2)] {
            let current = client.current(begun + Duration::from_secs(seconds));
            current.get(&url).send().await.unwrap().bytes().await.unwrap();
            assert_eq!(*connections.lock().unwrap(), expected, "after {seconds} s");
        }
    }
}
