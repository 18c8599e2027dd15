use http::Method;
use secrecy::ExposeSecret;
use secrets::Secret;
use url::{Host, Url};

use crate::Fault;
use crate::door::{Door, Request};
use crate::http_door::HttpDoor;

/// The user name without authentication, so that the check's conversations are separate from others.
const USER: &str = "smoke";

/// A deployment and the key of the caller who checks it.
pub struct Target {
    door: Box<dyn Door>,
    key: Option<Secret>,
    here: bool,
}

/// Why no request can be made; each is a usage error.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The address is not that of a deployment.
    #[error("the address must be https://HOST or http://HOST, with a path at most")]
    Address,
    /// The key would be sent unencrypted.
    #[error("a key is only sent over https:// or to this machine")]
    Clear,
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Transport(#[from] transport::TransportError),
}

impl Target {
    /// A deployment at this address, which may include the path of a stage.
    ///
    /// # Errors
    /// An address that is invalid, or over which a key would be sent unencrypted.
    pub fn new(address: &str, key: Option<Secret>) -> Result<Self, TargetError> {
        let base = Url::parse(address).map_err(|_| TargetError::Address)?;
        let anonymous = base.username().is_empty() && base.password().is_none();
        let whole = base.query().is_none() && base.fragment().is_none();
        if !matches!(base.scheme(), "http" | "https") || !anonymous || !whole {
            return Err(TargetError::Address);
        }
        let here = is_here(&base);
        if key.is_some() && base.scheme() == "http" && !here {
            return Err(TargetError::Clear);
        }
        let base = base.as_str().trim_end_matches('/').to_owned();
        Ok(Self { door: Box::new(HttpDoor { http: transport::client()?, base }), key, here })
    }

    /// A deployment that is reached by another transport, with this key.
    pub fn behind(door: impl Door + 'static, key: Secret) -> Self {
        Self { door: Box::new(door), key: Some(key), here: false }
    }

    pub(crate) fn door(&self) -> &dyn Door {
        self.door.as_ref()
    }

    /// Whether the deployment runs on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.here
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Creates a request with the key.
    pub(crate) async fn caller(&self, method: Method, path: &str) -> Result<Request, Fault> {
        let request = Request::new(method, path).header("x-user-id", USER);
        let Some(key) = &self.key else { return Ok(request) };
        let key = key.reveal().await.map_err(|error| Fault::new("a key", error.to_string()))?;
        Ok(request.header("x-api-key", key.expose_secret()))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("key", &self.key).field("here", &self.here).finish_non_exhaustive()
    }
}

fn is_here(base: &Url) -> bool {
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

    fn made(address: &str, key: bool) -> Result<Target, TargetError> {
        Target::new(address, key.then(|| Secret::by_value("canary")))
    }

    #[test]
    fn target_address_is_validated() {
        for good in
            ["https://chat.example", "https://chat.example/prod/", "http://127.0.0.1:3000", "http://chat.example"]
        {
            assert!(made(good, false).is_ok(), "{good}");
        }
        for bad in ["chat.example", "ftp://a", "https://a?b", "https://a#b", "https://u:p@a", ""] {
            assert!(matches!(made(bad, false), Err(TargetError::Address)), "{bad}");
        }
    }

    #[test]
    fn key_is_never_sent_unencrypted() {
        for good in ["https://chat.example", "http://localhost:3000", "http://[::1]:3000", "http://127.0.0.2"] {
            assert!(made(good, true).is_ok(), "{good}");
        }
        assert!(matches!(made("http://chat.example", true), Err(TargetError::Clear)));
        assert!(!format!("{:?}", made("https://chat.example", true)).contains("canary"));
    }
}
