use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, header};
use secrecy::ExposeSecret;
use secrets::Secret;
use serde_json::Value;
use tokio::time::timeout;
use url::{Host, Url};

use crate::Fault;

/// The caller where nobody has to say who they are, so that nobody else's conversations show those of a check.
const USER: &str = "smoke";

/// Longest document that is read.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A deployment, and the key of the one who looks at it.
#[derive(Debug)]
pub struct Target {
    http: transport::Client,
    base: Url,
    key: Option<Secret>,
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

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
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
        let target = Self { http: transport::client()?, base, key };
        if target.key.is_some() && target.base.scheme() == "http" && !target.is_here() {
            return Err(TargetError::Clear);
        }
        Ok(target)
    }

    /// Whether it runs on this machine.
    pub(crate) fn is_here(&self) -> bool {
        match self.base.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// A request of somebody without a key.
    pub(crate) fn stranger(&self, method: Method, path: &str) -> RequestBuilder {
        let base = self.base.as_str().trim_end_matches('/');
        self.http.request(method, format!("{base}{path}"))
    }

    /// A request with the key.
    pub(crate) async fn caller(&self, method: Method, path: &str) -> Result<RequestBuilder, Fault> {
        let request = self.stranger(method, path).header("x-user-id", USER);
        let Some(key) = &self.key else { return Ok(request) };
        let key = key.reveal().await.map_err(|error| Fault::new("a key", error.to_string()))?;
        Ok(request.header("x-api-key", key.expose_secret()))
    }
}

/// The head of an answer.
pub(crate) async fn sent(request: RequestBuilder, limit: Duration) -> Result<Response, Fault> {
    match timeout(limit, request.send()).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(Fault::new("an answer", why(&error))),
        Err(_) => Err(Fault::new("an answer", format!("none within {} ms", limit.as_millis()))),
    }
}

/// The whole answer.
pub(crate) async fn answered(request: RequestBuilder, limit: Duration) -> Result<Answer, Fault> {
    let reading = async {
        let response = sent(request, limit).await?;
        read(response).await
    };
    let late = || Fault::new("a whole answer", format!("none within {} ms", limit.as_millis()));
    timeout(limit, reading).await.unwrap_or_else(|_| Err(late()))
}

async fn read(mut response: Response) -> Result<Answer, Fault> {
    let status = response.status().as_u16();
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| Fault::new("a whole answer", why(&error)))? {
        body.extend_from_slice(&bytes);
        Fault::unless(body.len() <= MAX_BYTES, "an answer of 4 MiB at most", || "a longer one".to_owned())?;
    }
    Ok(Answer { status, content_type, body })
}

/// A failed answer of a stream's route, by its status and code.
pub(crate) async fn refused(response: Response, limit: Duration) -> String {
    match timeout(limit, read(response)).await {
        Ok(Ok(answer)) => answer.said(),
        Ok(Err(fault)) => fault.to_string(),
        Err(_) => "an answer without an end".to_owned(),
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Status and code, such as `401 unauthorized`.
    pub(crate) fn said(&self) -> String {
        let body = self.json();
        let code = body.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
        format!("{} {code}", self.status).trim_end().to_owned()
    }

    pub(crate) fn must_be(&self, status: u16) -> Result<(), Fault> {
        Fault::unless(self.status == status, &format!("status {status}"), || self.said())
    }
}

/// What kept an answer away, without its address.
pub(crate) fn why(error: &reqwest::Error) -> String {
    let kind = match error {
        error if error.is_connect() => "no connection",
        error if error.is_timeout() => "no answer in time",
        _ => "a broken connection",
    };
    kind.to_owned()
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
