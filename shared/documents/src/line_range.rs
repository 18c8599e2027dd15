use std::time::Duration;

use domain::Owner;

use crate::document_path::DocumentPath;
use crate::encoding::TextFile;
use crate::interrupt::Interrupt;
use crate::line_reader::{self, Line};
use crate::tool::run_over;
use crate::tree::Tree;
use crate::{DocumentError, DocumentSource};

/// Maximum number of lines that are read at once.
pub(crate) const MAX_LINES: usize = 2000;

/// Longest line that is read, in characters.
pub(crate) const MAX_LINE_CHARS: usize = 2000;

/// Longest text that a client gets, in bytes.
const MAX_TEXT_BYTES: usize = 2 * 1024 * 1024;

/// Maximum duration of a read for a client.
const READ_DURATION: Duration = Duration::from_secs(5);

/// A range of lines: at most 2,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    first: usize,
    count: usize,
}

/// Lines of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) texts: Vec<String>,
    /// The number of all lines of the file.
    pub(crate) total: usize,
    /// Whether a line is longer than its text.
    pub(crate) has_cut_line: bool,
}

impl LineRange {
    /// At most `count` lines after the first `offset` ones.
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
    ///
    /// # Errors
    /// Why the file cannot be read.
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
        lines.total =
            line_reader::read_lines(text.decode(), max_line_bytes, interrupt, |index| range.contains(&index), on_line)?;
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
    owner: &Owner,
    path: &str,
    range: LineRange,
) -> Result<String, DocumentError> {
    let path = DocumentPath::parse(path)?;
    let read = move |tree: &mut Tree, interrupt: &Interrupt| range.read(tree, &path, MAX_TEXT_BYTES, interrupt);
    let lines = run_over(source, owner, READ_DURATION, read).await?;
    Ok(lines.texts.into_iter().map(|line| line + "\n").collect())
}

#[cfg(test)]
mod tests {
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
}
