//! The one way in which this product speaks HTTP to the hosts that its operator configured.
//!
//! One TLS provider (ring) with embedded roots, so that a cold start parses no certificate store; no redirects, so that
//! a key never follows one; no proxies and no decompression.

use std::sync::Arc;
use std::time::Duration;

pub use reqwest::Client;
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

/// Builds the HTTP client that models and search share; connections are pooled per host.
pub fn client() -> Result<Client, TransportError> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls()?)
        .user_agent(concat!("lambda-chat/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .tcp_nodelay(true)
        .build()?;
    Ok(client)
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
    #[test]
    fn the_client_builds_with_the_one_tls_provider() {
        super::client().unwrap();
    }
}
