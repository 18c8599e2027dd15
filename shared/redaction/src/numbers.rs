//! Finds numbers that are personal data: groups of digits whose form and check digits fit.

use std::ops::Range;

use crate::forms::{self, matches};
use crate::keywords;
use crate::line::Line;
use crate::{DataKind, checks, identity};

/// Maximum number of groups in one number.
const MAX_GROUPS: usize = 8;

/// Minimum number of digits in a number.
const MIN_DIGITS: usize = 7;

/// Maximum number of digits in a number; a longer one matches nothing.
const MAX_DIGITS: usize = 20;

/// Maximum length of a telephone extension, in digits.
const MAX_EXTENSION: usize = 6;

/// Consecutive digits.
struct Group {
    range: Range<usize>,
    /// The mark between the previous group and this one; `None` if they are not one number.
    mark: Option<char>,
    /// Whether that mark is a hyphen or dot without spaces: a version, a date, a decimal.
    is_tight: bool,
}

/// Consecutive groups that may be one number.
pub(crate) struct Candidate<'a> {
    pub(crate) line: &'a Line<'a>,
    /// The range of its groups.
    pub(crate) range: Range<usize>,
    /// The groups with the marks between them, and the `(` before them.
    pub(crate) form: &'a str,
    pub(crate) digits: &'a str,
    pub(crate) group_count: usize,
    has_plus: bool,
    /// Whether nothing that belongs to the number follows.
    pub(crate) is_complete: bool,
}

/// The numbers of the wanted kinds, in order and without overlap.
pub(crate) fn find(line: &Line<'_>, kinds: &[DataKind]) -> Vec<(Range<usize>, DataKind)> {
    let groups = read_groups(&line.folded.text);
    let (mut found, mut at, mut is_tight) = (Vec::new(), 0, false);
    while let Some(window) = groups.get(at..(at + MAX_GROUPS + 2).min(groups.len())).filter(|window| !window.is_empty())
    {
        let matched = if is_tight { None } else { longest_match(line, window, kinds) };
        is_tight = matched.is_none() && window.get(1).is_some_and(|next| next.is_tight);
        at += matched.as_ref().map_or(1, |(count, ..)| *count);
        found.extend(matched.map(|(_, range, kind)| (range, kind)));
    }
    found
}

fn read_groups(text: &str) -> Vec<Group> {
    let (mut groups, mut end): (Vec<Group>, usize) = (Vec::new(), 0);
    while let Some(start) = text.get(end..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
        let gap = text.get(end..end + start).unwrap_or_default();
        let start = end + start;
        let rest = text.get(start..).unwrap_or_default();
        end = start + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let mark = gap_mark(gap).filter(|_| !groups.is_empty());
        groups.push(Group { range: start..end, mark, is_tight: mark.is_some() && matches!(gap, "-" | "_" | ".") });
    }
    groups
}

/// The mark that represents the separators between two groups.
fn gap_mark(gap: &str) -> Option<char> {
    let count = |marks: &str| gap.chars().filter(|c| marks.contains(*c)).count();
    let is_valid =
        gap.chars().all(|c| " -_./()".contains(c)) && count("-_./") <= 1 && count("(") <= 1 && count(")") <= 1;
    let mark = match (count("("), count(")")) {
        (0, 0) if count("-_") == 1 => '-',
        (0, 0) if count("/") == 1 => '/',
        (0, 0) if count(".") == 1 => {
            if gap.len() == 1 {
                '.'
            } else {
                ','
            }
        }
        (0, 0) => ' ',
        (1, 0) => '(',
        (0, _) => ')',
        _ => 'b',
    };
    (is_valid && !gap.is_empty()).then_some(mark)
}

