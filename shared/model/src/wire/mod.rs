//! The protocols of endpoints, a file for each.
//!
//! A wire turns a prompt into a request and the frames of the response into deltas. It knows nothing of connections,
//! time or attempts.

mod anthropic;
mod chat_completions;
mod decoding;
mod deltas;
mod functions;
mod gemini;
pub(crate) mod lax;
mod ollama;
mod tool_calls;
mod turns;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use crate::fault::Fault;
use crate::parameters::Parameters;
use crate::providers::Provider;
use crate::sse::Frame;
use crate::{ModelConfig, ModelError, Prompt, Wire, Wishes};

pub(crate) use decoding::Decoding;
pub(crate) use deltas::Deltas;

/// What a request is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// The endpoint's name for the model.
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a Prompt,
    /// The endpoint's particulars, as far as they are known and learned.
    pub(crate) quirks: Quirks,
}

/// What an endpoint takes and wants.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about an endpoint")]
pub(crate) struct Quirks {
    /// Whether `stream_options.include_usage` may be sent.
    pub(crate) usage_option: bool,
    /// Whether a call may be demanded by `tool_choice`.
    pub(crate) forced_choice: bool,
    /// Whether assistant messages must carry `reasoning_content` once tools are used.
    pub(crate) echo_reasoning: bool,
    /// Whether past calls must carry a signature.
    pub(crate) signatures: bool,
    /// What the operator chose, as far as it is taken.
    pub(crate) parameters: Parameters,
}

impl Quirks {
    /// What is known of a model before its endpoint refused anything, for a request with these wishes.
    pub(crate) fn new(provider: &Provider, config: &ModelConfig, wishes: &Wishes) -> Self {
        let Provider { usage_option, echo_reasoning, .. } = *provider;
        let parameters = Parameters::new(&wishes.over(&config.options), provider.dialect_of(&config.model));
        Self { usage_option, forced_choice: true, echo_reasoning, signatures: false, parameters }
    }
}

/// A request in the words of a wire.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// Joined to the base URL; begins with a slash.
    pub(crate) path: String,
    /// JSON.
    pub(crate) body: Vec<u8>,
    /// Beside those that every request has.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Encoded {
    fn new(path: impl Into<String>, body: &impl Serialize) -> Result<Self, Fault> {
        let body = serde_json::to_vec(body).map_err(|_| Fault::last(ModelError::Rejected))?;
        Ok(Self { path: path.into(), body, headers: Vec::new() })
    }
}

/// How far a response has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// More must come.
    Open,
    /// The reason for the end came: the rest is at most what was counted.
    Finished,
    /// Nothing more counts.
    Done,
}

/// Reads the frames of one response.
pub(crate) trait Decode: Send {
    /// Takes a frame of a stream.
    fn frame(&mut self, frame: Frame<'_>, out: &mut Deltas) -> Result<Phase, Fault>;

    /// Takes a response that came as one JSON document.
    fn document(&mut self, text: &str, out: &mut Deltas) -> Result<(), Fault>;

    /// Takes the end of the response and gives out what was kept for it: calls, usage and the finish.
    fn end(&mut self, out: &mut Deltas) -> Result<(), Fault>;
}

/// The request that asks for `ask` over `wire`.
pub(crate) fn encode(wire: Wire, ask: Ask<'_>) -> Result<Encoded, Fault> {
    match wire {
        Wire::Openai => chat_completions::encode(ask),
        Wire::Ollama => ollama::encode(ask),
        Wire::Anthropic => anthropic::encode(ask),
        Wire::Gemini => gemini::encode(ask),
    }
}

/// A decoder of any wire; it stands where it is used, since each word needs it.
pub(crate) enum Decoder {
    Openai(chat_completions::Decoder),
    Ollama(ollama::Decoder),
    Anthropic(anthropic::Decoder),
    Gemini(gemini::Decoder),
}

impl Decoder {
    /// A decoder for a response over `wire`.
    pub(crate) fn new(wire: Wire) -> Self {
        match wire {
            Wire::Openai => Self::Openai(chat_completions::Decoder::default()),
            Wire::Ollama => Self::Ollama(ollama::Decoder::default()),
            Wire::Anthropic => Self::Anthropic(anthropic::Decoder::default()),
            Wire::Gemini => Self::Gemini(gemini::Decoder::default()),
        }
    }

    /// The one that it is.
    pub(crate) fn as_mut(&mut self) -> &mut dyn Decode {
        match self {
            Self::Openai(decoder) => decoder,
            Self::Ollama(decoder) => decoder,
            Self::Anthropic(decoder) => decoder,
            Self::Gemini(decoder) => decoder,
        }
    }
}

/// The headers that carry `key` over `wire`.
pub(crate) fn authorisation(wire: Wire, key: &SecretString) -> Result<(HeaderName, HeaderValue), Fault> {
    let key = key.expose_secret();
    let (name, value) = match wire {
        Wire::Openai | Wire::Ollama => (AUTHORIZATION, format!("Bearer {key}")),
        Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
        Wire::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
    };
    let mut value = HeaderValue::try_from(value).map_err(|_| Fault::last(ModelError::Auth))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod dialects;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
