//! OpenAI's chat completions: `POST {base}/chat/completions`; the response is a stream of server-sent events.
//!
//! The format is OpenAI's; decoding is lenient because other endpoints implement it with variations.

mod chunk;
mod chunk_template;
mod param_fields;
mod request;

use domain::{ReasoningDetail, ReasoningItem};
use http::header::AUTHORIZATION;

use crate::errors::AttemptError;
use crate::lax::arguments;
use crate::wire::tool_calls::CallFragment;
use crate::wire::{Decode, DeltaQueue, Protocol, parse, stream_error};
use crate::{Finish, ModelError};

pub(super) use chunk::CallDelta;
use chunk::{Choice, Chunk, Message};
use chunk_template::ChunkTemplate;
pub(super) use param_fields::{effort, switch_fields};

pub(super) static PROTOCOL: Protocol = Protocol {
    encode: request::encode,
    decoder: || Box::new(Decoder::default()),
    key_header: (AUTHORIZATION, "Bearer "),
    default_base: Some("https://api.openai.com/v1"),
};

#[derive(Default)]
pub(crate) struct Decoder {
    /// The JSON of the latest usage; at some endpoints each chunk has one.
    usage: String,
    /// The reasoning that the provider must receive back.
    details: Vec<ReasoningDetail>,
    finished_id: String,
    /// An error after the finish reason of a reply with calls, which must not run then.
    late_error: Option<AttemptError>,
    /// Whether the response is one document, which is complete without a finish reason.
    is_document: bool,
    template: ChunkTemplate,
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if data.trim_ascii() == "[DONE]" {
            out.is_done = true;
            return Ok(());
        }
        if let Some(text) = self.template.match_text(data) {
            return out.push_text(text);
        }
        let chunk: Chunk<'_> = parse(data)?;
        if chunk.has_failed_base_resp() {
            return Err(self.error(data, out));
        }
        self.template.update(data, &chunk);
        self.chunk(&chunk, out)
    }

    fn bare_line(&mut self, line: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        parse(line).map_or(Ok(()), |chunk| self.chunk(&chunk, out))
    }

    /// After the finish reason of a reply with calls, an error also fails the reply.
    fn error(&mut self, text: &str, out: &mut DeltaQueue) -> AttemptError {
        let error = stream_error(text);
        if out.finish == Some(Finish::ToolCalls) {
            self.late_error = Some(error.clone());
        }
        error
    }

    fn document(&mut self, text: &str, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        self.is_document = true;
        let chunk: Chunk<'_> = parse(text)?;
        self.chunk(&chunk, out)?;
        if chunk.choices.is_empty() {
            return Err(self.error(text, out));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if let Some(error) = self.late_error.take() {
            return Err(error);
        }
        // Some endpoints end a stream with `[DONE]` alone. That completes text and whole calls.
        let has_answer = out.calls.are_complete() || (out.calls.is_empty() && out.has_text);
        if self.is_document || (out.is_done && has_answer) {
            out.finish.get_or_insert(Finish::Stop);
        }
        if out.finish.is_some() {
            self.details.drain(..).for_each(|detail| out.push_reasoning(ReasoningItem::Detail(detail)));
        }
        out.usage = chunk::to_usage(&self.usage);
        out.push_end()
    }
}

impl Decoder {
    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        if let Some(error) = chunk.error() {
            return Err(self.error(error.get(), out));
        }
        if let Some(usage) = chunk.usage() {
            usage.clone_into(&mut self.usage);
        }
        // Some gateways append a second completion to a finished one.
        let is_other = !self.finished_id.is_empty() && !chunk.id.text.is_empty() && chunk.id.text != self.finished_id;
        let Some(choice) = chunk.first_choice().filter(|_| !is_other) else { return Ok(()) };
        self.choice(choice, out)?;
        if out.finish.is_some() && self.finished_id.is_empty() {
            self.finished_id = chunk.id.text.to_string();
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Choice<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        // Perplexity sends both: the delta is complete in a stream only.
        let (delta, message) = (choice.delta.as_ref(), choice.message.as_ref());
        if let Some(message) = if self.is_document { message.or(delta) } else { delta.or(message) } {
            self.message(message, out)?;
        }
        if let Some(reason) = Some(&*choice.finish_reason.text).filter(|reason| !reason.is_empty()) {
            let reason = finish(reason)?;
            let cut = matches!(reason, Finish::Stop | Finish::ToolCalls) && choice.is_cut_by_limit();
            out.finish = Some(if cut { Finish::Length } else { reason });
        }
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        let reasoning = message.reasoning();
        out.push_thinking(reasoning)?;
        for detail in message.reasoning_details() {
            self.detail(detail, reasoning.is_empty(), out)?;
        }
        out.push_thinking(&message.content.thinking)?;
        out.push_text(&message.content.text)?;
        out.push_text(&message.refusal.text)?;
        for call in message.tool_calls.iter().flatten() {
            let CallDelta { index, id, function, .. } = call;
            let (arguments, signature) = (&*arguments(function.arguments), &*call.signature());
            out.add_call(&CallFragment {
                index: index.0,
                id: &id.text,
                name: &function.name.text,
                arguments,
                signature,
            })?;
        }
        Ok(())
    }

    /// Adds a part of the reasoning; its text is emitted if no other field contains it.
    fn detail(&mut self, detail: ReasoningDetail, is_only: bool, out: &mut DeltaQueue) -> Result<(), AttemptError> {
        for text in [&detail.text, &detail.summary].into_iter().flatten().filter(|_| is_only) {
            out.push_thinking(text)?;
        }
        out.count_bytes(detail.data.as_ref().map_or(0, String::len))?;
        let other = match self.details.last_mut() {
            Some(last) => last.append(detail),
            None => Some(detail),
        };
        self.details.extend(other);
        Ok(())
    }
}

/// Converts a finish reason: those of OpenAI, Zhipu (`sensitive`, `network_error`), DeepSeek
/// (`insufficient_system_resource`), Mistral (`model_length`), OpenRouter (`error`) and vLLM (`abort`).
// Seen in `fixtures/openai`: `zhipu_sensitive.sse`, `deepseek_cut_by_its_capacity.sse` and others, 2026-11-22.
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
