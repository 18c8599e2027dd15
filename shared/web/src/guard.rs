use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use conversation::ErrorCode;
use http::{HeaderMap, header, uri::Authority};

use crate::{ApiError, Origins};

/// Refuses requests that a page elsewhere could have made a browser send to this machine.
///
/// Without authentication the loopback interface is no protection: any site may post to it, and one whose name is
/// pointed at 127.0.0.1 may read the answers. So the `Host` must be loopback and an `Origin` the server's own, or one
/// of `ALLOWED_ORIGINS`.
pub(crate) async fn loopback_only(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    match refusal(request.headers(), request.uri().authority(), &origins) {
        Some(sentence) => ApiError::new(ErrorCode::Forbidden, sentence).into_response(),
        None => next.run(request).await,
    }
}

fn refusal(headers: &HeaderMap, target: Option<&Authority>, origins: &Origins) -> Option<&'static str> {
    let host = match headers.get(header::HOST) {
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()),
        None => target.cloned(),
    };
    let Some(host) = host.filter(is_loopback) else {
        return Some("Only requests to a loopback host are answered here.");
    };
    let origin = headers.get(header::ORIGIN)?;
    let own = origin.to_str().ok().and_then(|text| text.strip_prefix("http://")) == Some(host.as_str());
    (!own && origins.allowed(headers).is_none()).then_some("Pages of other origins may not use this server.")
}

fn is_loopback(host: &Authority) -> bool {
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    let address = name.parse::<std::net::IpAddr>();
    address.map_or_else(|_| name.eq_ignore_ascii_case("localhost"), |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn refused(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        refusal(&headers, None, &Origins::default()).is_some()
    }

    #[test]
    fn only_loopback_hosts_are_answered() {
        for host in ["127.0.0.1:3000", "localhost:3000", "LOCALHOST", "[::1]:3000", "127.0.0.2"] {
            assert!(!refused(host, None), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.nip.io:3000", "10.0.0.1", "localhost.evil.example", "127.0.0.1@evil.example"]
        {
            assert!(refused(host, None), "{host}");
        }
    }

    #[test]
    fn only_the_servers_own_pages_are_answered() {
        assert!(!refused("127.0.0.1:3000", Some("http://127.0.0.1:3000")));
        for origin in ["http://127.0.0.1:4000", "https://evil.example", "null", "http://localhost:3000"] {
            assert!(refused("127.0.0.1:3000", Some(origin)), "{origin}");
        }
    }
}
