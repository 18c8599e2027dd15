use std::collections::BTreeMap;
use std::time::Duration;

use conversation::Failure;
use egress::Policy;
use protocols::Fields;
use serde::Serialize;

use super::template::{Piece, UrlTemplate, pieces};
use super::{Auth, ToolKind};

const ACCEPTED_OF_AN_ENDPOINT: &str = "`urlTemplate`, `method`, `headers`, `auth`, `timeoutSeconds`";

const ACCEPTED_OF_A_SERVER: &str = "`url`, `headers`, `auth`, `timeoutSeconds`";

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
        tool: Internal,
    },
}

/// The built-in tools that a definition can expose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Internal {
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
    pub(crate) fn asks_by_query(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "DELETE")
    }
}

/// Parses the endpoint of a definition.
pub(super) fn endpoint(fields: &mut Fields, policy: Policy, kind: ToolKind) -> Result<Endpoint, Failure> {
    let inner = fields.inner("endpoint")?;
    let mut fields = inner.ok_or_else(|| fields.wrong("endpoint", "given: an object"))?;
    if kind == ToolKind::Mcp {
        return server(fields, policy);
    }
    let url_template = fields.text("urlTemplate")?.unwrap_or_default();
    let internal = match url_template.as_str() {
        "internal://calculator" => Some(Internal::Calculator),
        "internal://time" => Some(Internal::Time),
        _ => None,
    };
    if let Some(tool) = internal {
        fields.finish("`urlTemplate`")?;
        return Ok(Endpoint::Internal { tool });
    }
    UrlTemplate::parse(&url_template, policy).map_err(|accepted| fields.wrong("urlTemplate", &accepted))?;
    let method = fields.text("method")?.unwrap_or_else(|| "GET".to_owned());
    if !METHODS.contains(&method.as_str()) {
        return Err(fields.wrong("method", "GET, POST, PUT, PATCH or DELETE"));
    }
    let auth = fields.inner("auth")?.map(Auth::parse).transpose()?.unwrap_or_default();
    let headers = headers(&mut fields, &auth)?;
    let (most, usual) = if kind == ToolKind::Streamable { (120, 60) } else { (30, 10) };
    let timeout_seconds = fields.whole("timeoutSeconds", 1..=most)?.unwrap_or(usual);
    fields.finish(ACCEPTED_OF_AN_ENDPOINT)?;
    Ok(Endpoint::Web(WebEndpoint { url_template, method, headers, auth, timeout_seconds }))
}

fn server(mut fields: Fields, policy: Policy) -> Result<Endpoint, Failure> {
    let url = fields.text("url")?.unwrap_or_default();
    policy.parse(&url).map_err(|refusal| fields.wrong("url", &format!("a URL that may be asked; {refusal}")))?;
    let auth = fields.inner("auth")?.map(Auth::parse).transpose()?.unwrap_or_default();
    let headers = headers(&mut fields, &auth)?;
    if headers.values().any(|value| !slots(value).is_empty()) {
        return Err(fields.wrong("headers", "without `{name}`: they are the same for every tool of the server"));
    }
    let timeout_seconds = fields.whole("timeoutSeconds", 1..=120)?.unwrap_or(30);
    fields.finish(ACCEPTED_OF_A_SERVER)?;
    Ok(Endpoint::Server(ServerEndpoint { url, headers, auth, timeout_seconds }))
}

fn headers(fields: &mut Fields, auth: &Auth) -> Result<BTreeMap<String, String>, Failure> {
    let accepted = "an object of at most 20 headers, each a text; who asks is said in `auth`";
    let given = fields.object("headers")?.unwrap_or_default();
    let free = |name: &str| egress::is_free(name) && auth.header().is_none_or(|used| !used.eq_ignore_ascii_case(name));
    let mut headers = BTreeMap::new();
    for (name, value) in given {
        let value = value.as_str().filter(|text| text.len() <= 1000 && !text.chars().any(char::is_control));
        let value = value.filter(|text| free(&name) && pieces(text).is_some() && headers.len() < 20);
        headers.insert(name.clone(), value.ok_or_else(|| fields.wrong("headers", accepted))?.to_owned());
    }
    Ok(headers)
}

/// Returns the names of the slots in a header's value.
pub(crate) fn slots(text: &str) -> Vec<String> {
    let name = |piece| if let Piece::Slot { name, .. } = piece { Some(name) } else { None };
    pieces(text).unwrap_or_default().into_iter().filter_map(name).collect()
}
