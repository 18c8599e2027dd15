use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use platform::settings::{SettingError, Settings};

/// The browser origins that may read responses: exact ones, from `ALLOWED_ORIGINS`.
#[derive(Clone, Debug, Default)]
pub struct Origins(Vec<String>);

/// Headers that the product reads, and those that OpenAI's clients also send with every request from a browser.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, last-event-id, mcp-method, mcp-name, mcp-protocol-version, \
     traceparent, tracestate, x-agent-id, x-amz-content-sha256, x-api-key, x-user-id, openai-organization, openai-project, user-agent, x-stainless-arch, x-stainless-helper-method, x-stainless-lang, \
     x-stainless-os, x-stainless-package-version, x-stainless-retry-count, x-stainless-runtime, \
     x-stainless-runtime-version, x-stainless-timeout",
);
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("retry-after, server-timing, www-authenticate, x-request-id");

/// Lets a page read `server-timing` in its resource timing. Source: Resource Timing, a draft of the W3C.
const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

impl Origins {
    /// Reads `ALLOWED_ORIGINS`: comma-separated, each `http(s)://host` with an optional port and nothing after it.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let accepted = "comma-separated origins such as https://chat.example.com";
        let parse = |text: &str| text.split(',').map(|origin| parse_origin(origin.trim())).collect::<Option<Vec<_>>>();
        Ok(Self(settings.parse("ALLOWED_ORIGINS", accepted, parse)?.unwrap_or_default()))
    }

    /// The request's `Origin`, if it is allowed.
    pub fn allowed_origin<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        self.0.iter().any(|known| known.as_bytes() == origin.as_bytes()).then_some(origin)
    }

    /// Sets the CORS headers that let `origin` read the response. `None` adds only `Vary: origin`.
    pub(crate) fn set_headers(&self, response: &mut Response, origin: Option<HeaderValue>, preflight: bool) {
        if self.0.is_empty() {
            return;
        }
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        let Some(origin) = origin else { return };
        headers.insert(TIMING_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        if preflight {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        }
    }
}

fn parse_origin(text: &str) -> Option<String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    (!rest.is_empty() && plain).then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f109_origins_match_exactly_without_wildcards() {
        for bad in ["*", "https://*.example.com", "https://a.example/", "a.example", "https://a.example,,"] {
            let error = Origins::from_settings(&Settings::from_pairs([("ALLOWED_ORIGINS", bad)])).unwrap_err();
            assert_eq!(error.variable, "ALLOWED_ORIGINS", "{bad}");
        }
        let pairs = [("ALLOWED_ORIGINS", "https://a.example, http://localhost:5173")];
        let origins = Origins::from_settings(&Settings::from_pairs(pairs)).unwrap();
        let from = |origin| HeaderMap::from_iter([(header::ORIGIN, HeaderValue::from_static(origin))]);
        assert!(origins.allowed_origin(&from("http://localhost:5173")).is_some());
        assert!(origins.allowed_origin(&from("https://a.example.evil.example")).is_none());
        assert!(origins.allowed_origin(&HeaderMap::new()).is_none());
    }
}
