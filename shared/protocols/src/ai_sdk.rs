//! The AI SDK's UI message stream, version 1: the format of `useChat` and `DefaultChatTransport` of the package `ai`.
//!
//! The format is that of `ai` 5 to 7, read from its `uiMessageChunkSchema` and tested against all three.

mod chunk;
mod request;
#[cfg(test)]
mod tests;

use conversation::{Event, Failure, FinishReason, Source, ToolCall, ToolReport, Usage, Writers};

pub use request::{MAX_UI_BODY_BYTES, UiChatRequest};

use crate::Protocol;
use chunk::{Begun, Chunk, Ended, OURS, Output, Why, finish_reason};

/// The header by which the SDK knows the format, and its value.
pub const UI_STREAM_HEADER: (&str, &str) = ("x-vercel-ai-ui-message-stream", "v1");

/// The protocol of the AI SDK's chats: one `data:` line per chunk without ids, then `data: [DONE]`.
///
/// Text and reasoning are blocks; one block is open at a time. A step ends when all its calls have results and the
/// model continues. Data without a chunk type in the SDK goes into the message's metadata.
pub struct UiMessageStream {
    request_id: String,
    writers: Writers,
    block: Option<Block>,
    /// The number of blocks opened so far.
    blocks: u32,
    in_step: bool,
    /// The calls of this step without a result: id and progress text so far.
    calls: Vec<(String, String)>,
    /// Whether a call of this step has its result.
    called: bool,
    sources: Vec<Source>,
    usage: Option<Usage>,
    title: Option<String>,
}

/// A block of text or reasoning that is open.
struct Block {
    id: String,
    thinking: bool,
}

impl UiMessageStream {
    /// `request_id` goes into the metadata of a turn that fails.
    pub fn new(request_id: impl Into<String>) -> Self {
        Self {
            request_id: request_id.into(),
            writers: Writers::default(),
            block: None,
            blocks: 0,
            in_step: false,
            calls: Vec::new(),
            called: false,
            sources: Vec::new(),
            usage: None,
            title: None,
        }
    }

    /// Writes a delta into the open block, or into a new one of this kind.
    fn say(&mut self, thinking: bool, delta: &str, out: &mut String) {
        if delta.is_empty() {
            return;
        }
        self.step(out);
        if self.block.as_ref().is_none_or(|block| block.thinking != thinking) {
            self.close(out);
            self.open(thinking, out);
        }
        let id = self.block.as_ref().map_or("", |block| &block.id);
        write(&if thinking { Chunk::ReasoningDelta { id, delta } } else { Chunk::TextDelta { id, delta } }, out);
    }

    fn open(&mut self, thinking: bool, out: &mut String) {
        self.blocks += 1;
        let id = format!("{}-{}", if thinking { "reasoning" } else { "text" }, self.blocks);
        let id = &self.block.insert(Block { id, thinking }).id;
        write(&if thinking { Chunk::ReasoningStart { id } } else { Chunk::TextStart { id } }, out);
    }

    fn close(&mut self, out: &mut String) {
        if let Some(Block { id, thinking }) = self.block.take() {
            write(&if thinking { Chunk::ReasoningEnd { id: &id } } else { Chunk::TextEnd { id: &id } }, out);
        }
    }

    /// Ensures that a step is open; starts the next one if all calls of the open step are done.
    fn step(&mut self, out: &mut String) {
        if self.in_step && self.called && self.calls.is_empty() {
            self.end_step(out);
        }
        if !self.in_step {
            self.in_step = true;
            write(&Chunk::StartStep, out);
        }
    }

    fn end_step(&mut self, out: &mut String) {
        self.close(out);
        for (id, _) in self.calls.drain(..) {
            write(
                &Chunk::ToolOutputError { tool_call_id: &id, error_text: "The call was not finished.", kind: OURS },
                out,
            );
        }
        if self.in_step {
            (self.in_step, self.called) = (false, false);
            write(&Chunk::FinishStep, out);
        }
    }

    fn call(&mut self, call: &ToolCall, out: &mut String) {
        self.step(out);
        self.close(out);
        let ToolCall { id, name, arguments } = call;
        write(&Chunk::ToolInputAvailable { tool_call_id: id, tool_name: name, input: arguments, kind: OURS }, out);
        self.calls.push((id.clone(), String::new()));
    }

