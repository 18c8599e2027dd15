//! Incremental decoder of server-sent events.
//!
//! It follows the event stream format of the HTML standard with these exceptions. An event without its final blank line
//! still counts if the caller finishes the stream. `retry` is ignored. An id belongs to its own event only. The size of
//! an event is limited. A line outside the format is emitted instead of ignored.

mod decoder;
mod pending_event;

pub use decoder::Decoder;

/// The maximum size of a line, and of the data of one event, in bytes.
pub const MAX_EVENT_BYTES: usize = 1024 * 1024;

/// One event; invalid UTF-8 is replaced by U+FFFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The type; empty for the default one.
    pub kind: &'a str,
    /// The id in this event; unlike the standard's last event id it does not apply to later events.
    pub id: Option<&'a str>,
    /// The data lines, joined by line feeds.
    pub data: &'a str,
}

/// One element of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A complete event.
    Event(Event<'a>),
    /// A line that is neither a comment nor one of the standard's fields, without its line end. It does not end an event.
    Unknown(&'a str),
    /// A line or the data of an event is longer than [`MAX_EVENT_BYTES`]; the rest of that event is skipped.
    TooLong,
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
