use http::Method;
use secrecy::ExposeSecret;
use secrets::Secret;
use url::{Host, Url};

use crate::Fault;
use crate::door::{Door, Request};
use crate::http_door::HttpDoor;

/// The caller where nobody has to say who they are, so that nobody else's conversations show those of a check.
const USER: &str = "smoke";

/// A deployment, and the key of the one who looks at it.
pub struct Target {
    door: Box<dyn Door>,
    key: Option<Secret>,
    here: bool,
}

/// Why no request can be made; each is wrong use.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Not the address of a deployment.
    #[error("the address must be https://HOST or http://HOST, with a path at most")]
    Address,
    /// A key would be readable on its way.
    #[error("a key is only sent over https:// or to this machine")]
    Clear,
    /// No HTTP client.
    #[error(transparent)]
    Transport(#[from] transport::TransportError),
}

impl Target {
    /// A deployment at this address, with the path of its stage if it has one.
    ///
    /// # Errors
    /// An address that is none, or one to which a key would go in the clear.
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

    /// A deployment that is reached another way, by somebody with this key.
    pub fn behind(door: impl Door + 'static, key: Secret) -> Self {
        Self { door: Box::new(door), key: Some(key), here: false }
    }

    pub(crate) fn door(&self) -> &dyn Door {
        self.door.as_ref()
    }

    /// Whether it runs on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.here
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// A request with the key.
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
    fn an_address_is_that_of_a_deployment() {
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
    fn a_key_goes_nowhere_in_the_clear() {
        for good in ["https://chat.example", "http://localhost:3000", "http://[::1]:3000", "http://127.0.0.2"] {
            assert!(made(good, true).is_ok(), "{good}");
        }
        assert!(matches!(made("http://chat.example", true), Err(TargetError::Clear)));
        assert!(!format!("{:?}", made("https://chat.example", true)).contains("canary"));
    }
}
