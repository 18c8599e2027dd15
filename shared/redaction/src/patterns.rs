//! Patterns of the operator: regular expressions with linear time in a window of text.

use std::ops::Range;

use bounded_regex::{Limits, Regex};
use serde::Deserialize;

/// Maximum number of patterns.
const MAX_PATTERNS: usize = 16;

/// The limits of a pattern. `.` takes about 1 KiB for each repetition, and a match longer than the overlap of two windows
/// may be missed: more repetitions are of no use.
const LIMITS: Limits = Limits { max_bytes: 200, max_compiled_bytes: 128 * 1024 };

/// Size of a window of a line that is searched at once, in bytes: repeated searches of a longer text can take quadratic
/// time.
const WINDOW_BYTES: usize = 1024;

/// Overlap of two windows, in bytes: the longest match that is always found.
const OVERLAP_BYTES: usize = 128;

/// After this number of matches the rest of a window is replaced too.
const MAX_MATCHES: usize = 64;

/// The accepted list of patterns, for the error of the setting.
pub(crate) const ACCEPTED: &str = "a JSON array of at most 16 objects with `name` (1 to 32 of a-z, 0-9, - and _, a letter \
    first) and `pattern` (a regular expression of at most 200 bytes without look-around and back-references that does \
    not match an empty text)";

pub(crate) struct Pattern {
    regex: Regex,
    pub(crate) placeholder: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    pattern: String,
}

/// Parses the patterns; `None` if the text is not [`ACCEPTED`].
pub(crate) fn parse(json: &str) -> Option<Vec<Pattern>> {
    let rows: Vec<Row> = serde_json::from_str(json).ok()?;
    let is_within_limit = rows.len() <= MAX_PATTERNS;
    is_within_limit.then(|| rows.into_iter().map(Pattern::new).collect()).flatten()
}

impl Pattern {
    fn new(Row { name, pattern }: Row) -> Option<Self> {
        let is_name_byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let is_valid_name =
            name.len() <= 32 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_name_byte);
        let regex = is_valid_name.then(|| bounded_regex::compile(&pattern, LIMITS)).flatten()?;
        let placeholder = format!("[{name}]");
        (!regex.is_match("")).then_some(Self { regex, placeholder })
    }

    /// The matches within a line.
    pub(crate) fn find(&self, line: &str) -> Vec<Range<usize>> {
        let (mut found, mut start) = (Vec::new(), 0);
        loop {
            let end = line.floor_char_boundary((start + WINDOW_BYTES).min(line.len()));
            let window = line.get(start..end).unwrap_or_default();
            for (count, matched) in self.regex.find_iter(window).take(MAX_MATCHES + 1).enumerate() {
                let length = if count == MAX_MATCHES { window.len() } else { matched.end() };
                found.extend((length > matched.start()).then_some(start + matched.start()..start + length));
            }
            if end == line.len() {
                return found;
            }
            start = line.floor_char_boundary(end - OVERLAP_BYTES);
        }
    }
}