    /// Writes the progress of a running call. A later output replaces an earlier one, so it sends all progress so far.
    fn progress(&mut self, id: &str, text: &str, out: &mut String) {
        let Some((_, said)) = self.calls.iter_mut().find(|(open, _)| open == id) else { return };
        said.push_str(text);
        let output = Output::SoFar { progress: said };
        write(&Chunk::ToolOutputAvailable { tool_call_id: id, output, preliminary: true, kind: OURS }, out);
    }

    /// Writes a result. Clients accept one result per known call.
    fn result(&mut self, report: &ToolReport, out: &mut String) {
        let Some(place) = self.calls.iter().position(|(open, _)| *open == report.id) else { return };
        self.calls.remove(place);
        self.called = true;
        let ToolReport { id, summary, cached, duration_ms, sources, error, .. } = report;
        let chunk = if let Some(error) = error {
            Chunk::ToolOutputError { tool_call_id: id, error_text: &error.message, kind: OURS }
        } else {
            let output = Output::Whole { summary, cached: *cached, duration_ms: *duration_ms, sources };
            Chunk::ToolOutputAvailable { tool_call_id: id, output, preliminary: false, kind: OURS }
        };
        write(&chunk, out);
        let known = self.sources.len();
        Source::join(&mut self.sources, sources);
        for Source { index, title, url } in self.sources.iter().skip(known) {
            write(&Chunk::SourceUrl { source_id: &format!("source-{index}"), url, title }, out);
        }
    }

    fn ended(&self, finish_reason: Option<FinishReason>) -> Ended<'_> {
        let (usage, title) = (self.usage.as_ref(), self.title.as_deref());
        Ended { finish_reason, usage, title, models: self.writers.unexpected(), error: None }
    }

    fn done(&mut self, reason: FinishReason, out: &mut String) {
        self.end_step(out);
        let message_metadata = self.ended(Some(reason));
        if reason == FinishReason::Stopped {
            write(&Chunk::MessageMetadata { message_metadata }, out);
            write(&Chunk::Abort, out);
        } else {
            write(&Chunk::Finish { finish_reason: finish_reason(reason), message_metadata }, out);
        }
        out.push_str(END);
    }

    fn failed(&mut self, failure: &Failure, out: &mut String) {
        self.end_step(out);
        let error = Why {
            code: failure.code,
            retryable: failure.code.retryable(),
            request_id: &self.request_id,
            retry_after_seconds: failure.retry_after,
        };
        write(&Chunk::MessageMetadata { message_metadata: Ended { error: Some(error), ..self.ended(None) } }, out);
        write(&Chunk::Error { error_text: &failure.message }, out);
        out.push_str(END);
    }
}

impl Protocol for UiMessageStream {
    fn frames(&mut self, event: &Event, out: &mut String) {
        self.writers.note(event);
        match event {
            Event::Started(started) => {
                let message_metadata = Begun { conversation_id: &started.conversation_id, model: &started.model };
                write(&Chunk::Start { message_id: &started.message_id, message_metadata }, out);
            }
            Event::Text { delta } => self.say(false, delta, out),
            Event::Thinking { delta } => self.say(true, delta, out),
            Event::ToolCall(call) => self.call(call, out),
            Event::ToolProgress(progress) => self.progress(&progress.id, &progress.text, out),
            Event::ToolResult(report) => self.result(report, out),
            Event::Title(title) => self.title = Some(title.clone()),
            Event::Usage(usage) => self.usage = Some(**usage),
            Event::Failed(failure) => self.failed(failure, out),
            Event::Done { finish_reason } => self.done(*finish_reason, out),
            // Requests of this protocol cannot declare client tools.
            Event::Handover { .. } | Event::CallersCall(_) => {}
        }
    }
}

const END: &str = "data: [DONE]\n\n";

fn write(chunk: &Chunk<'_>, out: &mut String) {
    use std::fmt::Write;
    // Writing to a string and serialising plain data cannot fail.
    let _ = write!(out, "data: {}\n\n", serde_json::to_string(chunk).unwrap_or_default());
}
