use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use domain::{Membership, Owner};

use crate::document_path::DocumentPath;
use crate::encoding::TextFile;
use crate::interrupt::Interrupt;
use crate::tool::run_over;
use crate::tree::Tree;
use crate::{DocumentError, DocumentSource};

/// Maximum number of lines that are read at once.
pub(crate) const MAX_LINES: usize = 2000;

/// Longest line that is read, in characters.
pub(crate) const MAX_LINE_CHARS: usize = 2000;

/// Longest text that a client gets, in bytes.
const MAX_TEXT_BYTES: usize = 2 * 1024 * 1024;

const READ_DURATION: Duration = Duration::from_secs(5);

/// Size of a chunk, in bytes; the interrupt is checked at each.
const CHUNK_BYTES: usize = 64 * 1024;

const MAX_BREAK_BYTES: usize = 2;

/// A range of lines: at most 2,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    first: usize,
    count: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) texts: Vec<String>,
    /// The number of all lines of the file.
    pub(crate) total: usize,
    /// Whether a line is longer than its text.
    pub(crate) has_cut_line: bool,
}

impl LineRange {
    pub(crate) fn new(offset: usize, count: usize) -> Self {
        Self { first: offset, count: count.min(MAX_LINES) }
    }

    /// Parses `A-B`, the lines from A to B, or `A`, one line; the first line is 1. `None` for another text and for more
    /// than 2,000 lines.
    pub fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<usize>().ok())?;
        let (first, last) = (number(first)?.checked_sub(1)?, number(last)?);
        let count = last.checked_sub(first).filter(|count| (1..=MAX_LINES).contains(count))?;
        Some(Self { first, count })
    }

    /// Reads the lines of this range; each is cut at its maximum length, and reading stops at `max_bytes`.
    pub(crate) fn read(
        self,
        tree: &mut Tree,
        path: &DocumentPath,
        max_bytes: usize,
        interrupt: &Interrupt,
    ) -> Result<Lines, DocumentError> {
        let text = TextFile::read(tree.file(path)?, Vec::new())?;
        let (mut lines, mut bytes) = (Lines::default(), 0);
        let range = self.first..self.first.saturating_add(self.count);
        let on_line = |_, Line { text, cut }| {
            bytes += text.len();
            if bytes <= max_bytes {
                let end = text.char_indices().nth(MAX_LINE_CHARS).map(|(end, _)| end);
                lines.has_cut_line |= cut || end.is_some();
                lines.texts.push(text.get(..end.unwrap_or(text.len())).unwrap_or_default().to_owned());
            }
        };
        // A character has at most four bytes.
        let max_line_bytes = 4 * MAX_LINE_CHARS;
        lines.total = split_lines(text.decode(), max_line_bytes, interrupt, |index| range.contains(&index), on_line)?;
        Ok(lines)
    }
}

impl Default for LineRange {
    fn default() -> Self {
        Self::new(0, MAX_LINES)
    }
}

/// Reads lines of a file for a client: text with `\n` after each line.
///
/// # Errors
/// Why the file cannot be read; `NotFound` for every path that tools skip.
pub async fn read_lines(
    source: &DocumentSource,
    caller: (&Owner, &Membership),
    path: &str,
    range: LineRange,
) -> Result<String, DocumentError> {
    let path = DocumentPath::parse(path)?;
    let read = move |tree: &mut Tree, interrupt: &Interrupt| range.read(tree, &path, MAX_TEXT_BYTES, interrupt);
    let lines = run_over(source, caller, READ_DURATION, read).await?;
    Ok(lines.texts.into_iter().map(|line| line + "\n").collect())
}

/// A line without its line break.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    text: String,
    /// Whether the text is only the beginning of the line.
    cut: bool,
}

/// Splits UTF-8 text into lines at `\n` and `\r\n`. A line break at the end of the text begins no line.
///
/// Calls `on_line` with the index, from 0, and the first `max_line_bytes`, cut at a character, of each line that
/// `is_wanted`; returns the number of all lines.
///
/// # Errors
/// `OutOfTime` when the interrupt is due; `Unreadable` if reading fails.
fn split_lines(
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

    #[test]
    fn line_ranges_count_from_one() {
        let range = |first, count| Some(LineRange { first, count });
        for (text, expected) in
            [("1-1", range(0, 1)), ("7", range(6, 1)), ("3-12", range(2, 10)), ("1-2000", range(0, 2000))]
        {
            assert_eq!(LineRange::parse(text), expected, "{text}");
        }
        for text in
            ["", "-", "0-1", "1-", "-3", "4-3", "1-2001", "a-b", "1-2-3", "+1-2", "1 - 2", "99999999999999999999"]
        {
            assert_eq!(LineRange::parse(text), None, "{text}");
        }
    }

    fn read(text: &[u8], max_line_bytes: usize, wanted: impl Fn(usize) -> bool) -> (usize, Vec<(usize, String, bool)>) {
        let interrupt = Interrupt::new(work::StopFlag::default(), Instant::now() + Duration::from_mins(1));
        let mut lines = Vec::new();
        let on_line = |index, Line { text, cut }| lines.push((index, text, cut));
        let count = split_lines(text, max_line_bytes, &interrupt, wanted, on_line).unwrap();
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
            let count = split_lines(Pieces(text, size), 6, &interrupt, |index| index != 1, on_line).unwrap();
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
        let read = split_lines(b"a".as_slice(), 9, &interrupt, |_| true, |_, _| {});
        assert_eq!(read, Err(DocumentError::OutOfTime));
    }
}
