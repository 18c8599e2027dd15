//! Time zones by IANA's names, with the rules that hold today.

use std::borrow::Cow;

use jiff::tz;

/// `RULE NAME…` on each line, the rule in POSIX's form for the `TZ` variable. From IANA's database 2026e; the test
/// `rules_are_those_of_the_database` makes it. The whole database, with the clocks of earlier years, would be 70 KB of
/// the function's zip. Gaza and Hebron also change their clocks in Ramadan, which no rule can express.
const ZONES: &str = include_str!("time_zone/rules.txt");

/// A time zone; dates and times before 2026 may be wrong in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone {
    name: Cow<'static, str>,
    rule: tz::TimeZone,
}

impl TimeZone {
    /// Coordinated Universal Time.
    pub const UTC: Self = Self { name: Cow::Borrowed("UTC"), rule: tz::TimeZone::UTC };

    /// Finds a zone by its IANA name, in any case; it gets the name as IANA writes it.
    pub fn find(name: &str) -> Option<Self> {
        let (rule, name) = zones().find(|(_, known)| known.eq_ignore_ascii_case(name))?;
        Some(Self { name: Cow::Borrowed(name), rule: tz::TimeZone::posix(rule).ok()? })
    }

    /// All IANA names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        zones().map(|(_, name)| name)
    }

    /// A zone that is always as far from UTC.
    pub(crate) fn fixed(name: String, offset: tz::Offset) -> Self {
        Self { name: Cow::Owned(name), rule: tz::TimeZone::fixed(offset) }
    }

    /// The name, such as `Asia/Shanghai`, or the offset, such as `UTC+05:30`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When its clocks change.
    pub fn rule(&self) -> tz::TimeZone {
        self.rule.clone()
    }
}

/// Rule and name of each zone.
fn zones() -> impl Iterator<Item = (&'static str, &'static str)> {
    ZONES.lines().flat_map(|line| {
        let mut parts = line.split(' ');
        let rule = parts.next().unwrap_or_default();
        parts.map(move |name| (rule, name))
    })
}

#[cfg(test)]
mod tests;