/// The longest match that begins with the first group: its number of groups, range and kind.
fn longest_match(line: &Line<'_>, window: &[Group], kinds: &[DataKind]) -> Option<(usize, Range<usize>, DataKind)> {
    let folded = &line.folded;
    let start = window.first()?.range.start;
    if folded.byte_before(start).is_ascii_alphanumeric() && !line.is_after(start, keywords::ANY) {
        return None;
    }
    let plus =
        start.checked_sub(1).filter(|at| folded.byte(*at) == b'+' && !folded.byte_before(*at).is_ascii_alphanumeric());
    let opening = plus.unwrap_or(start).checked_sub(1).filter(|at| folded.byte(*at) == b'(');
    let (mut form, mut digits) = (opening.map_or_else(String::new, |_| "(".to_owned()), String::new());
    let mut longest = None;
    for (index, group) in window.iter().take(MAX_GROUPS).enumerate() {
        if index > 0 && group.mark.is_none() || digits.len() + group.range.len() > MAX_DIGITS {
            break;
        }
        let text = folded.text.get(group.range.clone()).unwrap_or_default();
        form.extend(group.mark.filter(|_| index > 0));
        form.push_str(text);
        digits.push_str(text);
        if digits.len() < MIN_DIGITS {
            continue;
        }
        let next = window.get(index + 1).filter(|next| next.is_tight);
        let candidate = Candidate {
            line,
            range: start..group.range.end,
            form: &form,
            digits: &digits,
            group_count: index + 1,
            has_plus: plus.is_some(),
            is_complete: next.is_none() && !folded.byte(group.range.end).is_ascii_alphanumeric(),
        };
        let matched = candidate.identify(next, window.get(index + 2), kinds).map(|(end, kind)| {
            let closes = kind == DataKind::Phone && form.matches(')').count() + form.matches('(').count() % 2 > 1;
            let before = if kind == DataKind::Phone { opening.filter(|_| closes).or(plus) } else { None };
            (index + 1 + usize::from(end > group.range.end && next.is_some()), before.unwrap_or(start)..end, kind)
        });
        longest = matched.or(longest);
    }
    longest
}

impl Candidate<'_> {
    /// Its kind and where it ends; `next` directly follows with a hyphen or dot, `after` is the group after that.
    fn identify(&self, next: Option<&Group>, after: Option<&Group>, kinds: &[DataKind]) -> Option<(usize, DataKind)> {
        let is_wanted = |kind| kinds.contains(&kind);
        if is_wanted(DataKind::Id)
            && next.is_none()
            && let Some(end) = identity::number_end(self)
        {
            return Some((end, DataKind::Id));
        }
        if is_wanted(DataKind::Card) && self.is_complete && self.is_card() && !self.line.is_amount(&self.range) {
            return Some((self.range.end, DataKind::Card));
        }
        if !is_wanted(DataKind::Phone) || !self.is_phone() || self.line.is_amount(&self.range) {
            return None;
        }
        let Some(next) = next else { return self.is_complete.then_some((self.range.end, DataKind::Phone)) };
        let is_extension = self.digits.starts_with(['0', '1', '4', '8'])
            && next.mark == Some('-')
            && next.range.len() <= MAX_EXTENSION
            && after.is_none_or(|after| !after.is_tight)
            && !self.line.folded.byte(next.range.end).is_ascii_alphanumeric();
        is_extension.then_some((next.range.end, DataKind::Phone))
    }

    fn is_card(&self) -> bool {
        let mut groups = self.form.split(|c: char| !c.is_ascii_digit()).rev().skip(1);
        !self.has_plus
            && matches(&forms::CARD, self.digits)
            && groups.all(|group| group.len() >= 4)
            && !self.form.contains(['(', ')', 'b'])
            && checks::passes_luhn(self.digits)
    }

    fn is_phone(&self) -> bool {
        let count = self.digits.len();
        if !(7..=17).contains(&count) {
            return false;
        }
        if self.has_plus {
            return (count > 8 || self.group_count > 1) && matches(&forms::INTERNATIONAL, self.digits);
        }
        let is_named = || {
            count <= 13
                && self.group_count <= 5
                && !self.form.contains('/')
                && !matches(&forms::DATE, self.form)
                && self.line.is_after(self.range.start, keywords::PHONE)
        };
        matches(&forms::PHONE, self.form)
            || matches(&forms::AMERICAN, self.form)
            || (matches(&forms::SERVICE, self.form) && !self.is_round())
            || ((9..=11).contains(&count) && matches(&forms::TRUNK, self.form))
            || (count >= 11 && matches(&forms::EXIT_CODE, self.form))
            || is_named()
    }

    /// Whether it may be an amount in round groups: `400 500 6000`.
    fn is_round(&self) -> bool {
        let is_spaced = self.form.chars().all(|c| c.is_ascii_digit() || c == ' ');
        is_spaced && (self.form.split(' ').all(|group| group.ends_with("00")) || self.digits.ends_with("00000"))
    }
}
