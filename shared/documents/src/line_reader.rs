use std::io::{BufRead, BufReader, Read};

use crate::DocumentError;
use crate::interrupt::Interrupt;

/// Size of a chunk, in bytes; the interrupt is checked at each.
const CHUNK_BYTES: usize = 64 * 1024;

/// Splits UTF-8 text into lines at `\n` and `\r\n`. A line break at the end of the text begins no line.
///
/// Of each line that is wanted, at most `max_line_bytes` are kept, cut at a character; the others are only counted.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    line: PartialLine,
}

/// A line without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// Whether the text is only the beginning of the line.
    pub(crate) cut: bool,
}

/// The current line, as far as it has been read.
struct PartialLine {
    max_bytes: usize,
    kept: Vec<u8>,
    /// Length of the line so far, kept or not.
    bytes: usize,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(reader: R, max_line_bytes: usize) -> Self {
        let reader = BufReader::with_capacity(CHUNK_BYTES, reader);
        Self { reader, line: PartialLine { max_bytes: max_line_bytes, kept: Vec::new(), bytes: 0 } }
    }

    /// Calls `on_line` with the index, from 0, and the text of each line that `is_wanted`; returns the number of all
    /// lines.
    ///
    /// # Errors
    /// `OutOfTime` when the interrupt is due; `Unreadable` if reading fails.
    pub(crate) fn read(
        mut self,
        interrupt: &Interrupt,
        is_wanted: impl Fn(usize) -> bool,
        mut on_line: impl FnMut(usize, Line),
    ) -> Result<usize, DocumentError> {
        let mut count = 0;
        let mut end_line = |count: usize, line: &mut PartialLine| {
            let line = line.take();
            if is_wanted(count) {
                on_line(count, line);
            }
        };
        loop {
            if interrupt.is_due() {
                return Err(DocumentError::OutOfTime);
            }
            let mut chunk = self.reader.fill_buf()?;
            let chunk_bytes = chunk.len();
            if chunk_bytes == 0 {
                break;
            }
            while let Some(end) = memchr::memchr(b'\n', chunk) {
                let (before, rest) = chunk.split_at(end);
                self.line.push(before, is_wanted(count));
                end_line(count, &mut self.line);
                count += 1;
                chunk = rest.get(1..).unwrap_or_default();
            }
            self.line.push(chunk, is_wanted(count));
            self.reader.consume(chunk_bytes);
        }
        if self.line.bytes > 0 {
            end_line(count, &mut self.line);
            count += 1;
        }
        Ok(count)
    }
}

impl PartialLine {
    /// Adds a part of the line. One byte over the maximum is kept: it may be the `\r` of the line break.
    fn push(&mut self, part: &[u8], is_wanted: bool) {
        let space = (self.max_bytes + 1).saturating_sub(self.kept.len()).min(part.len());
        if is_wanted {
            self.kept.extend_from_slice(part.get(..space).unwrap_or_default());
        }
        self.bytes += part.len();
    }

    /// Ends the line.
    fn take(&mut self) -> Line {
        let (kept, bytes) = (std::mem::take(&mut self.kept), std::mem::take(&mut self.bytes));
        let is_whole = kept.len() == bytes;
        let kept = kept.strip_suffix(b"\r").filter(|_| is_whole).unwrap_or(&kept);
        let text = match std::str::from_utf8(kept) {
            // The last character is cut.
            Err(error) if error.error_len().is_none() => kept.get(..error.valid_up_to()).unwrap_or_default(),
            _ => kept,
        };
        Line { text: String::from_utf8_lossy(text).into_owned(), cut: !is_whole }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn read(text: &[u8], max_line_bytes: usize, wanted: impl Fn(usize) -> bool) -> (usize, Vec<(usize, String, bool)>) {
        let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
        let mut lines = Vec::new();
        let on_line = |index, Line { text, cut }| lines.push((index, text, cut));
        let count = LineReader::new(text, max_line_bytes).read(&interrupt, wanted, on_line).unwrap();
        (count, lines)
    }

    fn texts(text: &str) -> Vec<String> {
        read(text.as_bytes(), 100, |_| true).1.into_iter().map(|(_, text, _)| text).collect()
    }

    #[test]
    fn lines_end_at_both_line_breaks() {
        assert_eq!(texts("a\r\nb\nc"), ["a", "b", "c"]);
        assert_eq!(texts("a\n\n"), ["a", ""]);
        assert_eq!(texts("a\rb\n"), ["a\rb"]);
        assert_eq!(texts(""), [""; 0]);
    }

    #[test]
    fn lines_across_chunks_are_joined() {
        let long = "x".repeat(CHUNK_BYTES + 7);
        let text = format!("{long}\r\n{long}");
        let (count, lines) = read(text.as_bytes(), 2 * CHUNK_BYTES, |_| true);
        assert_eq!((count, lines.len()), (2, 2));
        assert!(lines.iter().all(|(_, text, cut)| *text == long && !cut));
    }

    /// Returns its text in pieces of a few bytes.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
            buffer[..piece.len()].copy_from_slice(piece);
            self.0 = rest;
            Ok(piece.len())
        }
    }

    #[test]
    fn lines_survive_pieces_of_any_size() {
        let text = "a\r\n汉字\n\r\n\n\rlonger line\r\r\nend\r".as_bytes();
        let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
        let expected = read(text, 6, |index| index != 1);
        for size in 1..=text.len() {
            let mut lines = Vec::new();
            let on_line = |index, Line { text, cut }| lines.push((index, text, cut));
            let count = LineReader::new(Pieces(text, size), 6).read(&interrupt, |index| index != 1, on_line).unwrap();
            assert_eq!((count, lines), expected, "{size}");
        }
    }

    #[test]
    fn long_line_is_cut_at_a_character() {
        let (count, lines) = read("汉字汉字\nb".as_bytes(), 7, |_| true);
        assert_eq!((count, lines), (2, vec![(0, "汉字".to_owned(), true), (1, "b".to_owned(), false)]));
    }

    #[test]
    fn unwanted_lines_are_only_counted() {
        let (count, lines) = read(b"a\nbb\nc\nd\n", 100, |index| index == 1);
        assert_eq!((count, lines), (4, vec![(1, "bb".to_owned(), false)]));
    }

    #[test]
    fn interrupted_reading_has_no_result() {
        let stop = work::StopFlag::default();
        let interrupt = Interrupt::new(stop.clone(), Instant::now() + Duration::from_mins(1));
        stop.set();
        let read = LineReader::new(b"a".as_slice(), 9).read(&interrupt, |_| true, |_, _| {});
        assert_eq!(read, Err(DocumentError::OutOfTime));
    }
}
