//! The words of the domain: messages, tools and their calls, events, failures.
//!
//! This crate depends on serde alone and knows nothing of HTTP, models or storage, so that every other room can speak
//! its types.

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

/// The longest text of an answer, in bytes: a turn that reaches it ends with [`FinishReason::Length`].
pub const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// The longest reasoning of an answer, in bytes: what a model thinks beyond it is neither shown nor stored.
pub const MAX_THINKING_BYTES: usize = 512 * 1024;
