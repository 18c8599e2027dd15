//! Finds numbers that are personal data by matching groups of digits from each group on.

use std::collections::VecDeque;
use std::ops::Range;

use crate::characters::{continues, is_inside, previous};
use crate::groups::{Gap, Group, MAX_DIGITS, next_digit};
use crate::{Kind, card, identity, keywords, phone};

/// Maximum number of groups in one number.
const MAX_GROUPS: usize = 8;

/// Maximum length of a telephone extension, in digits.
const MAX_EXTENSION: usize = 6;

/// Consecutive groups that may be one number.
pub(crate) struct Candidate<'a> {
    pub(crate) text: &'a str,
    pub(crate) groups: &'a [Group],
    /// All digits of the groups.
    pub(crate) digits: &'a [u8],
    /// Whether `+` directly precedes the number and is no addition.
    pub(crate) plus: bool,
    /// Whether `(` directly precedes the number.
    pub(crate) opened: bool,
}

struct Match {
    groups: usize,
    range: Range<usize>,
    kind: Kind,
}

/// The context of the first group that is matched.
struct Position<'a> {
    text: &'a str,
    /// The first group and those that follow it.
    window: &'a [Group],
    /// The start of the number, including its `+`.
    start: usize,
    /// The position of the preceding `(`.
    opened: Option<usize>,
    plus: bool,
    /// Whether letters that are no keyword, or a tight group, directly precede the number.
    inside: bool,
}

/// Finds the numbers of the wanted kinds, in order and without overlap.
pub(crate) fn find(text: &str, wanted: &dyn Fn(Kind) -> bool) -> Vec<(Range<usize>, Kind)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = next_digit(text, from) {
        from = find_in_run(text, Group::read(text, start, Gap::default()), wanted, &mut found);
    }
    found
}

/// Matches all groups that gaps join; returns the end of the last one.
fn find_in_run(
    text: &str,
    first: Group,
    wanted: &dyn Fn(Kind) -> bool,
    found: &mut Vec<(Range<usize>, Kind)>,
) -> usize {
    let mut end = first.end;
    let mut window = VecDeque::from([first]);
    let mut tight = false;
    while !window.is_empty() {
        while window.len() < MAX_GROUPS
            && let Some(next) = window.back().and_then(|last| last.following(text))
        {
            window.push_back(next);
        }
        let matched = Position::new(text, window.make_contiguous(), tight).best(wanted);
        let taken = matched.as_ref().map_or(1, |matched| matched.groups);
        tight = matched.is_none() && window.get(1).is_some_and(|next| next.gap.is_tight());
        end = window.drain(..taken).next_back().map_or(end, |group| group.end);
        found.extend(matched.map(|matched| (matched.range, matched.kind)));
    }
    end
}

impl<'a> Position<'a> {
    fn new(text: &'a str, window: &'a [Group], tight: bool) -> Self {
        let first = window.first().map_or(0, |group| group.start);
        let mut position = Self { text, window, start: first, opened: None, plus: false, inside: false };
        if let Some(('+', at)) = previous(text, first)
            && !is_inside(text, at)
        {
            (position.plus, position.start) = (true, at);
        }
        if let Some(('(', at)) = previous(text, position.start) {
            position.opened = Some(at);
        }
        position.inside = tight || (is_inside(text, first) && !keywords::is_before(text, first, keywords::ANY));
        position
    }

    /// The longest match that begins with the first group.
    fn best(&self, wanted: &dyn Fn(Kind) -> bool) -> Option<Match> {
        if self.inside {
            return None;
        }
        let mut digits = Vec::with_capacity(MAX_DIGITS);
        let mut best: Option<Match> = None;
        for count in 1..=self.window.len() {
            let groups = self.window.get(..count).unwrap_or_default();
            digits.extend_from_slice(groups.last().map_or(&[][..], Group::digits));
            let long = groups.last().is_none_or(|group| group.len > MAX_DIGITS);
            if long || digits.len() > MAX_DIGITS {
                break;
            }
            let (text, plus, opened) = (self.text, self.plus, self.opened.is_some());
            let candidate = Candidate { text, groups, digits: &digits, plus, opened };
            best = self.matched(&candidate, wanted).or(best);
        }
        best
    }

    fn matched(&self, candidate: &Candidate<'_>, wanted: &dyn Fn(Kind) -> bool) -> Option<Match> {
        let count = candidate.groups.len();
        let next = self.window.get(count).filter(|next| next.gap.is_tight());
        let plain = next.is_none() && !continues(self.text, candidate.end());
        if wanted(Kind::Id)
            && next.is_none()
            && let Some(end) = identity::end(candidate, plain)
        {
            return Some(Match { groups: count, range: self.first()..end, kind: Kind::Id });
        }
        let amount = || keywords::is_amount(self.text, self.first(), candidate.end());
        if wanted(Kind::Card) && plain && card::is_one(candidate) && !amount() {
            return Some(Match { groups: count, range: self.first()..candidate.end(), kind: Kind::Card });
        }
        if !wanted(Kind::Phone) || !phone::is_one(candidate) || amount() {
            return None;
        }
        let phone = |groups, end| Match { groups, range: self.lead(candidate)..end, kind: Kind::Phone };
        match next {
            None => plain.then(|| phone(count, candidate.end())),
            Some(next) => {
                let extension = phone::has_extensions(candidate) && self.is_extension(count, next);
                extension.then(|| phone(count + 1, next.end))
            }
        }
    }

    fn is_extension(&self, at: usize, group: &Group) -> bool {
        let last = self.window.get(at + 1).is_none_or(|after| !after.gap.is_tight());
        group.gap.is_hyphen() && group.len <= MAX_EXTENSION && last && !continues(self.text, group.end)
    }

    fn first(&self) -> usize {
        self.window.first().map_or(0, |group| group.start)
    }

    /// The start of a telephone number: its `+`, or the `(` that the number closes.
    fn lead(&self, candidate: &Candidate<'_>) -> usize {
        let closed = candidate.gaps().any(|gap| gap.closing > gap.opening);
        self.opened.filter(|_| closed).unwrap_or(self.start)
    }
}

impl Candidate<'_> {
    pub(crate) fn end(&self) -> usize {
        self.groups.last().map_or(0, |group| group.end)
    }

    pub(crate) fn start(&self) -> usize {
        self.groups.first().map_or(0, |group| group.start)
    }

    /// The gaps between its groups.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = Gap> + '_ {
        self.groups.iter().skip(1).map(|group| group.gap)
    }

    /// The lengths of its groups.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.groups.iter().map(|group| group.len)
    }

    /// Whether its groups have these lengths.
    pub(crate) fn has_form(&self, form: &[usize]) -> bool {
        self.lengths().eq(form.iter().copied())
    }

    /// Whether its digits begin with `beginning`.
    pub(crate) fn begins(&self, beginning: &[u8]) -> bool {
        self.digits.starts_with(beginning)
    }
}

/// The number that the digits form; saturates on overflow.
pub(crate) fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum: u64, digit| sum.saturating_mul(10).saturating_add(u64::from(*digit)))
}
