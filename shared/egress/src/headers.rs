//! Checks which headers callers may set.

use reqwest::header::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

/// Headers for authentication, routing or message framing.
const RESERVED: [&str; 20] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "max-forwards",
    "set-cookie",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-host",
];

/// Why a header cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It is not a header name, or one that callers may not set.
    #[error("a header of this name cannot be set")]
    Name,
    /// The value holds a line end or another control character.
    #[error("the value holds a character that no header can carry")]
    Value,
}

/// Whether callers may set a header of this name.
pub fn is_settable(name: &str) -> bool {
    HeaderName::from_bytes(name.as_bytes()).is_ok_and(|name| {
        let name = name.as_str();
        !RESERVED.contains(&name) && !name.starts_with("proxy-")
    })
}

pub(crate) fn parse_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HeaderError> {
    parse(name, is_settable(name), value)
}

/// Parses a header that authenticates: `Authorization`, or any other that callers may set.
pub(crate) fn parse_secret_header(name: &str, value: &SecretString) -> Result<(HeaderName, HeaderValue), HeaderError> {
    let is_allowed = name.eq_ignore_ascii_case("authorization") || is_settable(name);
    let (name, mut value) = parse(name, is_allowed, value.expose_secret())?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn parse(name: &str, is_allowed: bool, value: &str) -> Result<(HeaderName, HeaderValue), HeaderError> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok().filter(|_| is_allowed).ok_or(HeaderError::Name)?;
    Ok((name, HeaderValue::from_bytes(value.as_bytes()).map_err(|_| HeaderError::Value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f131_authentication_and_framing_headers_are_reserved() {
        let reserved = [
            "Authorization",
            "AUTHORIZATION",
            "Host",
            "Cookie",
            "Set-Cookie",
            "Proxy-Authorization",
            "proxy-connection",
            "Connection",
            "Keep-Alive",
            "TE",
            "Trailer",
            "Transfer-Encoding",
            "Upgrade",
            "Content-Length",
            "Expect",
            "Accept-Encoding",
            "Proxy-Anything",
            "",
            "X Y",
            "X:Y",
            "X\r\nHost",
            "Ho\u{17f}t",
            "X-Ä",
            ":authority",
        ];
        for name in reserved {
            assert_eq!(parse_header(name, "v").unwrap_err(), HeaderError::Name, "{name}");
        }
        for name in ["Accept", "Content-Type", "X-Api-Version", "accept-language", "If-None-Match", "Range"] {
            assert!(is_settable(name) && parse_header(name, "v").is_ok(), "{name}");
        }
    }

    #[test]
    fn f131_header_value_cannot_start_another_line() {
        for value in ["a\r\nHost: b", "a\nb", "a\rb", "a\0b", "\u{1b}[0m", "\u{7f}"] {
            assert_eq!(parse_header("X-A", value).unwrap_err(), HeaderError::Value, "{value:?}");
            assert_eq!(parse_secret_header("X-A", &value.into()).unwrap_err(), HeaderError::Value, "{value:?}");
        }
        for value in ["", "a b", "a\tb", "汉字", "a:b;c=\"d\""] {
            assert!(parse_header("X-A", value).is_ok(), "{value:?}");
        }
    }

    #[test]
    fn f122_secret_header_is_hidden_from_debug_output() {
        let (_, value) = parse_secret_header("Authorization", &"Bearer canary".into()).unwrap();
        assert_eq!(format!("{value:?}"), "Sensitive");
        assert_eq!(parse_secret_header("Host", &"canary".into()).unwrap_err(), HeaderError::Name);
    }
}
