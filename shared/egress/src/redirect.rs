use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Method, StatusCode};

use crate::{Policy, PolicyViolation, Request};

/// The redirect target of a response; `None` if the request does not follow it.
pub(crate) fn redirect_location(request: &Request, status: StatusCode, headers: &HeaderMap) -> Option<String> {
    let followed = matches!(request.method, Method::GET | Method::HEAD) && request.redirects_left > 0;
    let redirects = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = headers.get(LOCATION).filter(|_| followed && redirects)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// Builds the request that follows a redirect: checked like the first, and without secrets for another host.
pub(crate) fn next_request(policy: Policy, request: Request, location: &str) -> Result<Request, PolicyViolation> {
    let url = policy.parse(request.url.join(location).map_err(|_| PolicyViolation::NotAUrl)?.as_str())?;
    let target = policy.check_target(&url)?;
    if request.url.scheme() == "https" && url.scheme() == "http" {
        return Err(PolicyViolation::Downgrade);
    }
    // A host outside must not redirect a request to this machine.
    if target.is_loopback() && !policy.check_target(&request.url)?.is_loopback() {
        return Err(PolicyViolation::Address);
    }
    let secrets = if request.url.origin() == url.origin() { request.secrets } else { HeaderMap::new() };
    Ok(Request { url, secrets, redirects_left: request.redirects_left - 1, ..request })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Policy = Policy::public().with_http();

    fn request(url: &str) -> Request {
        let request = Request::new(Method::GET, url.parse().unwrap()).redirects(9);
        request.header("x-kind", "a").unwrap().secret("authorization", &"Bearer canary".into()).unwrap()
    }

    fn follow(policy: Policy, from: &str, to: &str) -> Result<(String, bool), PolicyViolation> {
        next_request(policy, request(from), to).map(|next| (next.url.into(), !next.secrets.is_empty()))
    }

    #[test]
    fn f128_secret_stays_with_its_origin() {
        let from = "https://api.example.com/a/b?c";
        let followed = |to: &str| follow(BOTH.with_any_port(), from, to).unwrap();
        assert_eq!(followed("/d"), ("https://api.example.com/d".into(), true));
        assert_eq!(followed("d"), ("https://api.example.com/a/d".into(), true));
        assert_eq!(followed("https://api.example.com:443/e"), ("https://api.example.com/e".into(), true));
        for other in ["https://www.example.com/", "//example.com/", "https://api.example.com:8443/"] {
            assert!(!followed(other).1, "{other}");
        }
        let redirected = next_request(BOTH, request(from), "https://example.com/").unwrap();
        assert!(redirected.headers.contains_key("x-kind"));
    }

    #[test]
    fn f128_redirect_never_downgrades_to_http() {
        assert_eq!(follow(BOTH, "https://a.example.com", "http://a.example.com/"), Err(PolicyViolation::Downgrade));
        assert_eq!(follow(BOTH, "http://a.example.com", "https://a.example.com/").map(|next| next.1), Ok(false));
    }

    #[test]
    fn f128_each_redirect_is_checked_like_the_first() {
        let refused = |to: &str| follow(BOTH, "https://a.example.com", to).unwrap_err();
        assert_eq!(refused("https://169.254.169.254/latest"), PolicyViolation::Address);
        assert_eq!(refused("//0x7f.1/"), PolicyViolation::Address);
        assert_eq!(refused("https://localhost/"), PolicyViolation::Name);
        assert_eq!(refused("https://a.example.com:8443/"), PolicyViolation::Port);
        assert_eq!(refused("https://u:p@a.example.com/"), PolicyViolation::UserInfo);
        assert_eq!(refused("file:///etc/passwd"), PolicyViolation::Scheme);
        assert_eq!(refused("https://"), PolicyViolation::NotAUrl);
    }

    #[test]
    fn f128_external_redirect_to_loopback_is_refused() {
        let policy = BOTH.with_loopback();
        assert_eq!(follow(policy, "https://a.example.com", "https://127.0.0.1:9001/"), Err(PolicyViolation::Address));
        assert_eq!(follow(policy, "https://a.example.com", "https://localhost/"), Err(PolicyViolation::Address));
        assert!(follow(policy, "http://127.0.0.1:3000", "http://localhost:3001/").is_ok());
    }

    #[test]
    fn f128_only_get_follows_up_to_three_redirects() {
        let headers = HeaderMap::from_iter([(LOCATION, "/x".parse().unwrap())]);
        let location_for =
            |request: &Request, status| redirect_location(request, StatusCode::from_u16(status).unwrap(), &headers);
        let get = request("https://a.example.com");
        assert_eq!(get.redirects_left, 3);
        for status in [301, 302, 303, 307, 308] {
            assert_eq!(location_for(&get, status).as_deref(), Some("/x"));
            let post = Request { method: Method::POST, ..get.clone() };
            assert_eq!(location_for(&post, status), None);
            assert_eq!(location_for(&Request { redirects_left: 0, ..get.clone() }, status), None);
        }
        for status in [200, 300, 304, 305, 306, 404] {
            assert_eq!(location_for(&get, status), None);
        }
    }
}
