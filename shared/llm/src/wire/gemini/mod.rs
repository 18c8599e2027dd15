//! Gemini's `POST {base}/models/{model}:streamGenerateContent`; the response is a stream of server-sent events without
//! a final event.

mod param_fields;
mod request;

use domain::ReasoningItem;
use http::HeaderName;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::errors::AttemptError;
use crate::lax::{ContentParts, Lax, arguments, nullable};
use crate::wire::{Decode, DeltaQueue, Protocol, counts, parse, stream_error};
use crate::{Finish, ModelError, TokenUsage};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (HeaderName::from_static("x-goog-api-key"), ""),
    default_base: Some("https://generativelanguage.googleapis.com/v1beta"),
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "nullable")]
    candidates: Vec<Candidate<'a>>,
    prompt_feedback: Lax<Value>,
    usage_metadata: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    index: u64,
    #[serde(borrow)]
    content: Option<Content<'a>>,
    finish_reason: ContentParts<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow, deserialize_with = "nullable")]
    parts: Vec<Part<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: ContentParts<'a>,
    thought: bool,
    thought_signature: ContentParts<'a>,
    function_call: Option<Call<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: ContentParts<'a>,
    name: ContentParts<'a>,
    args: Option<&'a RawValue>,
}

#[derive(Default)]
pub(crate) struct Decoder {
    /// The JSON of the latest usage; each chunk has one.
    usage: String,
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        self.chunk(&parse(data)?, out)
    }

    fn bare_line(&mut self, line: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        parse(line).map_or(Ok(()), |chunk| self.chunk(&chunk, out))
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('[') {
            return parse::<Vec<Chunk<'_>>>(text)?.iter().try_for_each(|chunk| self.chunk(chunk, out));
        }
        self.chunk(&parse(text)?, out)
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.usage = serde_json::from_str(&self.usage).ok().as_ref().map(usage);
        out.push_end()
    }
}

impl Decoder {
    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if let Some(error) = chunk.error {
            return Err(stream_error(error.get()));
        }
        let block_reason = chunk.prompt_feedback.0.as_ref().and_then(|feedback| feedback["blockReason"].as_str());
        if block_reason.is_some_and(|reason| !reason.is_empty()) {
            return Err(AttemptError::fatal(ModelError::ContentFiltered { category: None }));
        }
        if let Some(usage) = chunk.usage_metadata.filter(|usage| usage.get().starts_with('{')) {
            usage.get().clone_into(&mut self.usage);
        }
        let Some(candidate) = chunk.candidates.iter().find(|candidate| candidate.index == 0) else { return Ok(()) };
        candidate.content.iter().flat_map(|content| &content.parts).try_for_each(|part| Self::part(part, out))?;
        if !candidate.finish_reason.text.is_empty() {
            out.finish = Some(finish(&candidate.finish_reason.text)?);
        }
        Ok(())
    }

    fn part(part: &Part<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if part.thought {
            out.push_thinking(&part.text.text)?;
        } else {
            out.push_text(&part.text.text)?;
        }
        let signature = &part.thought_signature.text;
        out.count_bytes(signature.len())?;
        let Some(call) = part.function_call.as_ref().filter(|call| !call.name.text.trim().is_empty()) else {
            if !signature.is_empty() {
                out.push_reasoning(ReasoningItem::TextSignature { signature: signature.to_string() });
            }
            return Ok(());
        };
        out.push_whole_call(&call.id.text, &call.name.text, &arguments(call.args), signature)
    }
}

fn usage(usage: &Value) -> TokenUsage {
    let [prompt, tool_use, cached] =
        counts(usage, ["/promptTokenCount", "/toolUsePromptTokenCount", "/cachedContentTokenCount"]);
    let [answer, thoughts] = counts(usage, ["/candidatesTokenCount", "/thoughtsTokenCount"]);
    let (input, output) = (prompt.saturating_add(tool_use), answer.saturating_add(thoughts));
    TokenUsage { input, cached: cached.min(prompt), cache_writes: 0, output }
}

/// Converts a finish reason. A malformed call or too many calls are a mistake of the model, so a retry may succeed.
// Seen in `fixtures/gemini`: `malformed_call.sse`, `too_many_calls.sse`, `unsafe_answer.sse` and others, 2026-11-22.
fn finish(reason: &str) -> Result<Finish, AttemptError> {
    match reason {
        "MAX_TOKENS" => Ok(Finish::Length),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            Ok(Finish::ContentFilter)
        }
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => {
            Err(AttemptError::slip())
        }
        _ => Ok(Finish::Stop),
    }
}
