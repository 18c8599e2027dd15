//! Decodes server-sent events.
//!
//! Follows the event stream format of the HTML standard with three exceptions for streams of models. An event without
//! its final blank line still counts. `id` and `retry` are ignored. A line that starts with `{` is returned unchanged,
//! because some endpoints write an error without `data:`.

use std::borrow::Cow;

use memchr::memchr2;

/// The maximum size of a line, and of the data of one event, in bytes.
pub(crate) const MAX_EVENT_BYTES: usize = 1024 * 1024;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// One element of a stream; invalid UTF-8 is replaced by U+FFFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// An event with its type (empty for the default one) and its data.
    Event { kind: &'a str, data: &'a str },
    /// A line outside the format that starts with `{`.
    Bare(&'a str),
}

/// A line or an event is longer than [`MAX_EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Receives frames; its error ends the call of `push`.
pub(crate) trait Frames<E> {
    fn frame(&mut self, frame: Frame<'_>) -> Result<(), E>;
}

impl<E, F: FnMut(Frame<'_>) -> Result<(), E>> Frames<E> for F {
    fn frame(&mut self, frame: Frame<'_>) -> Result<(), E> {
        self(frame)
    }
}

/// An incremental decoder; its time is linear in the number of bytes.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// Whether the last line ended in a CR, so that a LF now belongs to that line end.
    after_cr: bool,
    /// Whether a line has been read: only the first may carry a byte-order mark.
    has_read_line: bool,
    kind: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl SseDecoder {
    /// Decodes more bytes and emits each frame that they complete.
    pub(crate) fn push<E: From<TooLong>>(&mut self, mut bytes: &[u8], out: &mut impl Frames<E>) -> Result<(), E> {
        while !bytes.is_empty() {
            if self.is_between()
                && let Some((data, rest)) = split_single_line_event(bytes)
            {
                out.frame(Frame::Event { kind: "", data: &to_text(data) })?;
                bytes = rest;
                continue;
            }
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', bytes) else {
                return Ok(self.buffer_line(bytes)?);
            };
            self.after_cr = bytes[end] == b'\r';
            self.end_line(&bytes[..end], out)?;
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// Ends the stream: an incomplete line or event counts as complete.
    pub(crate) fn finish<E: From<TooLong>>(&mut self, out: &mut impl Frames<E>) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_line(&[], out)?;
        }
        self.dispatch(out)
    }

    /// Whether the decoder is between two events.
    fn is_between(&self) -> bool {
        self.has_read_line && !self.after_cr && !self.has_data && self.line.is_empty() && self.kind.is_empty()
    }

    fn buffer_line(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.line.extend_from_slice(bytes);
        if self.line.len() > MAX_EVENT_BYTES { Err(TooLong) } else { Ok(()) }
    }

    fn end_line<E: From<TooLong>>(&mut self, rest: &[u8], out: &mut impl Frames<E>) -> Result<(), E> {
        if self.line.is_empty() {
            return self.line(rest, out);
        }
        self.buffer_line(rest)?;
        let mut line = std::mem::take(&mut self.line);
        let result = self.line(&line, out);
        line.clear();
        self.line = line;
        result
    }

    fn line<E: From<TooLong>>(&mut self, mut line: &[u8], out: &mut impl Frames<E>) -> Result<(), E> {
        if !std::mem::replace(&mut self.has_read_line, true) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        match line.first() {
            None => self.dispatch(out),
            Some(b':') => Ok(()),
            Some(b'{') => out.frame(Frame::Bare(&to_text(line))),
            Some(_) => Ok(self.field(line)?),
        }
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => self.add_data(value),
            b"event" => {
                value.clone_into(&mut self.kind);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), TooLong> {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        if self.data.len() > MAX_EVENT_BYTES { Err(TooLong) } else { Ok(()) }
    }

    fn dispatch<E>(&mut self, out: &mut impl Frames<E>) -> Result<(), E> {
        let result = if std::mem::take(&mut self.has_data) {
            let (kind, data) = (to_text(&self.kind), to_text(&self.data));
            out.frame(Frame::Event { kind: &kind, data: &data })
        } else {
            Ok(())
        };
        self.kind.clear();
        self.data.clear();
        result
    }
}

/// Fast path: splits off a complete event of one `data:` line, without copying it. Returns its data and the rest.
fn split_single_line_event(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = bytes.strip_prefix(b"data:")?;
    let line = line.strip_prefix(b" ").unwrap_or(line);
    let end = memchr2(b'\r', b'\n', line).filter(|end| *end <= MAX_EVENT_BYTES)?;
    let (data, rest) = line.split_at(end);
    Some((data, rest.strip_prefix(b"\n\n")?))
}

/// Converts the bytes to text. Checking valid UTF-8 is cheaper than repairing invalid UTF-8.
fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

#[cfg(test)]
mod tests;
