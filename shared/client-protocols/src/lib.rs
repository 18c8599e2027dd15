//! Client protocols: they parse requests into turns and render events as frames; one file each, no I/O.

mod accumulated;
mod ai_sdk;
mod attachments;
mod frame;
mod mcp;
mod native;
pub mod openai;
mod request;
mod turn_document;

pub use accumulated::Accumulated;
pub use ai_sdk::{AI_SDK_STREAM_HEADER, AiSdkRequest, AiSdkStream};
pub use frame::without_nulls;
pub use mcp::{
    McpCall, McpError, McpHeaders, McpMethod, McpRequest, McpStream, mcp_response, mcp_result, mcp_tool,
    render_mcp_error,
};
pub use native::NativeSse;
pub use request::{
    AnswerRequest, MAX_BODY_BYTES, MAX_INLINE_BODY_BYTES, MAX_MESSAGE_CHARS, ParentMessage, TurnOptions, TurnRequest,
};
pub use turn_document::TurnDocument;

use domain::Event;

/// Renders the events of one turn as the bytes of an event stream.
///
/// The last event also yields the protocol's end marker, so a stream ends exactly once.
pub trait Protocol: Send {
    /// Appends the frames of `event` to `out`.
    fn write_frames(&mut self, event: &Event, out: &mut String);
}
