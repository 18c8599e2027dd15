//! The protocols of endpoints, one file for each.
//!
//! A wire encodes a prompt as a request and decodes the frames of the response into deltas. It knows nothing about
//! connections, time or attempts.

mod anthropic;
mod cache_control;
mod chat_completions;
mod delta_queue;
mod frame;
mod functions;
mod gemini;
mod ollama;
mod response_decoder;
mod responses;
mod short_ids;
mod sides;
mod tool_calls;

use domain::ProviderData;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use crate::attempt_error::AttemptError;
use crate::dialect::{Dialect, ReasoningEcho, ThinkingControl};
use crate::providers::Provider;
use crate::resolved_params::ResolvedParams;
use crate::{GenerationParams, ModelConfig, ModelError, Prompt, Wire};

pub(crate) use delta_queue::DeltaQueue;
pub(crate) use frame::Frame;
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

/// Maximum number of stop sequences that almost all endpoints accept.
const MAX_STOP_SEQUENCES: usize = 4;

impl<'a> WireRequest<'a> {
    /// Returns what this model sent with a reply; data of other models is never sent to it.
    fn own_data(&self, data: Option<&'a ProviderData>) -> Option<&'a ProviderData> {
        data.filter(|data| data.origin == self.origin)
    }

    /// Returns the stop sequences of the request and, as far as the endpoint accepts them, the prompt's markers.
    fn stop_sequences(&self) -> Vec<&'a str> {
        let own = &self.prompt.params.stop;
        let free = if self.quirks.stop_markers { MAX_STOP_SEQUENCES.saturating_sub(own.len()) } else { 0 };
        own.iter().map(String::as_str).chain(self.prompt.stop_markers.iter().copied().take(free)).collect()
    }
}

/// What an endpoint supports and requires.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about an endpoint")]
pub(crate) struct Quirks {
    /// The protocol.
    pub(crate) wire: Wire,
    /// Whether replies may be streamed.
    pub(crate) stream: bool,
    /// Whether `stream_options.include_usage` may be sent.
    pub(crate) usage_option: bool,
    /// Whether `tool_choice` may force a call.
    pub(crate) forced_choice: bool,
    /// Which assistant messages include `reasoning_content` once tools are used.
    pub(crate) echo_reasoning: ReasoningEcho,
    /// Whether past calls without a signature get a placeholder.
    pub(crate) signatures: bool,
    /// Whether ids of calls must have nine letters or digits.
    pub(crate) short_ids: bool,
    /// Whether the stable part of a prompt is marked for the provider's cache.
    pub(crate) cache_control: bool,
    /// Whether encrypted reasoning is requested, for the wire `responses`.
    pub(crate) encrypted_reasoning: bool,
    /// Whether encrypted reasoning of earlier replies is sent back.
    pub(crate) echo_encrypted: bool,
    /// Whether a summary of the reasoning is requested, for the wire `responses`.
    pub(crate) reasoning_summary: bool,
    /// Whether [`Prompt::stop_markers`] may be sent.
    pub(crate) stop_markers: bool,
    /// The supported generation parameters.
    pub(crate) parameters: ResolvedParams,
}

impl Quirks {
    /// Creates the quirks for a request with these parameters, before any rejection by the endpoint.
    pub(crate) fn new(provider: &Provider, config: &ModelConfig, params: &GenerationParams) -> Self {
        let Provider { usage_option, echo_reasoning, .. } = *provider;
        let short_ids = provider.has_short_ids(&config.model);
        let dialect = provider.dialect_of(&config.model);
        let parameters = ResolvedParams::new(&params.merge_over(&config.options), dialect);
        let stop_markers = dialect.stop_sequences;
        let Dialect { signatures, cache_control, thinking, .. } = dialect;
        Self {
            wire: config.wire,
            stream: true,
            usage_option,
            forced_choice: true,
            echo_reasoning,
            signatures,
            short_ids,
            cache_control,
            encrypted_reasoning: match thinking {
                ThinkingControl::Effort { .. } => true,
                // An unknown endpoint.
                ThinkingControl::Unknown => !dialect.effort_names.is_empty(),
                _ => false,
            },
            echo_encrypted: true,
            reasoning_summary: matches!(thinking, ThinkingControl::Effort { .. } | ThinkingControl::Reasoning),
            stop_markers,
            parameters,
        }
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

/// Decodes the frames of one response.
pub(crate) trait Decode: Send {
    /// Decodes a frame of a stream.
    fn frame(&mut self, frame: Frame<'_>, out: &mut DeltaQueue) -> Result<Phase, AttemptError>;

    /// Decodes a response that is one JSON document.
    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError>;

    /// Handles the end of the response and emits the pending calls, the usage and the finish.
    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError>;
}

/// Encodes `request` for the wire in its quirks.
pub(crate) fn encode(request: WireRequest<'_>) -> Result<HttpRequestParts, AttemptError> {
    match request.quirks.wire {
        Wire::Openai => chat_completions::encode(request),
        Wire::Responses => responses::encode(request),
        Wire::Ollama => ollama::encode(request),
        Wire::Anthropic => anthropic::encode(request),
        Wire::Gemini => gemini::encode(request),
    }
}

/// The decoder of any wire; an enum instead of a `Box`, because every delta uses it.
pub(crate) enum WireDecoder {
    Openai(chat_completions::Decoder),
    Responses(responses::Decoder),
    Ollama(ollama::Decoder),
    Anthropic(anthropic::Decoder),
    Gemini(gemini::Decoder),
}

impl WireDecoder {
    /// Creates the decoder of `wire`.
    pub(crate) fn new(wire: Wire) -> Self {
        match wire {
            Wire::Openai => Self::Openai(chat_completions::Decoder::default()),
            Wire::Responses => Self::Responses(responses::Decoder::default()),
            Wire::Ollama => Self::Ollama(ollama::Decoder::default()),
            Wire::Anthropic => Self::Anthropic(anthropic::Decoder::default()),
            Wire::Gemini => Self::Gemini(gemini::Decoder::default()),
        }
    }

    /// Returns the inner decoder.
    pub(crate) fn as_mut(&mut self) -> &mut dyn Decode {
        match self {
            Self::Openai(decoder) => decoder,
            Self::Responses(decoder) => decoder,
            Self::Ollama(decoder) => decoder,
            Self::Anthropic(decoder) => decoder,
            Self::Gemini(decoder) => decoder,
        }
    }
}

/// Returns the header that carries `key` over `wire`.
pub(crate) fn auth_header(wire: Wire, key: &SecretString) -> Result<(HeaderName, HeaderValue), AttemptError> {
    let key = key.expose_secret();
    let (name, value) = match wire {
        Wire::Openai | Wire::Responses | Wire::Ollama => (AUTHORIZATION, format!("Bearer {key}")),
        Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
        Wire::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
    };
    let mut value = HeaderValue::try_from(value).map_err(|_| AttemptError::fatal(ModelError::Auth))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
