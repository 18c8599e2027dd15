//! Finds numbers that are personal data: groups of digits whose form and check digits fit.

use std::ops::Range;

use crate::automaton::Automaton;
use crate::fold::FoldedText;
use crate::forms::{self, DIGITS, FORMS};
use crate::line::Line;
use crate::{DataKind, checks, keywords};

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
struct Candidate<'a> {
    line: &'a Line<'a>,
    /// The range of its groups.
    range: Range<usize>,
    /// The groups with the marks between them, and the `(` before them.
    form: &'a str,
    digits: &'a str,
    /// The patterns of [`FORMS`] that match its form.
    forms: u16,
    /// The patterns of [`DIGITS`] that match its digits.
    kinds: u16,
    /// The state of [`DIGITS`] after its digits.
    state: usize,
    group_count: usize,
    has_plus: bool,
    /// Whether nothing that belongs to the number follows.
    is_complete: bool,
}

/// The numbers of the wanted kinds, in order and without overlap.
pub(crate) fn find(line: &Line<'_>, kinds: &[DataKind]) -> Vec<(Range<usize>, DataKind)> {
    let (mut found, mut groups, mut end): (_, Vec<Group>, usize) = (Vec::new(), Vec::new(), 0);
    for range in line.folded.digit_runs() {
        let gap = line.folded.bytes.get(end..range.start).unwrap_or_default();
        let mark = if groups.is_empty() { None } else { gap_mark(gap) };
        if mark.is_none() {
            find_in_groups(line, &groups, kinds, &mut found);
            groups.clear();
        }
        end = range.end;
        groups.push(Group { range, mark, is_tight: mark.is_some() && matches!(gap, b"-" | b"_" | b".") });
    }
    find_in_groups(line, &groups, kinds, &mut found);
    found
}

/// Adds the numbers in groups that only marks separate.
fn find_in_groups(line: &Line<'_>, groups: &[Group], kinds: &[DataKind], found: &mut Vec<(Range<usize>, DataKind)>) {
    let (mut at, mut is_tight, mut buffers) = (0, false, (String::new(), String::new()));
    while let Some(window) = groups.get(at..(at + MAX_GROUPS + 2).min(groups.len())).filter(|window| !window.is_empty())
    {
        let count: usize = window.iter().take(MAX_GROUPS).map(|group| group.range.len()).sum();
        let is_number = !is_tight && count >= MIN_DIGITS;
        let matched = if is_number { longest_match(line, window, kinds, &mut buffers) } else { None };
        is_tight = matched.is_none() && window.get(1).is_some_and(|next| next.is_tight);
        at += matched.as_ref().map_or(1, |(count, ..)| *count);
        found.extend(matched.map(|(_, range, kind)| (range, kind)));
    }
}

/// The mark that represents the separators between two groups.
fn gap_mark(gap: &[u8]) -> Option<char> {
    let (mut mark, mut opens, mut closes) = (None, false, false);
    for byte in gap {
        let seen = match byte {
            b' ' => false,
            b'-' | b'_' => mark.replace('-').is_some(),
            b'/' => mark.replace('/').is_some(),
            b'.' => mark.replace(if gap.len() == 1 { '.' } else { ',' }).is_some(),
            b'(' => std::mem::replace(&mut opens, true),
            b')' => std::mem::replace(&mut closes, true),
            _ => true,
        };
        if seen {
            return None;
        }
    }
    let mark = match (opens, closes) {
        (false, false) => mark.unwrap_or(' '),
        (true, false) => '(',
        (false, true) => ')',
        (true, true) => 'b',
    };
    (!gap.is_empty()).then_some(mark)
}

/// The `(` and `+` before a position.
fn signs_before(folded: &FoldedText<'_>, start: usize) -> (Option<usize>, Option<usize>) {
    let plus =
        start.checked_sub(1).filter(|at| folded.byte(*at) == b'+' && !folded.byte_before(*at).is_ascii_alphanumeric());
    let opening = plus.unwrap_or(start).checked_sub(1).filter(|at| folded.byte(*at) == b'(');
    (opening, plus)
}

