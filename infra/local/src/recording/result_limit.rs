use platform::settings::{SettingError, Settings};

use super::head::{Head, HistoryEntry};
use super::keys::KeyFilter;
use super::line::Entry;

/// Setting with the maximum length of recorded tool results, in characters.
const RECORD_RESULTS: &str = "RECORD_RESULTS";

/// Largest value of the setting.
const MAX_CHARS: u64 = 1_000_000;

/// Marks the end of a shortened result.
const ELLIPSIS: char = '…';

/// How much of each tool result is recorded: all of it, unless the settings limit it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ResultLimit {
    max_chars: Option<usize>,
}

impl ResultLimit {
    /// Reads the limit.
    ///
    /// # Errors
    /// A value that is not a number from 1 to 1,000,000.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let accepted = format!("a whole number from 1 to {MAX_CHARS}");
        let parse = |text: &str| text.parse().ok().filter(|chars| (1..=MAX_CHARS).contains(chars));
        let max_chars = settings.parse(RECORD_RESULTS, &accepted, parse)?;
        Ok(Self { max_chars: max_chars.and_then(|chars| usize::try_from(chars).ok()) })
    }

    /// Shortens the tool results of earlier turns, and adds the limit to the head.
    pub(super) fn cut_head(self, mut head: Head, keys: &KeyFilter) -> Head {
        let Some(max_chars) = self.max_chars else { return head };
        for content in head.history.iter_mut().flat_map(HistoryEntry::tool_results) {
            shorten(content, keys, max_chars);
        }
        Head { result_chars: Some(max_chars), ..head }
    }

    /// Shortens the result of a tool call for the model. What users read as the answer stays whole.
    pub(super) fn cut_entry(self, entry: &mut Entry, keys: &KeyFilter) {
        if let (Some(max_chars), Entry::Tool { result: Some(result), .. }) = (self.max_chars, entry) {
            result.shorten(|content| shorten(content, keys, max_chars));
        }
    }
}

/// Cuts a text; returns its former length in characters if it is cut. Keys are hidden first: a part of one would not be
/// recognised.
fn shorten(text: &mut String, keys: &KeyFilter, max_chars: usize) -> Option<usize> {
    text.char_indices().nth(max_chars)?;
    let whole_chars = text.chars().count();
    *text = String::from_utf8_lossy(&keys.hide(std::mem::take(text).into_bytes())).into_owned();
    let (end, _) = text.char_indices().nth(max_chars)?;
    text.truncate(end);
    text.push(ELLIPSIS);
    Some(whole_chars)
}

#[cfg(test)]
mod tests {
    use platform::secrets::Secret;

    use super::*;

    fn cut(text: &str, max_chars: usize) -> (String, Option<usize>) {
        let keys = KeyFilter::new(vec![Secret::by_value("sk-canary")]);
        let mut text = text.to_owned();
        let whole_chars = shorten(&mut text, &keys, max_chars);
        (text, whole_chars)
    }

    #[test]
    fn results_are_cut_between_characters() {
        assert_eq!(cut("预算", 2), ("预算".to_owned(), None));
        assert_eq!(cut("预算是三百万", 2), ("预算…".to_owned(), Some(6)));
        assert_eq!(cut("", 1), (String::new(), None));
    }

    #[test]
    fn cut_leaves_no_part_of_a_key() {
        for max_chars in 1..20 {
            let (text, _) = cut("the key is sk-canary", max_chars);
            assert!(!text.contains("sk"), "{text}");
        }
    }

    #[test]
    fn limit_is_a_positive_number() {
        let limit = |text: &str| ResultLimit::from_settings(&Settings::from_pairs([(RECORD_RESULTS, text)]));
        assert_eq!(limit("500"), Ok(ResultLimit { max_chars: Some(500) }));
        assert_eq!(limit(" "), Ok(ResultLimit::default()));
        for text in ["0", "1000001", "-1", "many"] {
            let error = limit(text).unwrap_err();
            assert_eq!(error.to_string(), "RECORD_RESULTS: expected a whole number from 1 to 1000000");
        }
    }
}
