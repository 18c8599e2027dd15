//! Client protocols: they parse requests into turns and render events as frames; one file each, no I/O.

mod accumulated;
mod ai_sdk;
mod document;
mod fields;
mod json;
mod native;
pub mod openai;
mod request;
mod resumed;

pub use accumulated::Accumulated;
pub use ai_sdk::{MAX_UI_BODY_BYTES, UI_STREAM_HEADER, UiChatRequest, UiMessageStream};
pub use document::Document;
pub use fields::Fields;
pub use json::object;
pub use native::{Native, has_frame};
pub use request::{AgainRequest, MAX_BODY_BYTES, MAX_MESSAGE_CHARS, TurnRequest};
pub use resumed::Resumed;

use conversation::Event;

/// Renders the events of one turn as the bytes of an event stream.
///
/// The last event also yields the protocol's end marker, so a stream ends exactly once.
pub trait Protocol: Send {
    /// Appends the frames of `event` to `out`.
    fn frames(&mut self, event: &Event, out: &mut String);
}
