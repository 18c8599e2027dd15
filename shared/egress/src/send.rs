use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use reqwest::header::{ACCEPT_ENCODING, HeaderValue};
use tokio::time::timeout;

use crate::body::{Part, Watch};
use crate::network::Pinned;
use crate::policy::Target;
use crate::{EgressError, Network, Policy, Request, Response, body, redirect};

/// Sends requests that a policy allows; clones share the network.
#[derive(Clone)]
pub struct Egress {
    policy: Policy,
    network: Arc<dyn Network>,
}

impl Egress {
    /// Creates an egress with this `policy`.
    pub fn new(policy: Policy, network: impl Network) -> Self {
        Self { policy, network: Arc::new(network) }
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Sends a request and reads the response of any status, within the request's limits.
    ///
    /// It never retries, and sends nothing if the URL or any address of its host is not allowed.
    pub async fn send(&self, request: Request) -> Result<Response, EgressError> {
        self.send_watched(request, |_| ControlFlow::Continue(())).await
    }

    /// Like [`Egress::send`], but passes each chunk within the size limit to `on_chunk`, which may end the response.
    pub async fn send_watched(
        &self,
        request: Request,
        mut watch: impl FnMut(Part<'_>) -> ControlFlow<()> + Send,
    ) -> Result<Response, EgressError> {
        let total = request.limits.total;
        timeout(total, self.follow(request, &mut watch)).await.unwrap_or(Err(EgressError::TimedOut))
    }

    async fn follow(&self, mut request: Request, watch: &mut Watch<'_>) -> Result<Response, EgressError> {
        let redirected = request.redirects;
        loop {
            let response = self.exchange(&request).await?;
            body::check_headers(response.headers(), &request.limits)?;
            // The remaining count may be zero; the original limit decides whether redirects are followed at all.
            let asked = Request { redirects: redirected, ..request.clone() };
            match redirect::location(&asked, response.status(), response.headers()) {
                None => return finish(response, &request, watch).await,
                Some(_) if request.redirects == 0 => return Err(EgressError::TooManyRedirects),
                Some(location) => request = redirect::next(self.policy, request, &location)?,
            }
        }
    }

    async fn exchange(&self, request: &Request) -> Result<reqwest::Response, EgressError> {
        let client = self.client(request).await?;
        let mut sent = reqwest::Request::new(request.method.clone(), request.url.clone());
        let headers = sent.headers_mut();
        headers.extend(request.headers.clone());
        headers.extend(request.secrets.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        *sent.body_mut() = request.body.clone().map(Into::into);
        let failed =
            |error: reqwest::Error| if error.is_connect() { EgressError::Unreachable } else { EgressError::Broken };
        client.execute(sent).await.map_err(failed)
    }

    /// A client that can only reach the checked addresses of the request's host.
    #[expect(clippy::disallowed_methods, reason = "the guarded client begins like every other")]
    async fn client(&self, request: &Request) -> Result<reqwest::Client, EgressError> {
        let pinned = self.checked(request).await?;
        let builder = transport::builder().map_err(|_| EgressError::Unreachable)?;
        builder.pool_max_idle_per_host(0).dns_resolver(pinned).build().map_err(|_| EgressError::Unreachable)
    }

    async fn checked(&self, request: &Request) -> Result<Pinned, EgressError> {
        let target = self.policy.target(&request.url)?;
        let Target::Name(name) = &target else {
            // A connection to a literal address uses no resolver.
            return Ok(Pinned { name: String::new(), addresses: Vec::new() });
        };
        let addresses = self.network.lookup(name).await.map_err(|_| EgressError::Unresolved)?;
        if addresses.is_empty() {
            return Err(EgressError::Unresolved);
        }
        self.policy.check_addresses(&target, &addresses)?;
        let port = request.url.port_or_known_default().unwrap_or_default();
        let way = |address| self.network.way(SocketAddr::new(address, port));
        Ok(Pinned { name: name.clone(), addresses: addresses.into_iter().map(way).collect() })
    }
}

async fn finish(
    response: reqwest::Response,
    request: &Request,
    watch: &mut Watch<'_>,
) -> Result<Response, EgressError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let (body, truncated) = body::read(response, &request.limits, watch).await?;
    Ok(Response { status, url: request.url.clone(), headers, body, truncated })
}
