use memchr::memchr2;

use crate::pending_event::{PendingEvent, to_text};
use crate::{Event, Frame, MAX_EVENT_BYTES};

const BOM: &[u8] = "\u{feff}".as_bytes();

/// An incremental decoder: its frames do not depend on chunk boundaries, and its time is linear in the number of bytes.
///
/// Frames go to a sink; an error of the sink ends the call, and the decoder must not be used again.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// Whether the last line ended in a CR, so that a LF now belongs to that line end.
    after_cr: bool,
    /// Whether a line has been read: only the first may carry a byte-order mark.
    has_read_line: bool,
    event: PendingEvent,
}

impl Decoder {
    /// Decodes more bytes and emits each frame that they complete.
    pub fn push<E>(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        while !bytes.is_empty() {
            if self.is_between()
                && let Some((data, rest)) = split_single_line_event(bytes)
            {
                sink(Frame::Event(Event { kind: "", id: None, data: &to_text(data) }))?;
                bytes = rest;
                continue;
            }
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', bytes) else {
                return self.buffer_line(bytes, sink);
            };
            self.after_cr = bytes[end] == b'\r';
            self.end_line(&bytes[..end], sink)?;
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// Ends the stream: an incomplete line or event counts as complete.
    pub fn finish<E>(mut self, sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_line(&[], sink)?;
        }
        self.event.dispatch(sink)
    }

    fn is_between(&self) -> bool {
        self.has_read_line && !self.after_cr && self.line.is_empty() && self.event.is_empty()
    }

    /// Buffers a part of a line that is not empty. A skipped line keeps one byte, so that it is not blank.
    fn buffer_line<E>(&mut self, part: &[u8], sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        if !self.event.is_skipped() {
            self.line.extend_from_slice(part);
            if self.line.len() <= MAX_EVENT_BYTES {
                return Ok(());
            }
            self.event.skip();
            sink(Frame::TooLong)?;
        }
        self.line.clear();
        self.line.push(part[0]);
        Ok(())
    }

    fn end_line<E>(&mut self, rest: &[u8], sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.line.is_empty() {
            return self.read_line(rest, sink);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(rest);
        let result = self.read_line(&line, sink);
        line.clear();
        self.line = line;
        result
    }

    fn read_line<E>(&mut self, mut line: &[u8], sink: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        let is_first = !std::mem::replace(&mut self.has_read_line, true);
        if line.len() > MAX_EVENT_BYTES && !self.event.is_skipped() {
            self.event.skip();
            return sink(Frame::TooLong);
        }
        if is_first {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return self.event.dispatch(sink);
        }
        if self.event.is_skipped() {
            return Ok(());
        }
        self.event.add_line(line, sink)
    }
}

/// Fast path: splits off a complete event of one `data:` line, without copying it. Returns its data and the rest.
fn split_single_line_event(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let value = bytes.strip_prefix(b"data:")?;
    let end = memchr2(b'\r', b'\n', value)?;
    let (value, rest) = value.split_at(end);
    let rest = rest.strip_prefix(b"\n\n")?;
    let is_short = bytes.len() - rest.len() <= MAX_EVENT_BYTES;
    is_short.then_some((value.strip_prefix(b" ").unwrap_or(value), rest))
}
