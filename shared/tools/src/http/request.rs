//! Builds the request of a call.

use egress::{Limits, OverCap, Request};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::arguments::{pairs, text};
use super::endpoint::{WebEndpoint, slots};
use super::template::{Piece, UrlTemplate, pieces};

/// Longest response that is read, in bytes.
const MAX_BODY: usize = 256 * 1024;

/// Builds the request of a definition with these arguments; the error describes the required change for the model.
pub(crate) fn request(
    endpoint: &WebEndpoint,
    template: &UrlTemplate,
    arguments: &Map<String, Value>,
    header: Option<(&str, &SecretString)>,
) -> Result<Request, String> {
    let placed = |name: &str| {
        template.names().any(|used| used == name)
            || endpoint.headers.values().any(|value| slots(value).iter().any(|used| used == name))
    };
    let rest: Vec<(&String, &Value)> = arguments.iter().filter(|(name, _)| !placed(name)).collect();
    let query = if endpoint.asks_by_query() {
        rest.iter().flat_map(|(name, value)| pairs(name, value)).collect()
    } else {
        Vec::new()
    };
    let url = template.fill(arguments, &query)?;
    let method = Method::from_bytes(endpoint.method.as_bytes()).map_err(|_| "the method is unknown")?;
    let limits = Limits {
        total: endpoint.timeout(),
        read: endpoint.timeout(),
        body: MAX_BODY,
        over: OverCap::Truncate,
        ..Limits::default()
    };
    let mut request = Request::new(method, url).limits(limits);
    if !endpoint.asks_by_query() {
        let body: Map<String, Value> = rest.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        request = with(request, "content-type", "application/json")?.body(Value::Object(body).to_string().into_bytes());
    }
    for (name, value) in &endpoint.headers {
        request = with(request, name, &filled(value, arguments))?;
    }
    match header {
        Some((name, value)) => request.secret(name, value).map_err(|refusal| refusal.to_string()),
        None => Ok(request),
    }
}

fn with(request: Request, name: &str, value: &str) -> Result<Request, String> {
    request.header(name, value).map_err(|refusal| refusal.to_string())
}

fn filled(template: &str, arguments: &Map<String, Value>) -> String {
    let piece = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Slot { name, .. } => arguments.get(&name).map(text).unwrap_or_default(),
    };
    pieces(template).unwrap_or_default().into_iter().map(piece).collect()
}
