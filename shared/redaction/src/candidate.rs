use crate::groups::{Gap, Group};

/// Consecutive groups that may be one number.
pub(crate) struct Candidate<'a> {
    pub(crate) text: &'a str,
    pub(crate) groups: &'a [Group],
    /// All digits of the groups.
    pub(crate) digits: &'a [u8],
    /// Whether `+` directly precedes the number and is no addition.
    pub(crate) has_plus: bool,
    /// Whether `(` directly precedes the number.
    pub(crate) is_parenthesised: bool,
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
        self.groups.iter().map(|group| group.digit_count)
    }

    /// Whether its groups have these lengths.
    pub(crate) fn has_form(&self, form: &[usize]) -> bool {
        self.lengths().eq(form.iter().copied())
    }

    /// Whether its digits begin with `beginning`.
    pub(crate) fn starts_with(&self, beginning: &[u8]) -> bool {
        self.digits.starts_with(beginning)
    }
}

/// The number that the digits form; saturates on overflow.
pub(crate) fn to_number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum: u64, digit| sum.saturating_mul(10).saturating_add(u64::from(*digit)))
}
