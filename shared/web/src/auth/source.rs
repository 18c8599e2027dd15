use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use http::request::Parts;

/// Where a request came from, as the platform says; an extension of the request.
///
/// Nothing that a client sends counts: `X-Forwarded-For` is whatever it wrote there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceIp(pub IpAddr);

/// The address that attempts are counted by; all requests without one count together.
pub(super) fn of(head: &Parts) -> IpAddr {
    let told = head.extensions.get::<SourceIp>().map(|SourceIp(address)| *address);
    let peer = || head.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    told.or_else(peer).map_or(Ipv6Addr::UNSPECIFIED.into(), network)
}

/// Whoever has one address of version 6 has the 2⁶⁴ of its network.
fn network(address: IpAddr) -> IpAddr {
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

    fn head(told: Option<&str>, peer: Option<&str>) -> Parts {
        let mut head = http::Request::new(()).into_parts().0;
        head.headers.insert("x-forwarded-for", http::HeaderValue::from_static("198.51.100.7"));
        if let Some(told) = told {
            head.extensions.insert(SourceIp(told.parse().unwrap()));
        }
        if let Some(peer) = peer {
            head.extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 9)));
        }
        head
    }

    #[test]
    fn f112_the_platform_says_where_a_request_came_from_and_no_header_does() {
        let seen = |told, peer| of(&head(told, peer)).to_string();
        assert_eq!(seen(Some("203.0.113.9"), Some("127.0.0.1")), "203.0.113.9");
        assert_eq!(seen(None, Some("::ffff:127.0.0.1")), "127.0.0.1");
        assert_eq!(seen(Some("2001:db8:1:2:3:4:5:6"), None), "2001:db8:1:2::");
        assert_eq!(seen(None, None), "::");
    }
}
