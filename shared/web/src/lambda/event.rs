//! Parses Lambda events as HTTP requests: payload format 2.0 (function URLs, HTTP APIs) and format 1.0 (REST APIs).

#[cfg(test)]
mod fuzz;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::ErrorCode;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpRequest;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{ApiError, SourceIp};

/// Marks a request whose caller Lambda has authorized by IAM; an extension of the request. No client can cause it by what it
/// sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct IamAuthorized;

/// Converts an event to a request with its [`SourceIp`] and [`IamAuthorized`]. An event that is no HTTP request is `invalid_request`.
pub(super) fn parse_request(event: &RawValue) -> Result<Request<Body>, ApiError> {
    let parts = parse_v2(event)
        .or_else(|| parse_v1(event))
        .filter(|parts| parts.path.starts_with('/'))
        .ok_or_else(unknown_format)?;
    let body = parts.body.unwrap_or_default();
    let body = if parts.is_base64 {
        STANDARD.decode(body).map_err(|_| invalid_request("The body of the event is not valid base64"))?
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
    invalid_request("The event is not an HTTP request of format 1.0 or 2.0")
}

fn invalid_request(message: &str) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, message)
}

/// The fields that both formats have.
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

fn parse_v2(event: &RawValue) -> Option<EventParts> {
    let event: ApiGatewayV2httpRequest = serde_json::from_str(event.get()).ok()?;
    let path = event.raw_path.filter(|_| event.version.as_deref() == Some("2.0"))?;
    Some(EventParts {
        method: event.request_context.http.method.as_str().to_owned(),
        path: percent_encode(without_stage(&path, event.request_context.stage.as_deref()), is_path_byte),
        query: event.raw_query_string.unwrap_or_default(),
        headers: event.headers,
        body: event.body,
        is_base64: event.is_base64_encoded,
        source_ip: event.request_context.http.source_ip,
        is_iam_authorized: event.request_context.authorizer.is_some_and(|authorizer| authorizer.iam.is_some()),
    })
}

/// An event of a REST API. Only `resource` distinguishes it from a load balancer's event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestEvent {
    #[serde(rename = "resource")]
    _resource: String,
    http_method: String,
    /// Without the stage.
    path: String,
    #[serde(default)]
    multi_value_headers: Option<BTreeMap<String, Vec<String>>>,
    /// Decoded.
    #[serde(default)]
    multi_value_query_string_parameters: Option<BTreeMap<String, Vec<String>>>,
    request_context: RestContext,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

#[derive(Deserialize)]
struct RestContext {
    identity: RestIdentity,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestIdentity {
    source_ip: Option<String>,
}

fn parse_v1(event: &RawValue) -> Option<EventParts> {
    let event: RestEvent = serde_json::from_str(event.get()).ok()?;
    Some(EventParts {
        method: event.http_method,
        path: percent_encode(&event.path, is_path_byte),
        query: encode_query(&event.multi_value_query_string_parameters.unwrap_or_default()),
        headers: to_header_map(event.multi_value_headers.unwrap_or_default()),
        body: event.body,
        is_base64: event.is_base64_encoded,
        source_ip: event.request_context.identity.source_ip,
        is_iam_authorized: false,
    })
}

fn encode_query(parameters: &BTreeMap<String, Vec<String>>) -> String {
    let pairs = parameters.iter().flat_map(|(name, values)| values.iter().map(move |value| (name, value)));
    let pairs = pairs.map(|(name, value)| {
        format!("{}={}", percent_encode(name, is_unreserved), percent_encode(value, is_unreserved))
    });
    pairs.collect::<Vec<_>>().join("&")
}

fn to_header_map(named_values: BTreeMap<String, Vec<String>>) -> HeaderMap {
    let pairs =
        named_values.into_iter().flat_map(|(name, values)| values.into_iter().map(move |value| (name.clone(), value)));
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.append(name, value);
        }
    }
    headers
}

/// Removes the stage from the path: in format 2.0 an API with a named stage prefixes it, a function URL does not.
fn without_stage<'p>(path: &'p str, stage: Option<&str>) -> &'p str {
    let rest = stage.and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage));
    rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
}

/// Whether a byte may appear unescaped in a path. The path is not normalised, and a proxy in front may have decoded it.
fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"#<>?^`{|}".contains(&byte)
}

/// Whether a byte needs no percent-encoding in a query: RFC 3986 calls it unreserved.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn percent_encode(text: &str, is_literal: fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_literal(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
