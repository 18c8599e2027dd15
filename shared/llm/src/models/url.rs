use reqwest::Url;

use crate::Wire;

pub(super) const ACCEPTED: &str = "an http or https URL without user, password, query and fragment";

const OLLAMA_PORT: &str = "11434";

/// Parses a base URL and removes the trailing slash; `None` if it is not accepted.
pub(super) fn parse_base(text: &str, wire: Wire) -> Option<String> {
    let text = if wire == Wire::Ollama { with_ollama_port(text) } else { text.to_owned() };
    let url = Url::parse(&text).ok()?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    let has_query = url.query().is_some() || url.fragment().is_some();
    let fits = matches!(url.scheme(), "http" | "https") && url.has_host() && !has_user && !has_query;
    // An empty user name counts as a user name.
    let mut base = url.as_str().trim_end_matches('/');
    if wire == Wire::Anthropic {
        // The version is part of the request path; some users add it to the base URL.
        base = base.strip_suffix("/v1").unwrap_or(base);
    }
    (fits && !text.contains('@')).then(|| base.to_owned())
}

/// Adds Ollama's port if there is none. It works on the text: a parsed URL loses an explicit `:80`.
fn with_ollama_port(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let has_port = host.rsplit(']').next().is_some_and(|tail| tail.contains(':'));
    if has_port || host.is_empty() { text.to_owned() } else { format!("{scheme}://{host}:{OLLAMA_PORT}{path}") }
}
