use std::time::{Duration, SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;

/// Milliseconds since 1970; 0 before it.
pub(crate) fn millis(now: SystemTime) -> i64 {
    i64::try_from(since_epoch(now).as_millis()).unwrap_or(i64::MAX)
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

fn since_epoch(now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// RFC 3339 in UTC with milliseconds, always of the same width.
pub(crate) fn rfc3339(millis: i64) -> String {
    let seconds = millis.div_euclid(1000);
    let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (date, (hour, minute, second)) = (at.date(), at.to_hms());
    let (month, thousandths) = (u8::from(date.month()), millis.rem_euclid(1000));
    format!("{:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{thousandths:03}Z", date.year(), date.day())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_752_105_600_007), "2025-07-10T00:00:00.007Z");
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
