//! Patterns of the operator: regular expressions with linear time in a window of text.

use std::ops::Range;

use bounded_regex::{Limits, Regex};
use platform::settings::{JsonFields, SettingError, Settings};
use serde::Deserialize;

const MAX_PATTERNS: usize = 16;

/// The limits of a pattern. A repetition takes about 100 bytes and its share of the time for each character, and a match
/// longer than the overlap of two windows may be missed: more repetitions are of no use.
const LIMITS: Limits = Limits { max_bytes: 200, max_compiled_bytes: 16 * 1024 };

/// Size of a window of a line that is searched at once, in bytes: repeated searches of a longer text can take quadratic
/// time.
const WINDOW_BYTES: usize = 1024;

/// Overlap of two windows, in bytes: the longest match that is always found.
const OVERLAP_BYTES: usize = 128;

/// After this number of matches the rest of a window is replaced too.
const MAX_MATCHES: usize = 64;

const VARIABLE: &str = "MASK_PATTERNS";

const ACCEPTED: &str = "a JSON array of at most 16 objects with `name` and `pattern`";

const NAME: (&str, &str) = ("name", "1 to 32 of a-z, 0-9, - and _, a letter first");

const PATTERN: (&str, &str) = (
    "pattern",
    "a regular expression of at most 200 bytes without look-around and back-references that does not match an empty text",
);

const FIELDS: &JsonFields = &[NAME, PATTERN];

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

pub(crate) fn read(settings: &Settings) -> Result<Vec<Pattern>, SettingError> {
    let rows: Vec<Row> = settings.parse_json(VARIABLE, ACCEPTED, FIELDS)?.unwrap_or_default();
    if rows.len() > MAX_PATTERNS {
        return Err(SettingError::new(VARIABLE, ACCEPTED));
    }
    let patterns = rows.into_iter().enumerate().map(|(index, row)| {
        Pattern::new(row)
            .map_err(|(field, accepted)| SettingError::new(VARIABLE, accepted).at(format!("[{index}].{field}")))
    });
    patterns.collect()
}

impl Pattern {
    /// Returns the field that is not accepted, and what it accepts, as an error.
    fn new(Row { name, pattern }: Row) -> Result<Self, (&'static str, &'static str)> {
        let is_name_byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let is_valid_name =
            name.len() <= 32 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_name_byte);
        if !is_valid_name {
            return Err(NAME);
        }
        let regex = bounded_regex::compile(&pattern, LIMITS).filter(|regex| !regex.is_match("")).ok_or(PATTERN)?;
        Ok(Self { regex, placeholder: format!("[{name}]") })
    }

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
