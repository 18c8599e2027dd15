use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};

use crate::header_value::{Header, only};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Maximum length of a credential, in bytes.
const LONGEST: usize = 16 * 1024;

/// Extracts the key or token of a request: `X-Api-Key: X`, else `Authorization: Bearer X`.
///
/// `None` if there is none, if the header that counts occurs more than once, or if the value cannot be a credential.
pub(super) fn presented(headers: &HeaderMap) -> Option<&str> {
    let credential = match only(headers, &API_KEY) {
        Header::One(value) => value,
        Header::Absent => match only(headers, &AUTHORIZATION) {
            Header::One(value) => bearer(value)?,
            Header::Absent | Header::Unusable => return None,
        },
        Header::Unusable => return None,
    };
    let credential = credential.trim();
    let plausible = (1..=LONGEST).contains(&credential.len()) && credential.bytes().all(|byte| byte.is_ascii_graphic());
    plausible.then_some(credential)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, credential) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(credential)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn shown(pairs: &[(&'static str, &str)]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        presented(&headers).map(str::to_owned)
    }

    #[test]
    fn api_key_header_wins_over_bearer() {
        assert_eq!(shown(&[("authorization", "Bearer a")]).as_deref(), Some("a"));
        assert_eq!(shown(&[("authorization", "bearer   a ")]).as_deref(), Some("a"));
        assert_eq!(shown(&[("x-api-key", " b ")]).as_deref(), Some("b"));
        assert_eq!(shown(&[("authorization", "Bearer a"), ("x-api-key", "b")]).as_deref(), Some("b"));
    }

    #[test]
    fn f114_implausible_credential_is_none() {
        let long = "a".repeat(LONGEST + 1);
        let cases: [&[(&str, &str)]; 11] = [
            &[],
            &[("authorization", "Bearer")],
            &[("authorization", "Bearer ")],
            &[("authorization", "a")],
            &[("authorization", "Basic YTpi")],
            &[("authorization", "Bearer a b")],
            &[("authorization", "Bearer a"), ("authorization", "Bearer a")],
            &[("x-api-key", "")],
            &[("x-api-key", "a"), ("x-api-key", "b")],
            &[("authorization", "Bearer a"), ("x-api-key", "é")],
            &[("x-api-key", &long)],
        ];
        for case in cases {
            assert_eq!(shown(case), None, "{case:?}");
        }
    }
}
