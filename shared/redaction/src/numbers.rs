//! Finds numbers that are personal data: groups of digits, and tokens that begin with one or two letters.

use std::cell::OnceCell;
use std::ops::Range;

use crate::candidate::{Candidate, is_closing, is_tight};
use crate::forms::FORMS;
use crate::line::Line;
use crate::{DataKind, keywords};

/// Maximum length of a number, in bytes of the folded text.
const MAX_LENGTH: usize = 80;

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
