//! Domain types: messages, tools and their calls, events, failures.
//!
//! This crate knows nothing of HTTP, models or storage, so every other crate can use its types.

mod event;
mod failure;
mod id;
mod message;
mod past;
mod tool;
mod writers;

pub use event::{Batch, Event, FinishReason, Source, Started, ToolProgress, ToolReport, Usage};
pub use failure::{ErrorCode, Failure};
pub use id::{is_id, new_id};
pub use message::Message;
pub use past::{PastTurn, Summary};
pub use tool::{ToolCall, ToolChoice, ToolExample, ToolFailure, ToolResult, ToolSpec};
pub use writers::Writers;

/// Maximum length of an answer's text, in bytes. A turn that reaches it ends with [`FinishReason::Length`].
pub const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// Maximum length of an answer's reasoning, in bytes. Reasoning beyond it is neither shown nor stored.
pub const MAX_THINKING_BYTES: usize = 512 * 1024;
