use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

/// Name resolution and connection addresses; tests replace the machine's own.
#[async_trait]
pub trait Network: Send + Sync + 'static {
    /// Resolves all addresses of a name; called once per request and once per redirect.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// The address to connect to for a checked one: the same, except in a test without internet.
    fn connect_address(&self, checked: SocketAddr) -> SocketAddr {
        checked
    }
}

/// The network of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNetwork;

#[async_trait]
impl Network for SystemNetwork {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A resolver that knows one name and its checked addresses.
pub(crate) struct PinnedResolver {
    pub(crate) name: String,
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Resolve for PinnedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_own_name = name.as_str() == self.name;
        let addresses = if is_own_name { self.addresses.clone() } else { Vec::new() };
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn f127_pinned_resolver_knows_only_its_own_name() {
        let address: SocketAddr = "192.0.9.1:443".parse().unwrap();
        let pinned = PinnedResolver { name: "api.example.com".to_owned(), addresses: vec![address] };
        let resolve = async |name: &str| pinned.resolve(name.parse().unwrap()).await.unwrap().collect::<Vec<_>>();
        assert_eq!(resolve("api.example.com").await, [address]);
        assert_eq!(resolve("localhost").await, []);
    }
}
