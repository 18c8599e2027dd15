//! Builds the request of a call.

use egress::{Limits, OnOversize, Request};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::endpoint::{WebEndpoint, slot_names};
use super::template::{Piece, UrlTemplate, parse_pieces, query_pairs, to_text};
use crate::call_error::CallError;

/// Longest response that is read, in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

pub(crate) fn build_request(
    endpoint: &WebEndpoint,
    template: &UrlTemplate,
    arguments: &Map<String, Value>,
    header: Option<(&str, &SecretString)>,
) -> Result<Request, CallError> {
    let has_slot = |name: &str| {
        template.names().any(|used| used == name)
            || endpoint.headers.values().any(|value| slot_names(value).iter().any(|used| used == name))
    };
    let rest: Vec<(&String, &Value)> = arguments.iter().filter(|(name, _)| !has_slot(name)).collect();
    let query = if endpoint.uses_query() {
        rest.iter().flat_map(|(name, value)| query_pairs(name, value)).collect()
    } else {
        Vec::new()
    };
    let url = template.fill(arguments, &query).ok_or(CallError::InvalidPath)?;
    let method = Method::from_bytes(endpoint.method.as_bytes()).map_err(|_| CallError::AddressNotAllowed)?;
    let (total_timeout, read_timeout) = (endpoint.timeout(), endpoint.timeout());
    let size = Limits { max_body_bytes: MAX_BODY_BYTES, on_oversize: OnOversize::Truncate, ..Limits::default() };
    let limits = Limits { total_timeout, read_timeout, ..size };
    let mut request = Request::new(method, url).limits(limits);
    if !endpoint.uses_query() {
        let body: Map<String, Value> = rest.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        request = with_header(request, "content-type", "application/json")?
            .body(Value::Object(body).to_string().into_bytes());
    }
    for (name, value) in &endpoint.headers {
        request = with_header(request, name, &fill_header(value, arguments))?;
    }
    match header {
        Some((name, value)) => request.secret(name, value).map_err(|_| CallError::NoSecret),
        None => Ok(request),
    }
}

fn with_header(request: Request, name: &str, value: &str) -> Result<Request, CallError> {
    request.header(name, value).map_err(|_| CallError::InvalidHeader)
}

fn fill_header(template: &str, arguments: &Map<String, Value>) -> String {
    let piece = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Slot { name, .. } => arguments.get(&name).map(to_text).unwrap_or_default(),
    };
    parse_pieces(template).unwrap_or_default().into_iter().map(piece).collect()
}
