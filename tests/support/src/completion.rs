use serde_json::{Value, json};

use crate::{Gate, MODEL, Reply};

/// A scripted stream of `chat/completions` events, one write each.
///
/// [`Completion::end`] adds the chunks that a correct endpoint sends at the end. [`Completion::reply`] adds nothing and
/// leads to the other ends of a [`Reply`].
#[derive(Clone)]
pub struct Completion {
    reply: Reply,
    line_end: &'static str,
}

impl Default for Completion {
    fn default() -> Self {
        Self { reply: Reply::status(200).header("content-type", "text/event-stream"), line_end: "\n" }
    }
}

impl Completion {
    /// A stream without events yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A complete answer with these deltas.
    pub fn of<S: AsRef<str>>(pieces: impl IntoIterator<Item = S>) -> Reply {
        pieces.into_iter().fold(Self::new(), |stream, piece| stream.text(piece.as_ref())).end()
    }

    /// Separates the following lines by `\n`, `\r` or `\r\n`.
    #[must_use]
    pub fn line_end(mut self, line_end: &'static str) -> Self {
        self.line_end = line_end;
        self
    }

    /// Adds a content delta.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.delta(&json!({ "content": text }))
    }

    /// Adds a reasoning delta in its own field.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.delta(&json!({ "reasoning_content": text }))
    }

    /// Adds a complete native call in one delta; empty arguments are omitted.
    #[must_use]
    pub fn call(self, index: u32, id: &str, name: &str, arguments: &str) -> Self {
        let mut function = json!({ "name": name });
        if !arguments.is_empty() {
            function["arguments"] = arguments.into();
        }
        self.delta(&json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }))
    }

    /// Adds a delta with any fields.
    #[must_use]
    pub fn delta(self, delta: &Value) -> Self {
        self.chunk(&json!([{ "index": 0, "delta": delta, "finish_reason": null }]))
    }

    /// Adds the chunk with this finish reason.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.chunk(&json!([{ "index": 0, "delta": {}, "finish_reason": reason }]))
    }

    /// Adds the provider's token counts in a chunk without choices.
    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Self {
        let usage = json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output });
        self.data(&json!({ "id": "chatcmpl-1", "model": MODEL, "choices": [], "usage": usage }).to_string())
    }

    /// Adds the terminator.
    #[must_use]
    pub fn done(self) -> Self {
        self.data("[DONE]")
    }

    /// Adds an event with this payload.
    #[must_use]
    pub fn data(self, payload: &str) -> Self {
        let end = self.line_end;
        self.raw(format!("data: {payload}{end}{end}"))
    }

    /// Adds bytes unchanged.
    #[must_use]
    pub fn raw(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.reply = self.reply.bytes(bytes);
        self
    }

    /// Waits at the gate before the next step.
    #[must_use]
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.reply = self.reply.wait(gate);
        self
    }

    /// Ends with reason `stop`, 10 input and 5 output tokens, and the terminator.
    pub fn end(self) -> Reply {
        self.finish("stop").usage(10, 5).done().reply()
    }

    /// The stream so far as a reply.
    pub fn reply(self) -> Reply {
        self.reply
    }

    fn chunk(self, choices: &Value) -> Self {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": choices,
        });
        self.data(&chunk.to_string())
    }
}
