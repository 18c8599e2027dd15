//! Repairs JSON, cheap steps first.
//!
//! 1. Parse as it is.
//! 2. Parse after a normalising pass that changes only input which general repairers get wrong. It doubles backslashes
//!    that escape nothing (`\d` stays `\d`), escapes control characters and quotes inside strings, and converts
//!    full-width punctuation outside strings to ASCII.
//! 3. Use a general repairer, under a size cap.
//!
//! The text must be complete: a repairer closes everything that is open, so truncated text would become a call that the
//! model did not make.

use serde_json::Value;

use crate::json;

/// Maximum size of text for general repair, in bytes.
const MAX_REPAIR: usize = 256 * 1024;

/// Parses a JSON value that a model wrote and repairs common defects; `None` if it cannot be repaired.
///
/// An integer that exceeds 64 bits is returned as a string of its digits.
pub fn repair(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Some(value) = json::parse(text) {
        return Some(value);
    }
    let normalized = Normalizer::normalize(text);
    if let Some(value) = json::parse(&normalized) {
        return Some(value);
    }
    if text.is_empty() || normalized.len() > MAX_REPAIR {
        return None;
    }
    json::parse(&jsonrepair_rs::jsonrepair(&normalized).ok()?)
}

/// The normalising pass: copies the text and tracks at each character whether it is inside a string.
struct Normalizer<'a> {
    text: &'a str,
    out: String,
    /// True for an object, false for an array.
    nesting: Vec<bool>,
    /// In an object: whether a key comes next.
    expects_key: bool,
}

impl<'a> Normalizer<'a> {
    fn normalize(text: &'a str) -> String {
        let mut normalizer =
            Self { text, out: String::with_capacity(text.len() + 16), nesting: Vec::new(), expects_key: false };
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let after = at + c.len_utf8();
            at = match c {
                '"' => normalizer.copy_string(after, '"'),
                '\'' => normalizer.copy_string(after, '\''),
                '“' | '”' => normalizer.copy_string(after, '”'),
                _ => {
                    normalizer.push_structure(c);
                    after
                }
            };
        }
        normalizer.out
    }

    fn push_structure(&mut self, c: char) {
        let c = [('：', ':'), ('，', ',')].into_iter().find(|(wide, _)| *wide == c).map_or(c, |(_, ascii)| ascii);
        match c {
            '{' | '[' => {
                self.nesting.push(c == '{');
                self.expects_key = c == '{';
            }
            '}' | ']' => {
                self.nesting.pop();
                self.expects_key = false;
            }
            ':' => self.expects_key = false,
            ',' => self.expects_key = self.nesting.last().copied().unwrap_or_default(),
            _ => {}
        }
        self.out.push(c);
    }

    /// Copies a string whose content starts at `at`; returns the position after its end.
    fn copy_string(&mut self, mut at: usize, quote: char) -> usize {
        if !self.out.trim_end().ends_with([',', ':', '{', '[']) && !self.nesting.is_empty() {
            self.push_structure(',');
        }
        self.out.push('"');
        while let Some(c) = self.text[at..].chars().next() {
            let after = at + c.len_utf8();
            if c == quote && self.ends_string(after) {
                self.out.push('"');
                return after;
            }
            at = match c {
                '\\' => self.copy_escape(after),
                '"' => self.push_replacement("\\\"", after),
                '\n' => self.push_replacement("\\n", after),
                '\r' => self.push_replacement("\\r", after),
                '\t' => self.push_replacement("\\t", after),
                c if c < ' ' => self.push_replacement(&format!("\\u{:04x}", u32::from(c)), after),
                c => {
                    self.out.push(c);
                    after
                }
            };
        }
        at
    }

    fn push_replacement(&mut self, text: &str, after: usize) -> usize {
        self.out.push_str(text);
        after
    }

    /// Copies the text after a backslash; returns the position after it.
    fn copy_escape(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        match rest.as_bytes().first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.out.push('\\');
                self.push_replacement(&rest[..1], at + 1)
            }
            Some(b'u') if rest.len() >= 5 && rest.as_bytes()[1..5].iter().all(u8::is_ascii_hexdigit) => {
                self.copy_unicode(&rest[1..], at + 1)
            }
            // An escaped line break or apostrophe means the character itself.
            Some(b'\n' | b'\r' | b'\t' | b'\'') => at,
            _ => self.push_replacement("\\\\", at),
        }
    }

    /// Copies `XXXX` of a `\uXXXX`; a surrogate without its partner becomes U+FFFD.
    fn copy_unicode(&mut self, digits: &str, at: usize) -> usize {
        let unit = |hex: Option<&str>| hex.and_then(|hex| u16::from_str_radix(hex, 16).ok()).unwrap_or_default();
        let first = unit(digits.get(..4));
        let second = if digits.get(4..6) == Some("\\u") { unit(digits.get(6..10)) } else { 0 };
        let pair = (0xD800..0xDC00).contains(&first) && (0xDC00..0xE000).contains(&second);
        let (kept, length) = match first {
            _ if pair => (&digits[..10], 10),
            0xD800..0xE000 => ("fffd", 4),
            _ => (&digits[..4], 4),
        };
        self.out.push_str("\\u");
        self.push_replacement(kept, at + length)
    }

    /// Whether a quote before `at` ends its string: the text after it may follow a string.
    fn ends_string(&self, at: usize) -> bool {
        let rest = self.text[at..].trim_start();
        let spaced = rest.len() < self.text.len() - at;
        let Some(next) = rest.chars().next() else { return true };
        if self.expects_key {
            return matches!(next, ':' | '：');
        }
        match next {
            '}' | ']' => true,
            ',' | '，' => self.nesting.last() != Some(&true) || starts_member(&rest[next.len_utf8()..]),
            '"' | '/' => spaced,
            _ => false,
        }
    }
}

