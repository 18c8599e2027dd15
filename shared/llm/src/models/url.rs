use platform::settings::parse_base_url;
use reqwest::Url;

use crate::{Cloud, Wire, providers};

pub(super) const ACCEPTED: &str = "an http or https URL without user, password, query and fragment";

const OLLAMA_PORT: &str = "11434";

/// Parses a base URL and removes the trailing slash; `None` if it is not accepted.
pub(super) fn parse_base(text: &str, wire: Wire) -> Option<String> {
    let text = if wire == Wire::Ollama { with_ollama_port(text) } else { text.to_owned() };
    // An empty user name counts as a user name.
    let base = parse_base_url(&text).filter(|_| !text.contains('@'))?;
    // The version is part of the request path; some users add it to the base URL.
    let unversioned = base.strip_suffix("/v1").filter(|_| wire == Wire::Anthropic).map(str::to_owned);
    Some(unversioned.unwrap_or(base))
}

pub(super) fn cloud_of(base: &str) -> Option<Cloud> {
    let url = Url::parse(base).ok()?;
    let host = url.host_str()?;
    // https://docs.aws.amazon.com/bedrock/latest/userguide/endpoints.html, 2026-11-26.
    let is_aws = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"].iter().any(|end| host.ends_with(end));
    // Source: packages/google-vertex of github.com/vercel/ai, 2026-11-26.
    let is_vertex =
        host.strip_suffix("aiplatform.googleapis.com").is_some_and(|rest| rest.is_empty() || rest.ends_with('-'))
            || matches!(host, "aiplatform.us.rep.googleapis.com" | "aiplatform.eu.rep.googleapis.com");
    match () {
        () if is_aws && bedrock_labels(host).is_some() => Some(Cloud::Bedrock),
        () if providers::is_azure(base) => Some(Cloud::Azure),
        () if is_vertex => Some(Cloud::Vertex),
        () => None,
    }
}

pub(super) fn region_of(base: &str) -> Option<String> {
    let url = Url::parse(base).ok().filter(|_| cloud_of(base) == Some(Cloud::Bedrock))?;
    bedrock_labels(url.host_str()?)?.next().map(str::to_owned)
}

/// The labels of a host after that of Amazon Bedrock.
fn bedrock_labels(host: &str) -> Option<impl Iterator<Item = &str>> {
    let mut labels = host.split('.');
    labels.find(|label| label.starts_with("bedrock-runtime") || label.starts_with("bedrock-mantle"))?;
    Some(labels)
}

/// Adds Ollama's port if there is none. It works on the text: a parsed URL loses an explicit `:80`.
fn with_ollama_port(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let has_port = host.rsplit(']').next().is_some_and(|tail| tail.contains(':'));
    if has_port || host.is_empty() { text.to_owned() } else { format!("{scheme}://{host}:{OLLAMA_PORT}{path}") }
}
