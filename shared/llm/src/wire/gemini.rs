//! Gemini's `POST {base}/models/{model}:streamGenerateContent`; the response is a stream of server-sent events without
//! a final event.

mod generation;
mod request;

use domain::ReasoningItem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::attempt_error::AttemptError;
use crate::endpoint_error::EndpointError;
use crate::lax::{ContentParts, arguments, nullable, ok_or_none};
use crate::wire::frame::Frame;
use crate::wire::{Decode, DeltaQueue, Phase};
use crate::{Finish, ModelError, NativeCall, TokenUsage};

pub(crate) use request::encode;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default, deserialize_with = "nullable")]
    candidates: Vec<Candidate<'a>>,
    #[serde(borrow, default)]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(borrow, default)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: ContentParts<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default, deserialize_with = "nullable")]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: ContentParts<'a>,
    /// Whether the text is reasoning.
    #[serde(default)]
    thought: bool,
    #[serde(borrow, default)]
    thought_signature: ContentParts<'a>,
    #[serde(borrow, default)]
    function_call: Option<Call<'a>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: ContentParts<'a>,
    #[serde(borrow, default)]
    name: ContentParts<'a>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow, default)]
    block_reason: ContentParts<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
struct Usage {
    prompt_token_count: u64,
    tool_use_prompt_token_count: u64,
    cached_content_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
}

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    has_calls: bool,
    usage: Option<TokenUsage>,
    finish: Option<Finish>,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        match frame {
            Frame::Event { kind: "error", data } => return Err(EndpointError::parse(data).to_stream_error()),
            Frame::Event { data, .. } if data.trim().is_empty() => {}
            Frame::Event { data, .. } => self.chunk(&parse(data)?, out)?,
            Frame::Bare(line) => {
                if let Ok(chunk) = serde_json::from_str(line) {
                    self.chunk(&chunk, out)?;
                }
            }
        }
        Ok(if self.finish.is_some() { Phase::Finished } else { Phase::Open })
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('[') {
            return parse::<Vec<Chunk<'_>>>(text)?.iter().try_for_each(|chunk| self.chunk(chunk, out));
        }
        self.chunk(&parse(text)?, out)
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let finish = self.finish.ok_or_else(|| AttemptError::transient(ModelError::Disconnected))?;
        out.push_finish(self.usage, if self.has_calls && finish == Finish::Stop { Finish::ToolCalls } else { finish });
        Ok(())
    }
}

impl Decoder {
    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if let Some(error) = chunk.error {
            return Err(EndpointError::parse(error.get()).to_stream_error());
        }
        if chunk.prompt_feedback.as_ref().is_some_and(|feedback| !feedback.block_reason.text.is_empty()) {
            return Err(AttemptError::fatal(ModelError::ContentFiltered));
        }
        self.usage = ok_or_none::<Usage>(chunk.usage_metadata).map(TokenUsage::from).or(self.usage);
        let Some(candidate) = chunk.candidates.iter().find(|candidate| candidate.index == 0) else { return Ok(()) };
        candidate.content.iter().flat_map(|content| &content.parts).try_for_each(|part| self.part(part, out))?;
        if !candidate.finish_reason.text.is_empty() {
            self.finish = Some(finish(&candidate.finish_reason.text)?);
        }
        Ok(())
    }

    fn part(&mut self, part: &Part<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
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
        let arguments = arguments(call.args);
        out.count_bytes(call.name.text.len() + arguments.len())?;
        self.has_calls = true;
        let native = NativeCall::new(&call.id.text, &call.name.text, &arguments);
        out.push_call(NativeCall { signature: signature.to_string(), ..native });
        Ok(())
    }
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.prompt_token_count + usage.tool_use_prompt_token_count,
            cached: usage.cached_content_token_count.min(usage.prompt_token_count),
            cache_writes: 0,
            output: usage.candidates_token_count + usage.thoughts_token_count,
        }
    }
}

fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, AttemptError> {
    serde_json::from_str(data).map_err(|_| AttemptError::fatal(ModelError::BadResponse))
}

/// Converts a finish reason. A malformed call or too many calls are a mistake of the model, so a retry may succeed.
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
