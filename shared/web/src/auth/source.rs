use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use http::HeaderName;
use http::request::Parts;
use platform::settings::{SettingError, Settings};

use crate::single_header::single_header;

/// The address a request came from, as reported by the platform; an extension of the request.
///
/// No header from the client counts: clients can write anything into `X-Forwarded-For`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceIp(pub IpAddr);

/// The header in which a proxy reports a request's address. No client may be able to bypass the proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceHeader(Option<HeaderName>);

impl SourceHeader {
    /// Reads `SOURCE_IP_HEADER`.
    ///
    /// # Errors
    /// A value that cannot be a header name.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        settings.parse("SOURCE_IP_HEADER", "a header's name", |text| text.parse().ok()).map(Self)
    }

    /// Sets the source address from the header, if it occurs once and holds one address. The proxy must be trusted.
    pub fn apply_to(&self, request: &mut Request) {
        let Some(name) = &self.0 else { return };
        let address = single_header(request.headers(), name).one();
        if let Some(address) = address.and_then(|text| text.trim().parse().ok()) {
            request.extensions_mut().insert(SourceIp(address));
        }
    }
}

/// The address by which attempts are counted; all requests without one count together.
pub(super) fn source_network(head: &Parts) -> IpAddr {
    let platform_address = head.extensions.get::<SourceIp>().map(|SourceIp(address)| *address);
    let peer = || head.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    platform_address.or_else(peer).map_or(Ipv6Addr::UNSPECIFIED.into(), network_prefix)
}

/// Reduces an address to the network by which it is counted: IPv6 to its /64, because its holder owns all 2⁶⁴
/// addresses.
pub fn network_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(source: Option<&str>, peer: Option<&str>) -> Parts {
        let mut head = http::Request::new(()).into_parts().0;
        head.headers.insert("x-forwarded-for", http::HeaderValue::from_static("198.51.100.7"));
        if let Some(source) = source {
            head.extensions.insert(SourceIp(source.parse().unwrap()));
        }
        if let Some(peer) = peer {
            head.extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 9)));
        }
        head
    }

    #[test]
    fn f112_source_address_ignores_client_headers() {
        let network_of = |source, peer| source_network(&head(source, peer)).to_string();
        assert_eq!(network_of(Some("203.0.113.9"), Some("127.0.0.1")), "203.0.113.9");
        assert_eq!(network_of(None, Some("::ffff:127.0.0.1")), "127.0.0.1");
        assert_eq!(network_of(Some("2001:db8:1:2:3:4:5:6"), None), "2001:db8:1:2::");
        assert_eq!(network_of(None, None), "::");
    }
}
