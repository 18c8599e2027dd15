//! OpenAI's chat completions: `POST {base}/chat/completions`; the response is a stream of server-sent events.
//!
//! The format is OpenAI's; decoding is lenient because other endpoints implement it with variations.

mod chunk;
mod chunk_template;
mod param_fields;
mod request;

use crate::attempt_error::AttemptError;
use crate::endpoint_error::EndpointError;
use crate::wire::frame::Frame;
use crate::wire::tool_calls::CallAssembler;
use crate::wire::{Decode, DeltaQueue, Phase};
use crate::{Finish, ModelError, TokenUsage};

use chunk::{Choice, Chunk, Message};
use chunk_template::ChunkTemplate;
pub(crate) use request::encode;

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    calls: CallAssembler,
    usage: Option<TokenUsage>,
    finish: Option<Finish>,
    /// Whether the response is one document, which is complete without a finish reason.
    is_document: bool,
    template: ChunkTemplate,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut DeltaQueue) -> Result<Phase, AttemptError> {
        match frame {
            Frame::Event { data, .. } if data.trim_ascii() == "[DONE]" => return Ok(Phase::Done),
            Frame::Event { kind: "error", data } => return Err(EndpointError::parse(data).to_stream_error()),
            Frame::Event { data, .. } if data.trim_ascii().is_empty() => {}
            Frame::Event { data, .. } => self.data(data, out)?,
            // A line outside the format is ignored unless it can be parsed.
            Frame::Bare(line) => {
                if let Ok(chunk) = serde_json::from_str(line) {
                    self.chunk(&chunk, out)?;
                }
            }
        }
        Ok(if self.finish.is_some() { Phase::Finished } else { Phase::Open })
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let chunk: Chunk<'_> = parse(text)?;
        self.chunk(&chunk, out)?;
        if chunk.choices.is_empty() {
            return Err(EndpointError::parse(text).to_stream_error());
        }
        self.is_document = true;
        Ok(())
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let finish = match self.finish {
            Some(finish) => finish,
            None if self.is_document => Finish::Stop,
            None => return Err(AttemptError::transient(ModelError::Disconnected)),
        };
        self.calls.emit(self.usage, finish, out);
        Ok(())
    }
}

impl Decoder {
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if let Some(text) = self.template.match_text(data) {
            return out.push_text(text);
        }
        let chunk = parse(data)?;
        self.template.update(data, &chunk);
        self.chunk(&chunk, out)
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if let Some(error) = chunk.error() {
            return Err(EndpointError::parse(error.get()).to_stream_error());
        }
        self.usage = chunk.usage().or(self.usage);
        match chunk.first_choice() {
            Some(choice) => self.choice(choice, out),
            None => Ok(()),
        }
    }

    fn choice(&mut self, choice: &Choice<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if let Some(message) = choice.delta.as_ref().or(choice.message.as_ref()) {
            self.message(message, out)?;
        }
        if let Some(reason) = choice.finish_reason.as_deref().filter(|reason| !reason.is_empty()) {
            self.finish = Some(finish(reason)?);
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        out.push_thinking(message.reasoning())?;
        out.push_thinking(&message.content.thinking)?;
        out.push_text(&message.content.text)?;
        out.push_text(&message.refusal.text)?;
        for call in message.tool_calls.iter().flatten() {
            let arguments = call.arguments();
            self.calls.add(&call.to_fragment(&arguments), out)?;
        }
        Ok(())
    }
}

fn parse(data: &str) -> Result<Chunk<'_>, AttemptError> {
    serde_json::from_str(data).map_err(|_| AttemptError::fatal(ModelError::BadResponse))
}

/// Converts a finish reason: those of OpenAI, Zhipu (`sensitive`, `network_error`), DeepSeek
/// (`insufficient_system_resource`), Mistral (`model_length`), OpenRouter (`error`) and vLLM (`abort`).
fn finish(reason: &str) -> Result<Finish, AttemptError> {
    match reason {
        "tool_calls" | "function_call" => Ok(Finish::ToolCalls),
        "length" | "max_tokens" | "model_length" => Ok(Finish::Length),
        "content_filter" | "sensitive" => Ok(Finish::ContentFilter),
        "error" | "abort" | "network_error" | "insufficient_system_resource" => {
            Err(AttemptError::transient(ModelError::Unavailable))
        }
        _ => Ok(Finish::Stop),
    }
}

#[cfg(test)]
mod tests;
