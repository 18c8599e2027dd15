use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::ErrorCode;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, header};
use platform::transport::is_loopback_host;

use crate::single_header::{SingleHeader, single_header};
use crate::{ApiError, Origins};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Rejects requests that a page of another site could have made a browser send to this machine.
///
/// Without authentication the loopback interface gives no protection. Any site may post to it, and a site whose name
/// resolves to 127.0.0.1 may read the responses. So the `Host` must be loopback, and an `Origin` must be the server's
/// own or one of `ALLOWED_ORIGINS`. `Sec-Fetch-Site`, the browser's statement about the request's initiator, must not
/// be another site.
pub(crate) async fn require_loopback(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match rejection_reason(&head, &origins) {
        Some(message) => ApiError::new(ErrorCode::Forbidden, message).into_response(),
        None => next.run(Request::from_parts(head, body)).await,
    }
}

fn rejection_reason(head: &Parts, origins: &Origins) -> Option<&'static str> {
    let target = head.uri.authority().map(http::uri::Authority::as_str);
    let host = match single_header(&head.headers, &header::HOST) {
        SingleHeader::One(host) => Some(host),
        SingleHeader::Absent => target,
        SingleHeader::Unusable => None,
    };
    let Some(host) = host.filter(|host| is_loopback_host(host) && target.is_none_or(is_loopback_host)) else {
        return Some("Only requests to a loopback host are answered here.");
    };
    let is_allowed = match single_header(&head.headers, &header::ORIGIN) {
        SingleHeader::One(_) if origins.allowed_origin(&head.headers).is_some() => true,
        SingleHeader::One(origin) if origin.strip_prefix("http://") == Some(host) => false,
        SingleHeader::Absent => false,
        SingleHeader::One(_) | SingleHeader::Unusable => {
            return Some("Pages of other origins may not use this server.");
        }
    };
    let passes = is_allowed || is_same_origin_fetch(&head.headers) || is_page_navigation(head);
    (!passes).then_some("Pages of other sites may not use this server.")
}

/// Whether no page of another site initiated the request, by `Sec-Fetch-Site`.
///
/// Another port of this machine is the same site but another origin.
fn is_same_origin_fetch(headers: &HeaderMap) -> bool {
    matches!(single_header(headers, &FETCH_SITE), SingleHeader::Absent | SingleHeader::One("same-origin" | "none"))
}

/// Whether the request is a navigation to the page itself, for example by a link on another site. That site cannot read
/// the page.
fn is_page_navigation(head: &Parts) -> bool {
    let is = |name, expected| single_header(&head.headers, &name).one() == Some(expected);
    head.method == Method::GET && head.uri.path() == "/" && is(FETCH_MODE, "navigate") && is(FETCH_DEST, "document")
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn is_rejected_with(target: &str, headers: &[(&str, &str)]) -> bool {
        let request = headers.iter().fold(Request::get(target), |request, (name, value)| request.header(*name, *value));
        rejection_reason(&request.body(()).unwrap().into_parts().0, &Origins::default()).is_some()
    }

    fn is_rejected(host: &str, origin: Option<&str>) -> bool {
        let headers: Vec<_> = [("host", host)].into_iter().chain(origin.map(|origin| ("origin", origin))).collect();
        is_rejected_with("/", &headers)
    }

    #[test]
    fn f144_duplicate_host_or_origin_is_refused() {
        let (host, origin) = (("host", "localhost:3000"), ("origin", "http://localhost:3000"));
        assert!(!is_rejected_with("/", &[host, origin]));
        assert!(is_rejected_with("/", &[host, ("host", "evil.example")]));
        assert!(is_rejected_with("/", &[host, host]));
        assert!(is_rejected_with("/", &[host, origin, ("origin", "https://evil.example")]));
        assert!(is_rejected_with("/", &[]));
        assert!(is_rejected_with("http://evil.example/", &[host]));
        assert!(!is_rejected_with("http://localhost:3000/", &[host]));
    }

    #[test]
    fn f144_cross_site_requests_without_origin_are_refused() {
        let from = |path: &str, site: &'static str, rest: &[(&'static str, &'static str)]| {
            is_rejected_with(path, &[&[("host", "127.0.0.1:3000"), ("sec-fetch-site", site)], rest].concat())
        };
        for site in ["same-origin", "none"] {
            assert!(!from("/api/models", site, &[]), "{site}");
        }
        let navigates = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        for site in ["cross-site", "same-site", "else"] {
            assert!(from("/api/models", site, &[]), "{site}");
            assert!(from("/", site, &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")]), "{site}");
            assert!(from("/", site, &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]), "{site}");
            assert!(from("/api/models", site, &navigates), "{site}");
            assert!(!from("/", site, &navigates), "{site}");
        }
        assert!(is_rejected_with(
            "/",
            &[("host", "localhost"), ("sec-fetch-site", "none"), ("sec-fetch-site", "none")]
        ));
    }

    #[test]
    fn f144_allowed_origins_pass_from_other_sites() {
        let settings = platform::settings::Settings::from_pairs([("ALLOWED_ORIGINS", "https://a.example")]);
        let origins = Origins::from_settings(&settings).unwrap();
        let from = |origin| {
            let request = Request::get("/api/models").header("host", "localhost").header("origin", origin);
            let head = request.header("sec-fetch-site", "cross-site").body(()).unwrap().into_parts().0;
            rejection_reason(&head, &origins)
        };
        assert_eq!((from("https://a.example"), from("https://b.example").is_some()), (None, true));
    }

    #[test]
    fn only_loopback_hosts_are_accepted() {
        for host in ["127.0.0.1:3000", "localhost:3000", "LOCALHOST", "[::1]:3000", "127.0.0.2"] {
            assert!(!is_rejected(host, None), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.nip.io:3000", "10.0.0.1", "localhost.evil.example", "127.0.0.1@evil.example"]
        {
            assert!(is_rejected(host, None), "{host}");
        }
    }

    #[test]
    fn f144_unusual_host_spelling_is_refused() {
        for host in [
            "evil.example@127.0.0.1",
            "127.0.0.1:abc",
            "127.0.0.1:",
            "127.0.0.1:99999",
            "127.0.0.1:+80",
            "[localhost]:1",
            "[127.0.0.1]",
            "[::1",
            "::1",
            "[::1]x",
            "[::1]80",
            "[[::1]]",
            "",
            ":80",
            "localhost:80:80",
            " localhost",
            "localhost/",
            "localhost,evil.example",
            "0.0.0.0",
            "[::]",
            "2130706433",
            "127.1",
            "0x7f.0.0.1",
            "localhost.",
        ] {
            assert!(is_rejected(host, None), "{host}");
        }
    }

    #[test]
    fn only_same_origin_pages_are_accepted() {
        assert!(!is_rejected("127.0.0.1:3000", Some("http://127.0.0.1:3000")));
        for origin in ["http://127.0.0.1:4000", "https://evil.example", "null", "http://localhost:3000"] {
            assert!(is_rejected("127.0.0.1:3000", Some(origin)), "{origin}");
        }
    }
}
