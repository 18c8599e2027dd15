use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use tools::strip_invisible;

use crate::document_path::DocumentPath;
use crate::interrupt::Interrupt;

/// Maximum number of matching lines of one file that are shown.
const MAX_SHOWN: usize = 50;

/// Longest line that is shown, in characters.
const MAX_LINE_CHARS: usize = 500;

/// Characters that an excerpt shows before its match.
const CHARS_BEFORE: usize = 100;

/// Separates parts of a file that do not follow each other.
const SEPARATOR: &str = "--";

#[derive(Debug)]
pub(super) struct FileMatches {
    pub(super) path: DocumentPath,
    /// Lines such as `12:text`, or `11-text` for context; `--` separates parts of the file.
    pub(super) lines: Vec<String>,
    pub(super) count: usize,
    /// Whether some of them are not in `lines`.
    pub(super) is_cut: bool,
}

pub(super) struct LineSink<'a> {
    matcher: &'a RegexMatcher,
    interrupt: &'a Interrupt,
    max_bytes: usize,
    /// The length of all matching lines so far.
    pub(super) scanned_bytes: usize,
    lines: Vec<String>,
    count: usize,
}

impl<'a> LineSink<'a> {
    pub(super) fn new(matcher: &'a RegexMatcher, interrupt: &'a Interrupt, max_bytes: usize) -> Self {
        Self { matcher, interrupt, max_bytes, scanned_bytes: 0, lines: Vec::new(), count: 0 }
    }

    pub(super) fn into_matches(self, path: DocumentPath) -> FileMatches {
        let Self { mut lines, count, .. } = self;
        if lines.last().is_some_and(|line| line == SEPARATOR) {
            lines.pop();
        }
        FileMatches { path, lines, count, is_cut: count > MAX_SHOWN }
    }

    fn push(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\r', '\n']);
        let at = self.matcher.find(line.as_bytes()).ok().flatten().map_or(0, |found| found.start());
        let line = excerpt(line, at, MAX_LINE_CHARS);
        self.lines.push(format!("{}{mark}{line}", number.unwrap_or_default()));
    }

    fn continues(&self) -> bool {
        self.scanned_bytes < self.max_bytes && !self.interrupt.is_due()
    }
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.count += 1;
        self.scanned_bytes += found.bytes().len();
        if self.count <= MAX_SHOWN {
            self.push(found.line_number(), ':', found.bytes());
        }
        Ok(self.continues())
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.count <= MAX_SHOWN {
            self.push(line.line_number(), '-', line.bytes());
        }
        Ok(self.continues())
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.count <= MAX_SHOWN {
            self.lines.push(SEPARATOR.to_owned());
        }
        Ok(self.continues())
    }
}

/// Cuts a line to `max_chars` around the byte at `at`; removes what people cannot see.
fn excerpt(line: &str, at: usize, max_chars: usize) -> String {
    let line_chars = line.chars().count();
    if line_chars <= max_chars {
        return strip_invisible(line);
    }
    let match_chars = line.get(..line.floor_char_boundary(at)).map_or(0, |before| before.chars().count());
    let start = match_chars.saturating_sub(CHARS_BEFORE).min(line_chars - max_chars);
    let text: String = line.chars().skip(start).take(max_chars).collect();
    let (before, after) = (if start > 0 { "…" } else { "" }, if start + max_chars < line_chars { "…" } else { "" });
    format!("{before}{}{after}", strip_invisible(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_is_cut_around_its_match() {
        let line = format!("{}针{}", "前".repeat(300), "后".repeat(300));
        let cut = excerpt(&line, 900, 200);
        assert_eq!(cut, format!("…{}针{}…", "前".repeat(100), "后".repeat(99)));
        assert_eq!(excerpt(&line, 0, 200), format!("{}…", "前".repeat(200)));
        assert_eq!(excerpt(&line, line.len(), 200), format!("…{}", "后".repeat(200)));
        assert_eq!(excerpt("a\u{202E}b", 0, 200), "ab");
    }
}
