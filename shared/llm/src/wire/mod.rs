//! The protocols of endpoints, a folder and a line of [`protocol_of`] for each.
//!
//! A wire encodes a prompt as a request and decodes the response into deltas. It knows nothing about
//! connections, time or attempts.

mod anthropic;
mod cache_control;
mod chat_completions;
mod delta_queue;
mod fields;
mod functions;
mod gemini;
mod ollama;
mod quirks;
mod response_decoder;
mod responses;
mod short_ids;
mod sides;
mod tool_calls;

use domain::ProviderData;
use http::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::errors::{AttemptError, EndpointError};
use crate::{Finish, ModelError, Prompt, Wire};

pub(crate) use delta_queue::DeltaQueue;
use fields::Fields;
pub(crate) use quirks::Quirks;
pub(crate) use response_decoder::ResponseDecoder;

/// The input of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireRequest<'a> {
    /// The endpoint's name for the model.
    pub(crate) model: &'a str,
    /// The key of the model, as in `ProviderData::origin`.
    pub(crate) origin: &'a str,
    pub(crate) prompt: &'a Prompt,
    /// The quirks of the endpoint, with all fixes applied.
    pub(crate) quirks: Quirks,
}

impl<'a> WireRequest<'a> {
    /// Returns what this model sent with a reply; data of other models is never sent to it.
    fn own_data(&self, data: Option<&'a ProviderData>) -> Option<&'a ProviderData> {
        data.filter(|data| data.origin == self.origin)
    }
}

/// The wire-specific parts of an HTTP request.
#[derive(Debug)]
pub(crate) struct HttpRequestParts {
    /// Appended to the base URL; starts with a slash.
    pub(crate) path: String,
    /// JSON.
    pub(crate) body: Vec<u8>,
    /// In addition to those of every request.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl HttpRequestParts {
    fn new(path: impl Into<String>, body: &impl Serialize) -> Result<Self, AttemptError> {
        let body = serde_json::to_vec(body).map_err(|_| AttemptError::fatal(ModelError::Rejected))?;
        Ok(Self { path: path.into(), body, headers: Vec::new() })
    }
}

/// The progress of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Incomplete.
    Open,
    /// The finish reason has arrived: only the token usage may follow.
    Finished,
    /// The rest is ignored.
    Done,
}

impl Phase {
    /// The phase of a response whose finish reason may have arrived.
    fn of(finish: Option<Finish>) -> Self {
        if finish.is_some() { Self::Finished } else { Self::Open }
    }
}

/// Decodes one response.
pub(crate) trait Decode: Send {
    /// Decodes the data of an event, which is not blank.
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<Phase, AttemptError>;

    /// Decodes a line that starts with `{`: some endpoints write an error or a chunk without `data:`.
    fn bare_line(&mut self, line: &str, _: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        if line.contains("\"error\"") { Err(self.error(line)) } else { Ok(Phase::Open) }
    }

    /// Decodes the data of an error.
    fn error(&mut self, data: &str) -> AttemptError {
        EndpointError::parse(data).to_stream_error()
    }

    /// Decodes a response that is one JSON document.
    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError>;

    /// Handles the end of the response and emits the pending calls, the usage and the finish.
    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError>;
}

/// A protocol, as its folder defines it.
struct Protocol {
    encode: fn(WireRequest<'_>) -> Result<HttpRequestParts, AttemptError>,
    decoder: fn() -> Box<dyn Decode>,
    /// The header with the key, and what precedes the key in it.
    key_header: (HeaderName, &'static str),
    /// The base URL of the provider that defined the protocol.
    default_base: Option<&'static str>,
}

fn protocol_of(wire: Wire) -> &'static Protocol {
    match wire {
        Wire::Openai => &chat_completions::PROTOCOL,
        Wire::Responses => &responses::PROTOCOL,
        Wire::Ollama => &ollama::PROTOCOL,
        Wire::Anthropic => &anthropic::PROTOCOL,
        Wire::Gemini => &gemini::PROTOCOL,
    }
}

/// Encodes `request` for the wire in its quirks.
pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    (protocol_of(request.quirks.wire).encode)(request)
}

/// Returns the base URL for models whose settings have none; `None` for servers that have no common address.
pub(crate) fn default_base(wire: Wire) -> Option<&'static str> {
    protocol_of(wire).default_base
}

/// Returns the header that carries `key` over `wire`.
pub(crate) fn auth_header(wire: Wire, key: &SecretString) -> Result<(HeaderName, HeaderValue), AttemptError> {
    let (name, prefix) = &protocol_of(wire).key_header;
    let value = HeaderValue::try_from(format!("{prefix}{}", key.expose_secret()));
    let mut value = value.map_err(|_| AttemptError::fatal(ModelError::Auth))?;
    value.set_sensitive(true);
    Ok((name.clone(), value))
}

/// Parses a part of a response.
fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, AttemptError> {
    serde_json::from_str(data).map_err(|_| AttemptError::fatal(ModelError::BadResponse))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
