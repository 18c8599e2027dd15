use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use reqwest::header::{ACCEPT_ENCODING, HeaderValue};
use tokio::time::timeout;

use crate::body::{BodyChunk, OnChunk};
use crate::network::PinnedResolver;
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
        self.send_observed(request, |_| ControlFlow::Continue(())).await
    }

    /// Like [`Egress::send`], but passes each chunk within the size limit to `on_chunk`, which may end the response.
    pub async fn send_observed(
        &self,
        request: Request,
        mut on_chunk: impl FnMut(BodyChunk<'_>) -> ControlFlow<()> + Send,
    ) -> Result<Response, EgressError> {
        let total = request.limits.total_timeout;
        timeout(total, self.follow(request, &mut on_chunk)).await.unwrap_or(Err(EgressError::TimedOut))
    }

    async fn follow(&self, mut request: Request, on_chunk: &mut OnChunk<'_>) -> Result<Response, EgressError> {
        let max_redirects = request.redirects_left;
        loop {
            let response = self.exchange(&request).await?;
            body::check_headers(response.headers(), &request.limits)?;
            // The remaining count may be zero; the original limit decides whether redirects are followed at all.
            let original = Request { redirects_left: max_redirects, ..request.clone() };
            match redirect::redirect_location(&original, response.status(), response.headers()) {
                None => return body::read_response(response, &request, on_chunk).await,
                Some(_) if request.redirects_left == 0 => return Err(EgressError::TooManyRedirects),
                Some(location) => request = redirect::next_request(self.policy, request, &location)?,
            }
        }
    }

    async fn exchange(&self, request: &Request) -> Result<reqwest::Response, EgressError> {
        let client = self.client(request).await?;
        let mut outgoing = reqwest::Request::new(request.method.clone(), request.url.clone());
        let headers = outgoing.headers_mut();
        headers.extend(request.headers.clone());
        headers.extend(request.secrets.clone());
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        *outgoing.body_mut() = request.body.clone().map(Into::into);
        let to_error = |error: reqwest::Error| {
            if error.is_connect() { EgressError::Unreachable } else { EgressError::Disconnected }
        };
        client.execute(outgoing).await.map_err(to_error)
    }

    /// A client that can only reach the checked addresses of the request's host.
    #[expect(clippy::disallowed_methods, reason = "the guarded client begins like every other")]
    async fn client(&self, request: &Request) -> Result<reqwest::Client, EgressError> {
        let pinned = self.resolve_checked(request).await?;
        let builder = platform::transport::builder().map_err(|_| EgressError::Unreachable)?;
        builder.pool_max_idle_per_host(0).dns_resolver(pinned).build().map_err(|_| EgressError::Unreachable)
    }

    async fn resolve_checked(&self, request: &Request) -> Result<PinnedResolver, EgressError> {
        let target = self.policy.check_target(&request.url)?;
        let Target::Name(name) = &target else {
            // A connection to a literal address uses no resolver.
            return Ok(PinnedResolver { name: String::new(), addresses: Vec::new() });
        };
        let addresses = self.network.lookup(name).await.map_err(|_| EgressError::Unresolved)?;
        if addresses.is_empty() {
            return Err(EgressError::Unresolved);
        }
        self.policy.check_addresses(&target, &addresses)?;
        let port = request.url.port_or_known_default().unwrap_or_default();
        let connect_address = |address| self.network.connect_address(SocketAddr::new(address, port));
        Ok(PinnedResolver { name: name.clone(), addresses: addresses.into_iter().map(connect_address).collect() })
    }
}
