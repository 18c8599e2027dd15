//! The protocols of endpoints, a folder and a line of [`protocol_of`] for each.
//!
//! A wire encodes a prompt as a request and decodes the response into deltas. It knows nothing about
//! connections, time or attempts.

mod anthropic;
mod call_numbers;
mod chat_completions;
mod converse;
mod delta_queue;
mod event_stream;
mod fields;
mod functions;
mod gemini;
mod ollama;
mod pictures;
mod quirks;
mod response_decoder;
mod responses;
mod sides;
mod tool_calls;

use domain::ProviderData;
use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::errors::{AttemptError, EndpointError};
use crate::{ModelError, Prompt, Wire};

pub(crate) use delta_queue::DeltaQueue;
use event_stream::Message;
use fields::Fields;
pub(crate) use pictures::has_pictures;
pub(crate) use quirks::Quirks;
pub(crate) use response_decoder::ResponseDecoder;

#[derive(Clone, Copy, Debug)]
pub(crate) struct WireRequest<'a> {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Open,
    /// The finish reason has arrived: only the token usage may follow.
    Finished,
    /// The rest is ignored.
    Done,
}

pub(crate) trait Decode: Send {
    /// Decodes the data of an event, which is not blank.
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError>;

    /// Decodes a line that starts with `{`: some endpoints write an error or a chunk without `data:`.
    fn bare_line(&mut self, line: &str, _: &mut DeltaQueue) -> Result<(), AttemptError> {
        if line.contains("\"error\"") { Err(stream_error(line)) } else { Ok(()) }
    }

    fn error(&mut self, data: &str, _: &mut DeltaQueue) -> AttemptError {
        stream_error(data)
    }

    /// Decodes a message of a binary event stream; other wires have none.
    fn message(&mut self, _: &Message<'_>, _: &mut DeltaQueue) -> Result<(), AttemptError> {
        Err(AttemptError::fatal(ModelError::BadResponse))
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError>;

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.push_end()
    }
}

pub(crate) struct Protocol {
    encode: fn(WireRequest<'_>) -> Result<HttpRequestParts, AttemptError>,
    decoder: fn() -> Box<dyn Decode>,
    pub(crate) key_header: (HeaderName, &'static str),
    /// The base URL for models whose settings have none; `None` for servers that have no common address.
    pub(crate) default_base: Option<&'static str>,
}

pub(crate) fn protocol_of(wire: Wire) -> &'static Protocol {
    match wire {
        Wire::Openai => &chat_completions::PROTOCOL,
        Wire::Responses => &responses::PROTOCOL,
        Wire::Ollama => &ollama::PROTOCOL,
        Wire::Anthropic => &anthropic::PROTOCOL,
        Wire::Gemini => &gemini::PROTOCOL,
        Wire::Converse => &converse::PROTOCOL,
    }
}

pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    (protocol_of(request.quirks.wire).encode)(request)
}

fn stream_error(data: &str) -> AttemptError {
    EndpointError::parse(data).to_stream_error()
}

/// Returns the counts at these paths of a JSON object; 0 for one that is absent or of another type.
fn counts<const N: usize>(json: &Value, paths: [&str; N]) -> [u64; N] {
    paths.map(|path| json.pointer(path).and_then(Value::as_u64).unwrap_or_default())
}

fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, AttemptError> {
    serde_json::from_str(data).map_err(|_| AttemptError::fatal(ModelError::BadResponse))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
