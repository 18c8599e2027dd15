use std::time::Duration;

use crate::clock::span_micros;

/// The maximum burst and window (in seconds) that make sense for a caller; a larger limit is a typing error.
const MAX_BURST: u32 = 1_000_000;
const MAX_WINDOW_SECS: u64 = 31_536_000;

/// `N/Ws`: a burst of N requests, one of which becomes available again every W/N seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// N.
    pub burst: u32,
    /// W.
    pub window: Duration,
}

impl RateLimit {
    /// Parses `10/60s`: a burst from 1 to 1,000,000, a window from 1 s to a year, digits only.
    pub fn parse(text: &str) -> Option<Self> {
        let (burst, window) = text.strip_suffix('s')?.split_once('/')?;
        let (burst, window): (u32, u64) = (require_digits(burst)?.parse().ok()?, require_digits(window)?.parse().ok()?);
        let is_valid = (1..=MAX_BURST).contains(&burst) && (1..=MAX_WINDOW_SECS).contains(&window);
        is_valid.then(|| Self { burst, window: Duration::from_secs(window) })
    }

    /// The time after which one request is available again, in microseconds, rounded up so that a window never admits
    /// more.
    pub(super) fn interval_micros(self) -> i64 {
        let (window, burst) = (self.window_micros(), i64::from(self.burst.max(1)));
        (window / burst + i64::from(window % burst != 0)).max(1)
    }

    pub(super) fn window_micros(self) -> i64 {
        span_micros(self.window.min(Duration::from_secs(MAX_WINDOW_SECS)))
    }
}

/// Whole numbers parse with a sign too; a setting has none.
fn require_digits(text: &str) -> Option<&str> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_burst_and_window_in_seconds() {
        let expected = RateLimit { burst: 10, window: Duration::from_mins(1) };
        assert_eq!(RateLimit::parse("10/60s"), Some(expected));
        assert_eq!(expected.interval_micros(), 6_000_000);
        assert_eq!(RateLimit::parse("7/60s").map(RateLimit::interval_micros), Some(8_571_429));
    }

    #[test]
    fn f089_zero_and_malformed_limits_are_rejected() {
        let nonsense = [
            "", "10", "10/60", "/60s", "10/s", "0/60s", "10/0s", "+1/60s", "-1/60s", "1 /60s", "1/60ss", "1/60s ",
            "1/1/1s",
        ];
        for text in nonsense.into_iter().chain(["4294967296/1s", "1000001/1s", "1/31536001s", "1e3/60s", "１/60s"]) {
            assert_eq!(RateLimit::parse(text), None, "{text}");
        }
    }
}
