//! Waits that a provider requests in the body of an error instead of a header.

use std::time::{Duration, SystemTime};

/// Texts before a wait, in lower case: Groq, OpenAI, Gemini, Azure and GitHub.
// Seen in `fixtures/refusals.jsonl`, with the source of each, 2026-11-23.
const BEFORE_WAIT: &[&str] = &["try again in ", "retry in ", "retry after ", "please wait "];

/// A requested wait above this is ignored as implausible.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// Whether a requested wait is neither zero nor more than a day.
pub(crate) fn is_plausible_wait(wait: Duration) -> bool {
    !wait.is_zero() && wait <= MAX_RETRY_AFTER
}

/// Parses a duration of Gemini's `RetryInfo`, such as `2s` or `48.5s`.
pub(super) fn of_retry_delay(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().strip_suffix('s')?.parse().ok()?).ok()
}

/// Parses OpenRouter's `X-RateLimit-Reset`: milliseconds since 1970, as a number or a string.
pub(super) fn of_reset(text: &str, now: SystemTime) -> Option<Duration> {
    let millis: u64 = text.trim().parse().ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis))?.duration_since(now).ok()
}

/// Parses the wait in a message in lower case, such as `try again in 1m2.5s`.
pub(super) fn of_message(message: &str) -> Option<Duration> {
    let rest = BEFORE_WAIT.iter().find_map(|before| Some(message.split_once(before)?.1))?;
    let (mut total, mut rest) = (Duration::ZERO, rest);
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let Ok(number) = number.parse::<f64>() else { break };
        let after = after.trim_start();
        let unit_length = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_length);
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds_of(unit)?).ok()?)?;
        rest = after;
    }
    Some(total).filter(|total| !total.is_zero())
}

fn seconds_of(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "milliseconds" => Some(0.001),
        "s" | "second" | "seconds" => Some(1.0),
        "m" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f001_waits_are_parsed_from_messages() {
        for (message, millis) in [
            ("please try again in 7.66s. need more", Some(7_660)),
            ("please try again in 20s.", Some(20_000)),
            ("try again in 6ms", Some(6)),
            ("try again in 1m2.5s", Some(62_500)),
            ("please retry in 48.939935699s.", Some(48_939)),
            ("please retry after 12 seconds. please go", Some(12_000)),
            ("please wait 3600 seconds before", Some(3_600_000)),
            ("try again in a while", None),
            ("try again in 5 parsecs", None),
            ("retry in 1e400s", None),
            ("retry in ", None),
            ("", None),
        ] {
            assert_eq!(of_message(message).map(|wait| wait.as_millis()), millis, "{message}");
        }
    }

    #[test]
    fn f001_reset_is_a_time_in_milliseconds() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        assert_eq!(of_reset("102500", now), Some(Duration::from_millis(2500)));
        assert_eq!((of_reset("99000", now), of_reset("soon", now)), (None, None));
        assert_eq!((of_retry_delay("2s"), of_retry_delay("2")), (Some(Duration::from_secs(2)), None));
    }
}
