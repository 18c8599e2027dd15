//! Requests to turns, events to frames: one file per client protocol, all pure.

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

/// Turns the events of one turn into the bytes of an event stream.
///
/// The event that ends the turn yields the protocol's own end marker as well, so that a stream ends exactly once.
pub trait Protocol: Send {
    /// Appends the frames of `event` to `out`.
    fn frames(&mut self, event: &Event, out: &mut String);
}
