//! Requests and replies of the web search of Amazon Bedrock `AgentCore`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::provider_request::ProviderReply;
use crate::results::{SearchHit, SearchResults};
use crate::tavily_wire::{from_object, lenient, parse_date};

// Source: service model of botocore 1.44.8, 2026-11-26.
/// The service's name in signatures and host names.
pub(crate) const SERVICE: &str = "bedrock-agentcore";
// Source: service model of botocore 1.44.8, 2026-11-26.
pub(crate) const PATH: &str = "/web-search/web-search.v1/invoke";
// Source: service model of botocore 1.44.8, 2026-11-26.
pub(crate) const MAX_QUERY_CHARS: usize = 200;

/// The credits that a search counts as, whatever it finds.
const CREDITS: u64 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
    url: String,
    text: String,
    #[serde(default, deserialize_with = "lenient")]
    published_at: Option<String>,
}

pub(crate) fn encode(query: &str, max_results: usize, filters: Option<Value>) -> Vec<u8> {
    let mut body = json!({ "searchQuery": query, "maxResults": max_results });
    if let Some(filters) = filters {
        body["filters"] = filters;
    }
    body.to_string().into_bytes()
}

/// Parses results; a page without an address is skipped, because it cannot be cited. `None` if the body is not a reply.
pub(crate) fn parse(body: &[u8], max_results: usize) -> Option<ProviderReply<SearchResults>> {
    let mut body: Value = serde_json::from_str(&String::from_utf8_lossy(body)).ok()?;
    let Value::Array(rows) = body.get_mut("results")?.take() else { return None };
    let pages = rows.into_iter().filter_map(parse_hit).take(max_results).collect();
    Some(ProviderReply { answer: SearchResults { answer: None, pages }, credits: Some(CREDITS) })
}

/// Parses the seconds after which an unavailable service may be tried again.
pub(crate) fn parse_retry_after(body: &[u8]) -> Option<f64> {
    // Source: service model of botocore 1.44.8, 2026-11-26.
    serde_json::from_slice::<Value>(body).ok()?.get("retryAfterSeconds")?.as_f64()
}

fn parse_hit(row: Value) -> Option<SearchHit> {
    let row: Row = from_object(row)?;
    let page = SearchHit::new(row.title.as_deref().unwrap_or_default(), &row.url, &row.text)?;
    Some(SearchHit { date: row.published_at.as_deref().and_then(parse_date), ..page })
}
