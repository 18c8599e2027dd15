//! Decoder for the server-sent events of tool servers: it returns the data of each event and nothing else.

use std::mem;

/// Longest line and longest data of one event, in bytes; the excess is dropped.
const MAX_BYTES: usize = 1024 * 1024;

/// Decodes events from chunks of bytes.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_cr: bool,
}

impl EventStream {
    /// Decodes more bytes and returns the data of each event that they complete; invalid UTF-8 is replaced.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        bytes.iter().filter_map(|byte| self.byte(*byte)).collect()
    }

    /// Returns the unterminated event at the end, if there is one.
    pub(crate) fn finish(mut self) -> Option<String> {
        self.end_line();
        self.end_line()
    }

    fn byte(&mut self, byte: u8) -> Option<String> {
        let after_cr = mem::replace(&mut self.after_cr, byte == b'\r');
        match byte {
            b'\n' if after_cr => None,
            b'\n' | b'\r' => self.end_line(),
            _ => {
                if self.line.len() < MAX_BYTES {
                    self.line.push(byte);
                }
                None
            }
        }
    }

    fn end_line(&mut self) -> Option<String> {
        let line = mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take().map(|data| String::from_utf8_lossy(&data).into_owned());
        }
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        let value = line.strip_prefix(b"data:").or_else(|| (line == b"data").then_some(&[]))?;
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) if data.len() + value.len() < MAX_BYTES => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            Some(_) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_do_not_depend_on_chunk_boundaries() {
        let text = "\u{feff}: hi\r\nid: 1\ndata: 汉字\r\ndata:b\r\n\r\nevent: x\rdata\r\rretry: 5\n\ndata: end";
        for at in 0..=text.len() {
            let (one, other) = text.as_bytes().split_at(at);
            let mut stream = EventStream::default();
            let mut all = stream.push(one);
            all.extend(stream.push(other));
            all.extend(stream.finish());
            assert_eq!(all, ["汉字\nb", "", "end"], "{at}");
        }
    }
}
