use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};

use crate::single_header::{SingleHeader, single_header};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Maximum length of a credential, in bytes.
const MAX_CREDENTIAL_BYTES: usize = 16 * 1024;

/// Extracts the key or token of a request: `X-Api-Key: X`, else `Authorization: Bearer X`.
///
/// `None` if there is none, if the header that counts occurs more than once, or if the value cannot be a credential.
pub(super) fn extract_credential(headers: &HeaderMap) -> Option<&str> {
    let credential = match single_header(headers, &API_KEY) {
        SingleHeader::One(value) => value,
        SingleHeader::Absent => match single_header(headers, &AUTHORIZATION) {
            SingleHeader::One(value) => bearer_token(value)?,
            SingleHeader::Absent | SingleHeader::Unusable => return None,
        },
        SingleHeader::Unusable => return None,
    };
    let credential = credential.trim();
    let plausible = (1..=MAX_CREDENTIAL_BYTES).contains(&credential.len())
        && credential.bytes().all(|byte| byte.is_ascii_graphic());
    plausible.then_some(credential)
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, credential) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(credential)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn extracted(pairs: &[(&'static str, &str)]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        extract_credential(&headers).map(str::to_owned)
    }

    #[test]
    fn api_key_header_wins_over_bearer() {
        assert_eq!(extracted(&[("authorization", "Bearer a")]).as_deref(), Some("a"));
        assert_eq!(extracted(&[("authorization", "bearer   a ")]).as_deref(), Some("a"));
        assert_eq!(extracted(&[("x-api-key", " b ")]).as_deref(), Some("b"));
        assert_eq!(extracted(&[("authorization", "Bearer a"), ("x-api-key", "b")]).as_deref(), Some("b"));
    }

    #[test]
    fn f114_implausible_credential_is_none() {
        let long = "a".repeat(MAX_CREDENTIAL_BYTES + 1);
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
            assert_eq!(extracted(case), None, "{case:?}");
        }
    }
}
