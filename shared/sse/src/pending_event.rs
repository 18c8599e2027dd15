use std::borrow::Cow;

use memchr::memchr;

use crate::{Event, Frame, MAX_EVENT_BYTES};

/// An incomplete event. Its buffers are reused for the next one.
#[derive(Debug, Default)]
pub(crate) struct PendingEvent {
    kind: Vec<u8>,
    id: Vec<u8>,
    has_id: bool,
    data: Vec<u8>,
    has_data: bool,
    /// Whether the event is too long and its remaining lines are skipped.
    is_skipped: bool,
}

impl PendingEvent {
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_data && !self.has_id && !self.is_skipped && self.kind.is_empty()
    }

    pub(crate) fn is_skipped(&self) -> bool {
        self.is_skipped
    }

    pub(crate) fn skip(&mut self) {
        self.reset();
        self.is_skipped = true;
    }

    /// Adds a line that is not empty; emits it unless it is a comment or a field of the standard.
    pub(crate) fn add_line<E>(
        &mut self,
        line: &[u8],
        sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (name, value) = match memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => return self.add_data(value, sink),
            b"event" => value.clone_into(&mut self.kind),
            b"id" => self.set_id(value),
            b"" | b"retry" => {}
            _ => return sink(Frame::Unknown(&to_text(line))),
        }
        Ok(())
    }

    /// Ends the event: emits it if it has data.
    pub(crate) fn dispatch<E>(&mut self, sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        let result = if self.has_data {
            let (kind, id, data) = (to_text(&self.kind), to_text(&self.id), to_text(&self.data));
            sink(Frame::Event(Event { kind: &kind, id: self.has_id.then_some(&*id), data: &data }))
        } else {
            Ok(())
        };
        self.reset();
        result
    }

    fn add_data<E>(&mut self, value: &[u8], sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        let separator = usize::from(self.has_data);
        if self.data.len() + separator + value.len() > MAX_EVENT_BYTES {
            self.skip();
            return sink(Frame::TooLong);
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }

    /// The standard ignores an id that contains NUL.
    fn set_id(&mut self, value: &[u8]) {
        if memchr(0, value).is_none() {
            value.clone_into(&mut self.id);
            self.has_id = true;
        }
    }

    fn reset(&mut self) {
        self.kind.clear();
        self.id.clear();
        self.data.clear();
        (self.has_id, self.has_data, self.is_skipped) = (false, false, false);
    }
}

/// Converts the bytes to text. Checking valid UTF-8 is cheaper than repairing invalid UTF-8.
pub(crate) fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