/// Whether the text after a comma in an object is like a next member, the object's end, or the end of the text.
fn starts_member(rest: &str) -> bool {
    let rest = rest.trim_start();
    let after_key = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    match rest.chars().next() {
        None | Some('"' | '\'' | '“' | '”' | '}' | '/') => true,
        _ => after_key.len() < rest.len() && after_key.trim_start().starts_with([':', '：']),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::repair;

    #[test]
    fn well_formed_json_is_parsed_unchanged() {
        assert_eq!(repair(r#" {"a": [1, "\u00e9\n"]} "#), Some(json!({"a": [1, "é\n"]})));
    }

    #[test]
    fn backslashes_that_escape_nothing_are_kept() {
        assert_eq!(
            repair(r#"{"re": "\d+\s", "path": "C:\Users\x"}"#),
            Some(json!({"re": r"\d+\s", "path": r"C:\Users\x"}))
        );
    }

    #[test]
    fn raw_line_breaks_and_inner_quotes_are_kept() {
        assert_eq!(repair("{\"a\": \"one\ntwo\tthree\"}"), Some(json!({"a": "one\ntwo\tthree"})));
        assert_eq!(
            repair(r#"{"a": "He said "hello" to me", "b": "x"}"#),
            Some(json!({"a": "He said \"hello\" to me", "b": "x"}))
        );
        assert_eq!(repair(r#"{"a": "say "hi", ok?"}"#), Some(json!({"a": "say \"hi\", ok?"})));
    }

    #[test]
    fn full_width_punctuation_is_read_outside_strings_only() {
        assert_eq!(
            repair("{\"tool\"：\"search_web\"，“query”：“北京，天气：今天”}"),
            Some(json!({"tool": "search_web", "query": "北京，天气：今天"}))
        );
    }

    #[test]
    fn common_defects_are_repaired() {
        for (text, value) in [
            (r#"{"a": 1, "b": [1, 2,],}"#, json!({"a": 1, "b": [1, 2]})),
            ("{'a': 'x', 'b': True, 'c': None}", json!({"a": "x", "b": true, "c": null})),
            (r#"{a: 1, b: "x"}"#, json!({"a": 1, "b": "x"})),
            (r#"{"a": 1 "b": 2}"#, json!({"a": 1, "b": 2})),
            (r#"{"a": {"b": "x"}"#, json!({"a": {"b": "x"}})),
            ("{\"a\": 1 // one\n}", json!({"a": 1})),
            (r#"{"a": "\ud83d x"}"#, json!({"a": "\u{fffd} x"})),
        ] {
            assert_eq!(repair(text), Some(value), "{text}");
        }
    }

    #[test]
    fn repaired_oversized_integer_keeps_its_digits() {
        assert_eq!(repair("{'id': 12345678901234567890123}"), Some(json!({"id": "12345678901234567890123"})));
    }

    #[test]
    fn blank_text_is_not_repaired() {
        assert_eq!(repair("  "), None);
    }
}
