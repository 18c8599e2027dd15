use std::collections::BTreeMap;
use std::time::Duration;

use domain::{Failure, StrictObject};
use egress::Policy;
use serde::{Deserialize, Serialize};

use super::Auth;
use super::template::{Piece, UrlTemplate, parse_pieces};

const WEB_ENDPOINT_FIELDS: &str = "`urlTemplate`, `method`, `headers`, `auth`, `timeoutSeconds`";

const SERVER_FIELDS: &str = "`url`, `headers`, `auth`, `timeoutSeconds`";

/// Other accepted spellings of fields.
const ENDPOINT_ALIASES: [(&str, &str); 3] =
    [("url_template", "urlTemplate"), ("timeout_seconds", "timeoutSeconds"), ("timeout", "timeoutSeconds")];

/// The fields of an endpoint that a definition without `endpoint` has itself.
const FLAT_FIELDS: [&str; 6] = ["urlTemplate", "url", "method", "headers", "auth", "timeoutSeconds"];

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The endpoint of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Endpoint {
    /// A host.
    Web(WebEndpoint),
    /// A server that lists its own tools.
    Server(ServerEndpoint),
    /// A built-in tool.
    Internal {
        /// The tool.
        #[serde(rename = "urlTemplate")]
        tool: BuiltinTool,
    },
}

/// The built-in tools that a definition can expose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuiltinTool {
    /// `calculator`.
    #[serde(rename = "internal://calculator")]
    Calculator,
    /// `current_time`.
    #[serde(rename = "internal://time")]
    Time,
}

/// A request to a host.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebEndpoint {
    /// A URL with `{parameter}`s in its path and query.
    pub url_template: String,
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// Headers, whose values may hold `{parameter}`s.
    pub headers: BTreeMap<String, String>,
    /// Its authentication.
    pub auth: Auth,
    /// The timeout of one call, in seconds.
    pub timeout_seconds: u32,
}

/// A Model Context Protocol server, reached by streamable HTTP.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerEndpoint {
    /// Its one URL.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Its authentication.
    pub auth: Auth,
    /// The timeout of one call, in seconds.
    pub timeout_seconds: u32,
}

impl WebEndpoint {
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_seconds))
    }

    /// Whether parameters without a slot are sent in the query.
    pub(crate) fn uses_query(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "DELETE")
    }
}

pub(super) fn parse_endpoint(fields: &mut StrictObject, policy: Policy, kind: ToolKind) -> Result<Endpoint, Failure> {
    let mut fields = take_endpoint(fields)?;
    if kind == ToolKind::Mcp {
        return parse_server(fields, policy);
    }
    let url_template = fields.take_string("urlTemplate")?.unwrap_or_default();
    if let Ok(tool) = serde_json::from_value(url_template.as_str().into()) {
        fields.reject_unknown("`urlTemplate`")?;
        return Ok(Endpoint::Internal { tool });
    }
    UrlTemplate::parse(&url_template, policy).map_err(|accepted| fields.field_error("urlTemplate", &accepted))?;
    let method = fields.take_string("method")?.unwrap_or_else(|| "GET".to_owned());
    if !METHODS.contains(&method.as_str()) {
        return Err(fields.field_error("method", "GET, POST, PUT, PATCH or DELETE"));
    }
    let auth = fields.take_nested("auth")?.map(Auth::parse).transpose()?.unwrap_or_default();
    let headers = parse_headers(&mut fields, &auth)?;
    let (max_seconds, default_seconds) = if kind == ToolKind::Streamable { (120, 60) } else { (30, 10) };
    let timeout_seconds = fields.take_u32("timeoutSeconds", 1..=max_seconds)?.unwrap_or(default_seconds);
    fields.reject_unknown(WEB_ENDPOINT_FIELDS)?;
    Ok(Endpoint::Web(WebEndpoint { url_template, method, headers, auth, timeout_seconds }))
}

/// The fields of the endpoint: in an object of their own, or next to those of the definition.
fn take_endpoint(fields: &mut StrictObject) -> Result<StrictObject, Failure> {
    if let Some(mut inner) = fields.take_nested("endpoint")? {
        inner.accept_aliases(&ENDPOINT_ALIASES)?;
        return Ok(inner);
    }
    fields.accept_aliases(&ENDPOINT_ALIASES)?;
    fields.take_group(&FLAT_FIELDS).ok_or_else(|| fields.field_error("endpoint", "given: an object"))
}

fn parse_server(mut fields: StrictObject, policy: Policy) -> Result<Endpoint, Failure> {
    let url = fields.take_string("url")?.unwrap_or_default();
    policy.parse(&url).map_err(|refusal| fields.field_error("url", &format!("a URL of an allowed host; {refusal}")))?;
    let auth = fields.take_nested("auth")?.map(Auth::parse).transpose()?.unwrap_or_default();
    let headers = parse_headers(&mut fields, &auth)?;
    if headers.values().any(|value| !slot_names(value).is_empty()) {
        return Err(fields.field_error("headers", "without `{name}`: they are the same for every tool of the server"));
    }
    let timeout_seconds = fields.take_u32("timeoutSeconds", 1..=120)?.unwrap_or(30);
    fields.reject_unknown(SERVER_FIELDS)?;
    Ok(Endpoint::Server(ServerEndpoint { url, headers, auth, timeout_seconds }))
}

fn parse_headers(fields: &mut StrictObject, auth: &Auth) -> Result<BTreeMap<String, String>, Failure> {
    let accepted = "an object of at most 20 headers, each a string; credentials belong in `auth`";
    let given = fields.take_object("headers")?.unwrap_or_default();
    let free =
        |name: &str| egress::is_settable(name) && auth.header().is_none_or(|used| !used.eq_ignore_ascii_case(name));
    let mut headers = BTreeMap::new();
    for (name, value) in given {
        let value = value.as_str().filter(|text| text.len() <= 1000 && !text.chars().any(char::is_control));
        let value = value.filter(|text| free(&name) && parse_pieces(text).is_some() && headers.len() < 20);
        headers.insert(name.clone(), value.ok_or_else(|| fields.field_error("headers", accepted))?.to_owned());
    }
    Ok(headers)
}

pub(crate) fn slot_names(text: &str) -> Vec<String> {
    let name = |piece| if let Piece::Slot { name, .. } = piece { Some(name) } else { None };
    parse_pieces(text).unwrap_or_default().into_iter().filter_map(name).collect()
}

/// How the response of a tool arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Whole.
    #[default]
    Invokable,
    /// As a stream, over a longer time.
    Streamable,
    /// From the tools of a Model Context Protocol server.
    Mcp,
}

impl ToolKind {
    /// Parses the field `type` of a definition; `invokable` by default.
    pub(super) fn parse(fields: &mut StrictObject) -> Result<Self, Failure> {
        let Some(text) = fields.take_string("type")? else { return Ok(Self::default()) };
        let accepted = "\"invokable\", \"streamable\" or \"mcp\"";
        serde_json::from_value(text.into()).map_err(|_| fields.field_error("type", accepted))
    }
}
