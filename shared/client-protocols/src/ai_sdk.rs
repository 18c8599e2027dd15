//! The AI SDK's UI message stream, version 1: the format of `useChat` and `DefaultChatTransport` of the package `ai`.
//!
//! The format is that of `ai` 5 to 7, read from its `uiMessageChunkSchema` and tested against all three.

mod chunk;
mod request;
#[cfg(test)]
mod tests;

use domain::{
    AnswerDelta, Event, Failure, FinishReason, ModelAttribution, Note, Source, ToolCall, ToolEvent, ToolOutcome, Usage,
};
use serde_json::{Value, json};

pub use request::AiSdkRequest;

use crate::Protocol;
use crate::frame::{END_MARKER, without_nulls};
use chunk::{SERVER_TOOL, UiChunk, sdk_finish_reason};

/// The header by which the SDK knows the format, and its value.
pub const AI_SDK_STREAM_HEADER: (&str, &str) = ("x-vercel-ai-ui-message-stream", "v1");

/// The protocol of the AI SDK's chats: one `data:` line per chunk without ids, then `data: [DONE]`.
///
/// Text and reasoning are blocks; one block is open at a time. A step ends when all its calls have results and the
/// model continues. Data without a chunk type in the SDK goes into the message's metadata.
#[derive(Default)]
pub struct AiSdkStream {
    request_id: String,
    attribution: ModelAttribution,
    block: Option<Block>,
    block_count: u32,
    in_step: bool,
    /// The calls of this step without a result: id and progress text so far.
    open_calls: Vec<(String, String)>,
    has_result: bool,
    sources: Vec<Source>,
    usage: Option<Usage>,
    title: Option<String>,
}

/// A block of text or reasoning that is open.
struct Block {
    id: String,
    thinking: bool,
}

impl AiSdkStream {
    /// `request_id` goes into the metadata of a turn that fails.
    pub fn new(request_id: impl Into<String>) -> Self {
        Self { request_id: request_id.into(), ..Self::default() }
    }

    /// Writes a delta into the open block, or into a new one of this kind.
    fn write_delta(&mut self, thinking: bool, delta: &str, out: &mut String) {
        // Blocks are paragraphs: line breaks between two rounds have no use.
        let needs_block = |block: &Option<Block>| block.as_ref().is_none_or(|block| block.thinking != thinking);
        if delta.is_empty() || (needs_block(&self.block) && delta.trim_matches('\n').is_empty()) {
            return;
        }
        self.ensure_step(out);
        if needs_block(&self.block) {
            self.close_block(out);
            self.open_block(thinking, out);
        }
        let id = self.block.as_ref().map_or("", |block| &block.id);
        let chunk = if thinking { UiChunk::ReasoningDelta { id, delta } } else { UiChunk::TextDelta { id, delta } };
        chunk.write(out);
    }

    fn open_block(&mut self, thinking: bool, out: &mut String) {
        self.block_count += 1;
        let id = format!("{}-{}", if thinking { "reasoning" } else { "text" }, self.block_count);
        let id = &self.block.insert(Block { id, thinking }).id;
        let chunk = if thinking { UiChunk::ReasoningStart { id } } else { UiChunk::TextStart { id } };
        chunk.write(out);
    }

    fn close_block(&mut self, out: &mut String) {
        if let Some(Block { id, thinking }) = self.block.take() {
            let chunk = if thinking { UiChunk::ReasoningEnd { id: &id } } else { UiChunk::TextEnd { id: &id } };
            chunk.write(out);
        }
    }

    /// Ensures that a step is open; starts the next one if all calls of the open step are done.
    fn ensure_step(&mut self, out: &mut String) {
        if self.in_step && self.has_result && self.open_calls.is_empty() {
            self.end_step(out);
        }
        if !self.in_step {
            self.in_step = true;
            UiChunk::StartStep.write(out);
        }
    }

    fn end_step(&mut self, out: &mut String) {
        self.close_block(out);
        for (id, _) in self.open_calls.drain(..) {
            UiChunk::ToolOutputError { tool_call_id: &id, error_text: "The call was not finished.", kind: SERVER_TOOL }
                .write(out);
        }
        if self.in_step {
            (self.in_step, self.has_result) = (false, false);
            UiChunk::FinishStep.write(out);
        }
    }

    fn write_call(&mut self, call: &ToolCall, out: &mut String) {
        self.ensure_step(out);
        self.close_block(out);
        let ToolCall { id, name, arguments } = call;
        UiChunk::ToolInputAvailable { tool_call_id: id, tool_name: name, input: arguments, kind: SERVER_TOOL }
            .write(out);
        self.open_calls.push((id.clone(), String::new()));
    }

