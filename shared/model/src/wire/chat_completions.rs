//! OpenAI's chat completions: `POST {base}/chat/completions`; the response is a stream of server-sent events.
//!
//! The format is OpenAI's; decoding is lenient because other endpoints implement it with variations.

mod chosen;
mod chunk;
mod request;
mod same;

use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::sse::Frame;
use crate::wire::tool_calls::Calls;
use crate::wire::{Decode, Deltas, Phase};
use crate::{Finish, ModelError, TokenUsage};

use chunk::{Choice, Chunk, Message};
pub(crate) use request::encode;
use same::Same;

/// The state of one response so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    calls: Calls,
    usage: Option<TokenUsage>,
    finish: Option<Finish>,
    /// Whether the response is one document, which is complete without a finish reason.
    whole: bool,
    same: Same,
}

impl Decode for Decoder {
    fn frame(&mut self, frame: Frame<'_>, out: &mut Deltas) -> Result<Phase, Fault> {
        match frame {
            Frame::Event { data, .. } if data.trim_ascii() == "[DONE]" => return Ok(Phase::Done),
            Frame::Event { kind: "error", data } => return Err(Refusal::parse(data).in_stream()),
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

    fn document(&mut self, text: &str, out: &mut Deltas) -> Result<(), Fault> {
        let chunk: Chunk<'_> = parse(text)?;
        self.chunk(&chunk, out)?;
        if chunk.choices.is_empty() {
            return Err(Refusal::parse(text).in_stream());
        }
        self.whole = true;
        Ok(())
    }

    fn end(&mut self, out: &mut Deltas) -> Result<(), Fault> {
        let finish = match self.finish {
            Some(finish) => finish,
            None if self.whole => Finish::Stop,
            None => return Err(Fault::passing(ModelError::Disconnected)),
        };
        self.calls.give_out(self.usage, finish, out);
        Ok(())
    }
}

impl Decoder {
    fn data(&mut self, data: &str, out: &mut Deltas) -> Result<(), Fault> {
        if let Some(text) = self.same.text(data) {
            return out.text(text);
        }
        let chunk = parse(data)?;
        self.same.learn(data, &chunk);
        self.chunk(&chunk, out)
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Deltas) -> Result<(), Fault> {
        if let Some(error) = chunk.error() {
            return Err(Refusal::parse(error.get()).in_stream());
        }
        self.usage = chunk.usage().or(self.usage);
        match chunk.first_choice() {
            Some(choice) => self.choice(choice, out),
            None => Ok(()),
        }
    }

    fn choice(&mut self, choice: &Choice<'_>, out: &mut Deltas) -> Result<(), Fault> {
        if let Some(message) = choice.delta.as_ref().or(choice.message.as_ref()) {
            self.message(message, out)?;
        }
        if let Some(reason) = choice.finish_reason.as_deref().filter(|reason| !reason.is_empty()) {
            self.finish = Some(finish(reason)?);
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, out: &mut Deltas) -> Result<(), Fault> {
        out.thinking(message.reasoning())?;
        out.thinking(&message.content.thinking)?;
        out.text(&message.content.text)?;
        out.text(&message.refusal.text)?;
        for call in message.tool_calls.iter().flatten() {
            let arguments = call.arguments();
            self.calls.add(&call.piece(&arguments), out)?;
        }
        Ok(())
    }
}

fn parse(data: &str) -> Result<Chunk<'_>, Fault> {
    serde_json::from_str(data).map_err(|_| Fault::last(ModelError::BadResponse))
}

/// Converts a finish reason: those of OpenAI, Zhipu (`sensitive`, `network_error`), DeepSeek
/// (`insufficient_system_resource`), Mistral (`model_length`), OpenRouter (`error`) and vLLM (`abort`).
fn finish(reason: &str) -> Result<Finish, Fault> {
    match reason {
        "tool_calls" | "function_call" => Ok(Finish::ToolCalls),
        "length" | "max_tokens" | "model_length" => Ok(Finish::Length),
        "content_filter" | "sensitive" => Ok(Finish::ContentFilter),
        "error" | "abort" | "network_error" | "insufficient_system_resource" => {
            Err(Fault::passing(ModelError::Unavailable))
        }
        _ => Ok(Finish::Stop),
    }
}

#[cfg(test)]
mod tests;
