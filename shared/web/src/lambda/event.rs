//! Parses Lambda events as HTTP requests: payload format 2.0 (function URLs, HTTP APIs) and format 1.0 (REST APIs).

#[cfg(test)]
mod fuzz;

use std::collections::BTreeMap;

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{ApiError, SourceIp};

/// The bytes that a path needs percent-encoded. It is not normalised, and a proxy in front may have decoded it.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The bytes that a query needs percent-encoded: all that RFC 3986 does not call unreserved.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Marks a request whose caller Lambda has authorized by IAM; an extension of the request. No client can cause it by what it
/// sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct IamAuthorized;

/// Converts an event to a request with its [`SourceIp`] and [`IamAuthorized`]. An event that is no HTTP request is `invalid_request`.
pub(super) fn parse_request(event: &RawValue) -> Result<Request<Body>, ApiError> {
    let parts = parse_parts(event).filter(|parts| parts.path.starts_with('/')).ok_or_else(unknown_format)?;
    let body = parts.body.unwrap_or_default();
    let body = if parts.is_base64 {
        STANDARD.decode(body).map_err(|_| ApiError::invalid_request("The body of the event is not valid base64"))?
    } else {
        body.into_bytes()
    };
    let target = if parts.query.is_empty() { parts.path } else { format!("{}?{}", parts.path, parts.query) };
    let request = Request::builder().method(parts.method.as_str()).uri(target).body(Body::from(body));
    let mut request = request.map_err(|_| unknown_format())?;
    *request.headers_mut() = parts.headers;
    if let Some(address) = parts.source_ip.and_then(|text| text.parse().ok()) {
        request.extensions_mut().insert(SourceIp(address));
    }
    if parts.is_iam_authorized {
        request.extensions_mut().insert(IamAuthorized);
    }
    Ok(request)
}

fn unknown_format() -> ApiError {
    ApiError::invalid_request("The event is not an HTTP request of format 1.0 or 2.0")
}

struct EventParts {
    method: String,
    path: String,
    query: String,
    headers: HeaderMap,
    body: Option<String>,
    is_base64: bool,
    source_ip: Option<String>,
    is_iam_authorized: bool,
}

/// An event of either format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    version: Option<String>,
    raw_path: Option<String>,
    raw_query_string: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    /// Of a REST API; only this distinguishes its events from those of a load balancer.
    resource: Option<String>,
    http_method: Option<String>,
    /// Without the stage.
    path: Option<String>,
    multi_value_headers: Option<BTreeMap<String, Vec<String>>>,
    /// Decoded.
    multi_value_query_string_parameters: Option<BTreeMap<String, Vec<String>>>,
    request_context: Value,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

fn parse_parts(event: &RawValue) -> Option<EventParts> {
    let event: Event = serde_json::from_str(event.get()).ok()?;
    let (context, body, is_base64) = (event.request_context, event.body, event.is_base64_encoded);
    let source_ip = |part: &str| context[part]["sourceIp"].as_str().map(str::to_owned);
    if event.version.as_deref() == Some("2.0") {
        return Some(EventParts {
            method: context["http"]["method"].as_str()?.to_owned(),
            path: utf8_percent_encode(without_stage(&event.raw_path?, context["stage"].as_str()), PATH).to_string(),
            query: event.raw_query_string.unwrap_or_default(),
            headers: to_header_map(event.headers.into_iter().flatten()),
            body,
            is_base64,
            source_ip: source_ip("http"),
            is_iam_authorized: !context["authorizer"]["iam"].is_null(),
        });
    }
    event.resource?;
    Some(EventParts {
        method: event.http_method?,
        path: utf8_percent_encode(&event.path?, PATH).to_string(),
        query: encode_query(pairs(event.multi_value_query_string_parameters.unwrap_or_default())),
        headers: to_header_map(pairs(event.multi_value_headers.unwrap_or_default())),
        body,
        is_base64,
        source_ip: source_ip("identity"),
        is_iam_authorized: false,
    })
}

fn pairs(named_values: BTreeMap<String, Vec<String>>) -> impl Iterator<Item = (String, String)> {
    named_values.into_iter().flat_map(|(name, values)| values.into_iter().map(move |value| (name.clone(), value)))
}

fn encode_query(pairs: impl Iterator<Item = (String, String)>) -> String {
    let pairs = pairs
        .map(|(name, value)| format!("{}={}", utf8_percent_encode(&name, QUERY), utf8_percent_encode(&value, QUERY)));
    pairs.collect::<Vec<_>>().join("&")
}

fn to_header_map(pairs: impl Iterator<Item = (String, String)>) -> HeaderMap {
    pairs
        .filter_map(|(name, value)| Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?)))
        .collect()
}

/// Removes the stage from the path: in format 2.0 an API with a named stage prefixes it, a function URL does not.
fn without_stage<'p>(path: &'p str, stage: Option<&str>) -> &'p str {
    let rest = stage.and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage));
    rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
}