/// The longest match that begins with the first group: its number of groups, range and kind.
fn longest_match(
    line: &Line<'_>,
    window: &[Group],
    kinds: &[DataKind],
    (form, digits): &mut (String, String),
) -> Option<(usize, Range<usize>, DataKind)> {
    let folded = &line.folded;
    let start = window.first()?.range.start;
    if folded.byte_before(start).is_ascii_alphanumeric() && !line.is_after(start, &keywords::ANY) {
        return None;
    }
    let (opening, plus) = signs_before(folded, start);
    form.clear();
    digits.clear();
    form.extend(opening.map(|_| '('));
    let read = |automaton: &Automaton, state, text: &str| text.bytes().fold(state, |at, byte| automaton.step(at, byte));
    let (mut form_state, mut state) = (read(&FORMS, Automaton::START, form), Automaton::START);
    let mut longest = None;
    for (index, group) in window.iter().take(MAX_GROUPS).enumerate() {
        if index > 0 && group.mark.is_none() || digits.len() + group.range.len() > MAX_DIGITS {
            break;
        }
        #[cfg(test)]
        crate::tests::count_work(group.range.len());
        let (text, length) = (folded.text(group.range.clone()), form.len());
        form.extend(group.mark.filter(|_| index > 0));
        form.push_str(text);
        digits.push_str(text);
        form_state = read(&FORMS, form_state, form.get(length..).unwrap_or_default());
        state = read(&DIGITS, state, text);
        if digits.len() < MIN_DIGITS {
            continue;
        }
        let next = window.get(index + 1).filter(|next| next.is_tight);
        let candidate = Candidate {
            line,
            range: start..group.range.end,
            form,
            digits,
            forms: FORMS.matches(form_state),
            kinds: DIGITS.matches(state),
            state,
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
            && let Some(end) = self.identity_end()
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

    /// The end of the identity number that groups of digits form.
    fn identity_end(&self) -> Option<usize> {
        let Candidate { line, range, digits, .. } = self;
        let has = |form| self.forms & form != 0;
        if self.is_complete
            && match digits.len() {
                18 => self.kinds & forms::RESIDENT != 0 && checks::is_resident(digits),
                // The format until 1999. It has no check digit.
                15 => has(forms::OLD_RESIDENT) && line.is_after(range.start, &keywords::IDENTITY),
                13 => has(forms::KOREAN) && checks::is_korean(digits),
                11 => has(forms::BRAZILIAN) && checks::is_brazilian(digits),
                9 if self.group_count == 1 => line.is_after(range.start, &keywords::PASSPORT),
                9 => has(forms::SOCIAL_SECURITY),
                _ => false,
            }
        {
            return Some(range.end);
        }
        let is_spanish = digits.len() == 8 && self.group_count == 1;
        if !is_spanish && digits.len() != 17 {
            return None;
        }
        let mut rest = line.folded.from(range.end, 4).iter().enumerate().skip_while(|(_, byte)| b" -_".contains(byte));
        let (offset, letter) = rest.next()?;
        let end = range.end + offset + 1;
        let is_resident = || forms::DIGITS.matches(forms::DIGITS.step(self.state, *letter)) & forms::RESIDENT != 0;
        let number = format!("{digits}{}", char::from(letter.to_ascii_uppercase()));
        let is_number =
            if is_spanish { checks::is_spanish(&number) } else { is_resident() && checks::is_resident(&number) };
        (is_number && !line.folded.byte(end).is_ascii_alphanumeric()).then_some(end)
    }

    fn is_card(&self) -> bool {
        let mut groups = self.form.split(|c: char| !c.is_ascii_digit()).rev().skip(1);
        !self.has_plus
            && self.kinds & forms::CARD != 0
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
            return (count > 8 || self.group_count > 1) && self.kinds & forms::INTERNATIONAL != 0;
        }
        let has = |form| self.forms & form != 0;
        let is_named = || {
            count <= 13
                && self.group_count <= 5
                && !has(forms::DATE)
                && !self.form.contains('/')
                && self.line.is_after(self.range.start, &keywords::PHONE)
        };
        has(forms::PHONE)
            || (has(forms::SERVICE) && !self.is_round())
            || ((9..=11).contains(&count) && has(forms::TRUNK))
            || (count >= 11 && has(forms::EXIT_CODE))
            || is_named()
    }

    /// Whether it may be an amount in round groups: `400 500 6000`.
    fn is_round(&self) -> bool {
        let is_spaced = self.form.chars().all(|c| c.is_ascii_digit() || c == ' ');
        is_spaced && (self.form.split(' ').all(|group| group.ends_with("00")) || self.digits.ends_with("00000"))
    }
}
