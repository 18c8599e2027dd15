//! Finds numbers that are personal data by matching groups of digits from each group on.

use std::collections::VecDeque;
use std::ops::Range;

use crate::candidate::Candidate;
use crate::characters::{continues, is_inside, previous};
use crate::groups::{Gap, Group, MAX_DIGITS, find_digit};
use crate::{DataKind, card, identity, keywords, phone};

/// Maximum number of groups in one number.
const MAX_GROUPS: usize = 8;

/// Maximum length of a telephone extension, in digits.
const MAX_EXTENSION: usize = 6;

struct Match {
    groups: usize,
    range: Range<usize>,
    kind: DataKind,
}

/// The context of the first group that is matched.
struct Position<'a> {
    text: &'a str,
    /// The first group and those that follow it.
    window: &'a [Group],
    /// The start of the number, including its `+`.
    start: usize,
    /// The position of the preceding `(`.
    opening_at: Option<usize>,
    has_plus: bool,
    /// Whether letters that are no keyword, or a tight group, directly precede the number.
    is_inside: bool,
}

/// Finds the numbers of the wanted kinds, in order and without overlap.
pub(crate) fn find(text: &str, is_wanted: &dyn Fn(DataKind) -> bool) -> Vec<(Range<usize>, DataKind)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = find_digit(text, from) {
        from = find_in_run(text, Group::read(text, start, Gap::default()), is_wanted, &mut found);
    }
    found
}

/// Matches all groups that gaps join; returns the end of the last one.
fn find_in_run(
    text: &str,
    first: Group,
    is_wanted: &dyn Fn(DataKind) -> bool,
    found: &mut Vec<(Range<usize>, DataKind)>,
) -> usize {
    let mut end = first.end;
    let mut window = VecDeque::from([first]);
    let mut tight = false;
    while !window.is_empty() {
        while window.len() < MAX_GROUPS
            && let Some(next) = window.back().and_then(|last| last.read_next(text))
        {
            window.push_back(next);
        }
        let matched = Position::new(text, window.make_contiguous(), tight).longest_match(is_wanted);
        let group_count = matched.as_ref().map_or(1, |matched| matched.groups);
        tight = matched.is_none() && window.get(1).is_some_and(|next| next.gap.is_tight());
        end = window.drain(..group_count).next_back().map_or(end, |group| group.end);
        found.extend(matched.map(|matched| (matched.range, matched.kind)));
    }
    end
}

impl<'a> Position<'a> {
    fn new(text: &'a str, window: &'a [Group], tight: bool) -> Self {
        let first = window.first().map_or(0, |group| group.start);
        let mut position = Self { text, window, start: first, opening_at: None, has_plus: false, is_inside: false };
        if let Some(('+', at)) = previous(text, first)
            && !is_inside(text, at)
        {
            (position.has_plus, position.start) = (true, at);
        }
        if let Some(('(', at)) = previous(text, position.start) {
            position.opening_at = Some(at);
        }
        position.is_inside = tight || (is_inside(text, first) && !keywords::is_before(text, first, keywords::ANY));
        position
    }

    /// The longest match that begins with the first group.
    fn longest_match(&self, is_wanted: &dyn Fn(DataKind) -> bool) -> Option<Match> {
        if self.is_inside {
            return None;
        }
        let mut digits = Vec::with_capacity(MAX_DIGITS);
        let mut best: Option<Match> = None;
        for count in 1..=self.window.len() {
            let groups = self.window.get(..count).unwrap_or_default();
            digits.extend_from_slice(groups.last().map_or(&[][..], Group::digits));
            let is_too_long = groups.last().is_none_or(|group| group.digit_count > MAX_DIGITS);
            if is_too_long || digits.len() > MAX_DIGITS {
                break;
            }
            let (text, plus, opened) = (self.text, self.has_plus, self.opening_at.is_some());
            let candidate = Candidate { text, groups, digits: &digits, has_plus: plus, is_parenthesised: opened };
            best = self.match_candidate(&candidate, is_wanted).or(best);
        }
        best
    }

    fn match_candidate(&self, candidate: &Candidate<'_>, is_wanted: &dyn Fn(DataKind) -> bool) -> Option<Match> {
        let count = candidate.groups.len();
        let next = self.window.get(count).filter(|next| next.gap.is_tight());
        let is_complete = next.is_none() && !continues(self.text, candidate.end());
        if is_wanted(DataKind::Id)
            && next.is_none()
            && let Some(end) = identity::identity_end(candidate, is_complete)
        {
            return Some(Match { groups: count, range: self.digits_start()..end, kind: DataKind::Id });
        }
        let is_amount = || keywords::is_amount(self.text, self.digits_start(), candidate.end());
        if is_wanted(DataKind::Card) && is_complete && card::is_card(candidate) && !is_amount() {
            return Some(Match { groups: count, range: self.digits_start()..candidate.end(), kind: DataKind::Card });
        }
        if !is_wanted(DataKind::Phone) || !phone::is_phone(candidate) || is_amount() {
            return None;
        }
        let phone = |groups, end| Match { groups, range: self.phone_start(candidate)..end, kind: DataKind::Phone };
        match next {
            None => is_complete.then(|| phone(count, candidate.end())),
            Some(next) => {
                let has_extension = phone::has_extensions(candidate) && self.is_extension(count, next);
                has_extension.then(|| phone(count + 1, next.end))
            }
        }
    }

    fn is_extension(&self, at: usize, group: &Group) -> bool {
        let is_last = self.window.get(at + 1).is_none_or(|after| !after.gap.is_tight());
        group.gap.is_hyphen() && group.digit_count <= MAX_EXTENSION && is_last && !continues(self.text, group.end)
    }

    fn digits_start(&self) -> usize {
        self.window.first().map_or(0, |group| group.start)
    }

    /// The start of a telephone number: its `+`, or the `(` that the number closes.
    fn phone_start(&self, candidate: &Candidate<'_>) -> usize {
        let closes_parenthesis = candidate.gaps().any(|gap| gap.closing > gap.opening);
        self.opening_at.filter(|_| closes_parenthesis).unwrap_or(self.start)
    }
}
