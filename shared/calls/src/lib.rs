//! Text to tool calls and back: pure, incremental, and ignorant of models and tools' code.
//!
//! Models without native tool calling write their calls into the answer. [`ThinkingFilter`] takes the reasoning out of
//! the raw text first, [`CallScanner`] then splits the rest into what is shown and what is a call.

use conversation::{ToolCall, ToolResult, ToolSpec};
use serde_json::Value;

/// What the scanner made of a stretch of the model's text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Shown to the user.
    Text(String),
    /// A complete call.
    Call(ParsedCall),
    /// An explicit wrapper whose content is not a call.
    Malformed(Malformed),
}

/// A call as it was written; whether such a tool exists is not this crate's business.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedCall {
    /// The tool's name as the model wrote it.
    pub name: String,
    /// An object unless the model wrote something else.
    pub arguments: Value,
}

/// A call that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed {
    /// The text from the opening marker on, exactly as written.
    pub raw: String,
    /// What is wrong with it.
    pub defect: Defect,
}

/// What is wrong with a malformed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The text ended by the model's output limit before the call did.
    Cut,
    /// It cannot be read, for this reason (told to the model).
    Unreadable(String),
}

/// How a model's text came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The model was done.
    Complete,
    /// The model's output limit cut it.
    Cut,
}

/// Finds calls in text that comes in pieces; see the crate's documentation.
pub struct CallScanner;

impl CallScanner {
    /// A scanner for one reply; `tools` decides what counts where the form alone is ambiguous.
    pub fn new(_tools: &[ToolSpec]) -> Self {
        todo!()
    }
    /// Takes more text and gives what is certain by now.
    pub fn push(&mut self, _text: &str) -> Vec<Piece> {
        todo!()
    }
    /// Ends the reply: every byte still held becomes a call, text or a malformed call.
    pub fn finish(self, _end: End) -> Vec<Piece> {
        todo!()
    }
}

/// A stretch of raw model text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Part of the answer (calls included).
    Text(String),
    /// Part of the reasoning, without its tags.
    Thinking(String),
}

/// Takes `<think>…</think>` and its kin out of text that comes in pieces.
#[derive(Default)]
pub struct ThinkingFilter;

impl ThinkingFilter {
    /// Takes more text and gives what is certain by now.
    pub fn push(&mut self, _text: &str) -> Vec<Part> {
        todo!()
    }
    /// Ends the reply and gives what was held.
    pub fn finish(self) -> Vec<Part> {
        todo!()
    }
}

/// A way of writing calls that a prompt can teach and that history is written in.
pub trait CallFormat: Sync {
    /// A short stable name, such as `tag`.
    fn name(&self) -> &'static str;
    /// The part of the system prompt that teaches the form and lists the tools (Chinese).
    fn instructions(&self, tools: &[ToolSpec]) -> String;
    /// A past call as the model should have written it.
    fn render_call(&self, call: &ToolCall) -> String;
    /// A result as it is given back.
    fn render_result(&self, result: &ToolResult) -> String;
}

/// The form that a model is taught: that of its family, or the tag form.
pub fn format_for(_model: &str) -> &'static dyn CallFormat {
    todo!()
}

/// Reads a JSON value that a model wrote, mending what is commonly broken; `None` when it cannot be mended.
pub fn repair(_text: &str) -> Option<Value> {
    todo!()
}
