use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Span;
use jiff::civil::Date;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// The number of 9999-12-31, the last day whose date has ten characters.
const LAST_DAY: u32 = 2_932_896;

/// A day in UTC, displayed as `2026-11-21`; from 1970 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    /// The day of a time.
    pub fn of(now: SystemTime) -> Self {
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self(u32::try_from(seconds / SECONDS_PER_DAY).unwrap_or(LAST_DAY).min(LAST_DAY))
    }

    /// The day `days` before this one.
    #[must_use]
    pub fn before(self, days: u32) -> Self {
        Self(self.0.saturating_sub(days))
    }

    /// The midnight that ends the day.
    pub fn end(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs((u64::from(self.0) + 1) * SECONDS_PER_DAY)
    }

    pub(crate) fn date(self) -> Date {
        let days = Span::new().try_days(self.0).ok();
        days.and_then(|days| EPOCH.checked_add(days).ok()).unwrap_or(Date::MAX)
    }

    /// Parses a date in its displayed form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let date: Date = text.parse().ok()?;
        let day = Self(u32::try_from(EPOCH.until(date).ok()?.get_days()).ok()?);
        (day.to_string() == text).then_some(day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.date().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn f141_day_ends_at_midnight_utc() {
        let day = Day::of(at(1_795_219_200));
        assert_eq!(day.to_string(), "2026-11-21");
        assert_eq!(day.end(), at(1_795_305_600));
        assert_eq!(Day::of(day.end() - Duration::from_nanos(1)), day);
        assert_eq!(Day::of(day.end()).to_string(), "2026-11-22");
        assert_eq!(day.before(21).to_string(), "2026-10-31");
    }

    #[test]
    fn only_displayed_days_parse() {
        for seconds in [0, 951_782_400, 1_795_219_200, u64::from(LAST_DAY) * SECONDS_PER_DAY] {
            let day = Day::of(at(seconds));
            assert_eq!(Day::parse(&day.to_string()), Some(day), "{day}");
        }
        for text in ["", "2026-11", "2026-11-1", "2026-02-29", "1969-12-31", "2026-11-21 ", "+2026-11-21", "-1-1-1"] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }

    #[test]
    fn f089_any_time_has_a_day() {
        assert_eq!(Day::of(at(u64::MAX / 4)).to_string(), "9999-12-31");
        assert_eq!(Day::of(at(u64::MAX / 4)).before(1).to_string(), "9999-12-30");
        assert_eq!(Day::of(at(0)).before(1).to_string(), "1970-01-01");
    }
}
