use std::io::{BufRead, BufReader, Read};

use crate::DocumentError;
use crate::interrupt::Interrupt;

/// Size of a chunk, in bytes; the interrupt is checked at each.
const CHUNK_BYTES: usize = 64 * 1024;

/// Longest line break, in bytes.
const MAX_BREAK_BYTES: usize = 2;

/// A line without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// Whether the text is only the beginning of the line.
    pub(crate) cut: bool,
}

/// Splits UTF-8 text into lines at `\n` and `\r\n`. A line break at the end of the text begins no line.
///
/// Calls `on_line` with the index, from 0, and the first `max_line_bytes`, cut at a character, of each line that
/// `is_wanted`; returns the number of all lines.
///
/// # Errors
/// `OutOfTime` when the interrupt is due; `Unreadable` if reading fails.
pub(crate) fn read_lines(
    reader: impl Read,
    max_line_bytes: usize,
    interrupt: &Interrupt,
    is_wanted: impl Fn(usize) -> bool,
    mut on_line: impl FnMut(usize, Line),
) -> Result<usize, DocumentError> {
    let mut reader = BufReader::with_capacity(CHUNK_BYTES, interrupt.reader(reader));
    let (mut count, mut line) = (0, Vec::new());
    loop {
        let max_bytes = if is_wanted(count) { max_line_bytes } else { 0 };
        line.clear();
        if reader.by_ref().take((max_bytes + MAX_BREAK_BYTES) as u64).read_until(b'\n', &mut line)? == 0 {
            return Ok(count);
        }
        let cut = !line.ends_with(b"\n") && reader.skip_until(b'\n')? > 0;
        if is_wanted(count) {
            on_line(count, Line::new(&line, cut, max_bytes));
        }
        count += 1;
    }
}

impl Line {
    fn new(bytes: &[u8], cut: bool, max_bytes: usize) -> Self {
        let mut text = String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(bytes)).into_owned();
        if cut {
            text.truncate(text.floor_char_boundary(max_bytes));
        } else if text.ends_with('\r') {
            text.pop();
        }
        Self { text, cut }
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
        let count = read_lines(text, max_line_bytes, &interrupt, wanted, on_line).unwrap();
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
            let count = read_lines(Pieces(text, size), 6, &interrupt, |index| index != 1, on_line).unwrap();
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
        let read = read_lines(b"a".as_slice(), 9, &interrupt, |_| true, |_, _| {});
        assert_eq!(read, Err(DocumentError::OutOfTime));
    }
}