    /// Writes the progress of a running call. A later output replaces an earlier one, so it sends all progress so far.
    fn write_progress(&mut self, id: &str, text: &str, out: &mut String) {
        let Some((_, progress_text)) = self.open_calls.iter_mut().find(|(open, _)| open == id) else { return };
        progress_text.push_str(text);
        let output = json!({ "progress": progress_text });
        UiChunk::ToolOutputAvailable { tool_call_id: id, output, preliminary: true, kind: SERVER_TOOL }.write(out);
    }

    /// Writes a result. Clients accept one result per known call.
    fn write_result(&mut self, report: &ToolOutcome, out: &mut String) {
        let Some(position) = self.open_calls.iter().position(|(open, _)| *open == report.id) else { return };
        self.open_calls.remove(position);
        self.has_result = true;
        let ToolOutcome { id, summary, cached, duration_ms, sources, error, .. } = report;
        let chunk = if let Some(error) = error {
            UiChunk::ToolOutputError { tool_call_id: id, error_text: &error.message, kind: SERVER_TOOL }
        } else {
            let output = json!({ "summary": summary, "cached": cached, "durationMs": duration_ms, "sources": sources });
            UiChunk::ToolOutputAvailable { tool_call_id: id, output, preliminary: false, kind: SERVER_TOOL }
        };
        chunk.write(out);
        self.write_sources(sources, out);
    }

    fn write_sources(&mut self, sources: &[Source], out: &mut String) {
        let known = self.sources.len();
        Source::join(&mut self.sources, sources);
        for Source { index, title, url, .. } in self.sources.iter().skip(known) {
            UiChunk::SourceUrl { source_id: &format!("source-{index}"), url, title }.write(out);
        }
    }

    fn end_metadata(&self, finish_reason: Option<FinishReason>, error: Option<&Value>) -> Value {
        let models = Some(self.attribution.after_failover()).filter(|models| !models.is_empty());
        without_nulls(json!({
            "finishReason": finish_reason, "usage": self.usage, "title": self.title, "models": models, "error": error,
        }))
    }

    fn write_done(&mut self, reason: FinishReason, out: &mut String) {
        self.end_step(out);
        let message_metadata = self.end_metadata(Some(reason), None);
        if reason == FinishReason::Stopped {
            UiChunk::MessageMetadata { message_metadata }.write(out);
            UiChunk::Abort.write(out);
        } else {
            UiChunk::Finish { finish_reason: sdk_finish_reason(reason), message_metadata }.write(out);
        }
        out.push_str(END_MARKER);
    }

    fn write_failure(&mut self, failure: &Failure, out: &mut String) {
        self.end_step(out);
        let error = without_nulls(json!({
            "code": failure.code,
            "retryable": failure.code.is_retryable(),
            "requestId": self.request_id,
            "retryAfterSeconds": failure.retry_after_seconds,
        }));
        UiChunk::MessageMetadata { message_metadata: self.end_metadata(None, Some(&error)) }.write(out);
        UiChunk::Error { error_text: &failure.message }.write(out);
        out.push_str(END_MARKER);
    }
}

impl Protocol for AiSdkStream {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        self.attribution.record(event);
        match event {
            Event::Started(started) => {
                let message_metadata = json!({ "conversationId": started.conversation_id, "model": started.model });
                UiChunk::Start { message_id: &started.message_id, message_metadata }.write(out);
            }
            Event::Delta(AnswerDelta::Text(delta)) => self.write_delta(false, delta, out),
            Event::Delta(AnswerDelta::Thinking(delta)) => self.write_delta(true, delta, out),
            Event::Tool(ToolEvent::Call(call)) => self.write_call(call, out),
            Event::Tool(ToolEvent::Progress(progress)) => self.write_progress(&progress.id, &progress.text, out),
            Event::Tool(ToolEvent::Result(report)) => self.write_result(report, out),
            Event::Note(Note::EarlierSource(source)) => self.write_sources(std::slice::from_ref(source), out),
            Event::Note(Note::Title(title)) => self.title = Some(title.to_string()),
            Event::Note(Note::Usage(usage)) => self.usage = Some(**usage),
            Event::End(Err(failure)) => self.write_failure(failure, out),
            Event::End(Ok(finish_reason)) => self.write_done(*finish_reason, out),
            // Requests of this protocol cannot declare client tools, and no chunk takes text back.
            Event::Delta(AnswerDelta::Reclassified(_))
            | Event::Tool(ToolEvent::ClientCall(_))
            | Event::Note(Note::ModelSwitched(_)) => {}
        }
    }
}
