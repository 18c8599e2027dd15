use std::cell::OnceCell;
use std::ops::Range;

use crate::DataKind;
use crate::line::{Line, PARENTHESES};

/// Maximum length of a telephone extension, in digits.
const MAX_EXTENSION: usize = 6;

/// A part of a line that has one of the forms of personal data, and nothing that belongs to it follows.
pub(crate) struct Candidate<'a> {
    pub(crate) line: &'a Line<'a>,
    pub(crate) range: Range<usize>,
    /// The lists of keywords before it.
    pub(crate) keywords: &'a OnceCell<u32>,
}

/// Whether a separator without spaces may be part of a version, a date or a decimal.
pub(crate) fn is_tight(byte: u8) -> bool {
    b"-_.".contains(&byte)
}

/// Whether a byte ends a number, whatever follows.
pub(crate) fn is_closing(byte: u8) -> bool {
    matches!(byte, b')' | PARENTHESES)
}

impl Candidate<'_> {
    /// Its range, with the signs and the extension of a telephone number; `None` if something that belongs to it follows.
    pub(crate) fn complete(&self, kind: DataKind, first: usize) -> Option<Range<usize>> {
        let Range { start, end } = self.range;
        let is_continued = |end| is_tight(self.line.byte(end)) && self.line.byte(end + 1).is_ascii_digit();
        if kind != DataKind::Phone {
            let is_digits = !self.text().contains(|c: char| c.is_ascii_alphabetic());
            return (!is_digits || !is_continued(end)).then_some(start..end);
        }
        let count = |mark: char| self.text().matches(mark).count();
        let is_open = self.line.byte(first) == b'(' && count(')') <= count('(');
        let start = first + usize::from(is_open);
        if !is_continued(end) {
            return Some(start..end);
        }
        let digits = self.line.get(end + 1..end + 2 + MAX_EXTENSION).iter().take_while(|byte| byte.is_ascii_digit());
        let extended = end + 1 + digits.count();
        let is_extension = self.line.byte(end) != b'.'
            && self.text().starts_with(['0', '1', '4', '8'])
            && extended <= end + 1 + MAX_EXTENSION
            && !self.line.byte(extended).is_ascii_alphanumeric()
            && !is_continued(extended);
        is_extension.then_some(start..extended)
    }

    pub(crate) fn is_closed(&self) -> bool {
        is_closing(self.line.byte_before(self.range.end))
    }

    pub(crate) fn is_amount(&self) -> bool {
        self.text().starts_with(|c: char| c.is_ascii_digit()) && self.line.is_amount(&self.range)
    }

    /// Its digits and letters with the marks between them.
    pub(crate) fn text(&self) -> &str {
        self.line.text(self.range.clone())
    }

    /// Its digits and letters, in capitals.
    pub(crate) fn number(&self) -> String {
        let mut number = self.text().to_ascii_uppercase();
        number.retain(|c| c.is_ascii_alphanumeric());
        number
    }

    pub(crate) fn is_after(&self, lists: u32) -> bool {
        self.keywords.get_or_init(|| self.line.keywords_before(self.range.start)) & lists != 0
    }

    /// Whether it has at most five groups, which are no date.
    pub(crate) fn is_call_number(&self) -> bool {
        let groups: Vec<usize> = self.text().split(|c: char| !c.is_ascii_digit()).map(str::len).collect();
        groups.len() <= 5 && !matches!(groups[..], [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4])
    }

    /// Whether it may be an amount in round groups: `400 500 6000`.
    pub(crate) fn is_round(&self) -> bool {
        let is_spaced = self.text().chars().all(|c| c.is_ascii_digit() || c == ' ');
        is_spaced && (self.text().split(' ').all(|group| group.ends_with("00")) || self.number().ends_with("00000"))
    }
}
