use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::DateTime;

/// Milliseconds since 1970; 0 before it.
pub(crate) fn millis(now: SystemTime) -> i64 {
    i64::try_from(since_epoch(now).as_millis()).unwrap_or(i64::MAX)
}

/// Seconds since 1970; 0 before it.
pub(crate) fn seconds(now: SystemTime) -> i64 {
    millis(now) / 1000
}

/// Microseconds since 1970; 0 before it.
pub(crate) fn micros(now: SystemTime) -> i64 {
    i64::try_from(since_epoch(now).as_micros()).unwrap_or(i64::MAX)
}

/// A duration in milliseconds, at most `i64::MAX`.
pub(crate) fn span_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// A duration in microseconds, at most `i64::MAX`.
pub(crate) fn span_micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

fn since_epoch(now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// RFC 3339 in UTC with milliseconds, always of the same width.
pub(crate) fn rfc3339(millis: i64) -> String {
    let since_epoch = SignedDuration::from_secs(millis.div_euclid(1000));
    let at = EPOCH.checked_add(since_epoch).unwrap_or(EPOCH);
    format!("{at}.{:03}Z", millis.rem_euclid(1000))
}

/// RFC 3339 in UTC with milliseconds.
pub fn rfc3339_of(time: SystemTime) -> String {
    rfc3339(millis(time))
}

/// Parses a time of RFC 3339; `None` for anything else and for times before 1970.
pub fn parse_time(text: &str) -> Option<SystemTime> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(UNIX_EPOCH + Duration::from_millis(time.as_millisecond().try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_752_105_600_007), "2025-07-10T00:00:00.007Z");
        assert_eq!(rfc3339(1_795_219_199_120), "2026-11-20T23:59:59.120Z");
        assert_eq!(rfc3339(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(253_402_300_800_000), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(i64::MAX), "1970-01-01T00:00:00.807Z");
    }

    #[test]
    fn f089_no_time_overflows() {
        let far = UNIX_EPOCH + Duration::from_hours(24 * 365 * 10_000_000);
        assert_eq!((micros(far), millis(far)), (i64::MAX, 315_360_000_000_000_000));
        assert_eq!(millis(UNIX_EPOCH - Duration::from_secs(1)), 0);
        assert_eq!(span_millis(Duration::MAX), i64::MAX);
    }
}
