//! Finds numbers that are personal data: groups of digits, and tokens that begin with one or two letters.

use std::cell::OnceCell;
use std::ops::Range;

use crate::forms::FORMS;
use crate::line::{Line, PARENTHESES};
use crate::{DataKind, keywords};

/// Maximum length of a number, in bytes of the folded text.
const MAX_LENGTH: usize = 80;

/// Maximum length of a telephone extension, in digits.
const MAX_EXTENSION: usize = 6;

/// A part of a line that has one of the [`FORMS`], and nothing that belongs to it follows.
pub(crate) struct Candidate<'a> {
    line: &'a Line<'a>,
    range: Range<usize>,
    /// The lists of keywords before it.
    keywords: &'a OnceCell<u32>,
}

/// The numbers of the wanted kinds, in order and without overlap.
pub(crate) fn find(line: &Line<'_>, kinds: &[DataKind]) -> Vec<(Range<usize>, DataKind)> {
    let (mut found, mut end) = (Vec::new(), 0);
    for start in 0..line.len() {
        if start >= end
            && may_begin(line, start, end)
            && let Some((range, kind)) = longest_match(line, start, kinds)
        {
            end = range.end;
            found.push((range, kind));
        }
    }
    found
}

/// Whether a number may begin at a position: not within a token, a version, a date or a decimal, if that is no number itself.
fn may_begin(line: &Line<'_>, start: usize, last_end: usize) -> bool {
    let before = line.byte_before(start);
    match line.byte(start) {
        b'0'..=b'9' if before.is_ascii_alphabetic() => line.keywords_before(start) & keywords::TOUCHING != 0,
        b'0'..=b'9' if is_tight(before) => start == last_end + 1 || !line.byte_before(start - 1).is_ascii_digit(),
        b'0'..=b'9' => !before.is_ascii_digit(),
        b'a'..=b'z' | b'A'..=b'Z' => !before.is_ascii_alphanumeric(),
        _ => false,
    }
}

/// Where the `(` and `+` before a number begin.
fn first_sign(line: &Line<'_>, start: usize) -> usize {
    let is_plus = |at: usize| line.byte_before(at) == b'+' && !line.byte_before(at - 1).is_ascii_alphanumeric();
    let is_digit = line.byte(start).is_ascii_digit();
    let plus = start - usize::from(is_digit && is_plus(start));
    plus - usize::from(is_digit && line.byte_before(plus) == b'(')
}

/// Whether a separator without spaces may be part of a version, a date or a decimal.
fn is_tight(byte: u8) -> bool {
    b"-_.".contains(&byte)
}

/// Whether a byte ends a number, whatever follows.
fn is_closing(byte: u8) -> bool {
    matches!(byte, b')' | PARENTHESES)
}

/// The longest number that begins at a position.
fn longest_match(line: &Line<'_>, start: usize, kinds: &[DataKind]) -> Option<(Range<usize>, DataKind)> {
    let (first, keywords) = (first_sign(line, start), OnceCell::new());
    let mut longest: Option<(Range<usize>, DataKind)> = None;
    for forms in FORMS.iter().filter(|forms| kinds.contains(&forms.kind)) {
        forms.table.scan(line.get(first..first + MAX_LENGTH), |length, matches| {
            let end = first + length;
            if line.byte(end).is_ascii_alphanumeric() && !is_closing(line.byte_before(end)) {
                return;
            }
            let candidate = Candidate { line, range: start..end, keywords: &keywords };
            let mut rows = forms.rows.iter().zip(0..).filter(|(_, row)| matches & 1 << row != 0);
            if rows.any(|((_, accepts), _)| accepts(&candidate))
                && (!candidate.is_amount() || forms.kind == DataKind::Id)
                && let Some(range) = candidate.complete(forms.kind, first)
                && longest.as_ref().is_none_or(|(longest, _)| range.end > longest.end)
            {
                longest = Some((range, forms.kind));
            }
        });
    }
    longest
}

impl Candidate<'_> {
    /// Its range, with the signs and the extension of a telephone number; `None` if something that belongs to it follows.
    fn complete(&self, kind: DataKind, first: usize) -> Option<Range<usize>> {
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

    /// Whether it ends with a closing parenthesis.
    pub(crate) fn is_closed(&self) -> bool {
        is_closing(self.line.byte_before(self.range.end))
    }

    fn is_amount(&self) -> bool {
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

    /// Whether one of these keywords precedes it.
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
