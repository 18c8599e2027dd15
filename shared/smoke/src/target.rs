use http::Method;
use platform::secrets::Secret;
use secrecy::ExposeSecret;
use url::{Host, Url};

use crate::CheckFailure;
use crate::transports::{HttpTransport, Request, Transport};

/// The user name without authentication, so that the check's conversations are separate from others.
const USER: &str = "smoke";

/// A deployment and the key of the caller who checks it.
pub struct Target {
    pub(crate) transport: Box<dyn Transport>,
    key: Option<Secret>,
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
        let is_local = is_loopback_url(&base);
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

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Creates a request with the key.
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

fn is_loopback_url(base: &Url) -> bool {
    match base.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
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
