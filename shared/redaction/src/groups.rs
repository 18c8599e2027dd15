//! Groups of digits: `138 0013 8000` is three groups separated by spaces.

use crate::characters::{MAX_SPACES, fold, is_invisible, next};

/// Maximum number of digits in a group; a longer group matches nothing.
pub(crate) const MAX_DIGITS: usize = 20;

/// Consecutive digits, ignoring invisible characters.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) start: usize,
    pub(crate) end: usize,
    digits: [u8; MAX_DIGITS],
    /// Number of digits; any number above [`MAX_DIGITS`] is stored as `MAX_DIGITS + 1`.
    pub(crate) digit_count: usize,
    /// The separators between the previous group and this one.
    pub(crate) gap: Gap,
}

/// The separators between two groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) spaces: usize,
    pub(crate) hyphens: usize,
    pub(crate) dots: usize,
    pub(crate) opening: usize,
    pub(crate) closing: usize,
}

impl Gap {
    /// Whether the separators are at most marks without spaces or parentheses: a version, a date, a decimal.
    pub(crate) fn is_tight(self) -> bool {
        self.spaces + self.opening + self.closing == 0
    }

    /// Whether the gap has only spaces.
    pub(crate) fn is_space(self) -> bool {
        self.hyphens + self.dots + self.opening + self.closing == 0
    }

    /// Whether the gap is a hyphen, optionally with spaces around it.
    pub(crate) fn is_hyphen(self) -> bool {
        self.hyphens == 1 && self.dots + self.opening + self.closing == 0
    }

    /// Whether the gap is one dot.
    pub(crate) fn is_dot(self) -> bool {
        self.dots == 1 && self.is_tight() && self.hyphens == 0
    }

    fn separator_count(self) -> usize {
        self.spaces + self.hyphens + self.dots + self.opening + self.closing
    }

    /// Adds a character; returns `false` if it ends the gap.
    fn push(&mut self, c: char) -> bool {
        match c {
            ' ' => self.spaces += 1,
            '-' => self.hyphens += 1,
            '.' => self.dots += 1,
            '(' => self.opening += 1,
            ')' => self.closing += 1,
            _ => return false,
        }
        self.separator_count() <= MAX_SPACES && self.hyphens + self.dots <= 1 && self.opening <= 1 && self.closing <= 1
    }
}

impl Group {
    /// Reads the group that begins with the digit at `start`.
    pub(crate) fn read(text: &str, start: usize, gap: Gap) -> Self {
        let mut group = Self { start, end: start, digits: [0; MAX_DIGITS], digit_count: 0, gap };
        let mut at = start;
        while let Some((c, end)) = next(text, at) {
            let Some(digit) = c.to_digit(10) else { break };
            if let Some(slot) = group.digits.get_mut(group.digit_count) {
                *slot = u8::try_from(digit).unwrap_or_default();
            }
            group.digit_count = (group.digit_count + 1).min(MAX_DIGITS + 1);
            (group.end, at) = (end, end);
        }
        group
    }

    /// The group after this one, if a valid gap joins them.
    pub(crate) fn read_next(&self, text: &str) -> Option<Self> {
        let mut gap = Gap::default();
        let mut at = self.end;
        loop {
            let (c, end) = next(text, at)?;
            if c.is_ascii_digit() {
                let width = text.get(..end)?.chars().next_back()?.len_utf8();
                return Some(Self::read(text, end - width, gap));
            }
            if !gap.push(c) {
                return None;
            }
            at = end;
        }
    }

    pub(crate) fn digits(&self) -> &[u8] {
        self.digits.get(..self.digit_count).unwrap_or_default()
    }
}

/// The position of the first digit at or after `from`.
pub(crate) fn find_digit(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii() {
            if byte.is_ascii_digit() {
                return Some(at);
            }
            at += 1;
        } else {
            let c = text.get(at..)?.chars().next()?;
            if !is_invisible(c) && fold(c).is_ascii_digit() {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }
    None
}
