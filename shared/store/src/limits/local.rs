use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// The maximum number of keys in memory; callers choose keys, so there must be a bound.
const MOST_KEYS: usize = 10_000;

/// The time between two requests that pass without the store.
const ALLOWANCE: Duration = Duration::from_secs(1);

/// The memory of one instance between decisions.
#[derive(Debug, Default)]
pub(super) struct Local {
    /// The keys that are denied, so that a caller who retries in a loop causes no calls to the store.
    pub(super) denied: Until,
    /// The keys that are below a full burst, by this instance's knowledge: it selects the first write, which is usually
    /// right and then the only one.
    pub(super) busy: Until,
    spent: Option<SystemTime>,
}

/// Keys with an expiry; all are dropped when there are too many.
#[derive(Debug, Default)]
pub(super) struct Until(HashMap<String, Noted>);

/// The start and the length of a time span.
#[derive(Clone, Copy, Debug)]
struct Noted {
    since: SystemTime,
    span: Duration,
}

impl Until {
    /// The remaining time of a key, if it has not expired.
    ///
    /// After the clock was set back the whole span starts again at the new time, so that the size of the correction
    /// does not matter.
    pub(super) fn left(&mut self, key: &str, now: SystemTime) -> Option<Duration> {
        let noted = self.0.get_mut(key)?;
        noted.since = noted.since.min(now);
        let left = noted.left(now);
        if left.is_none() {
            self.0.remove(key);
        }
        left
    }

    /// Adds a key that expires after `remaining`.
    pub(super) fn note(&mut self, key: &str, now: SystemTime, left: Duration) {
        if self.0.len() >= MOST_KEYS {
            self.0.retain(|_, noted| noted.left(now).is_some());
        }
        if self.0.len() >= MOST_KEYS {
            self.0.clear();
        }
        self.0.insert(key.to_owned(), Noted { since: now, span: left });
    }
}

impl Noted {
    fn left(self, now: SystemTime) -> Option<Duration> {
        let elapsed = now.duration_since(self.since).unwrap_or_default();
        self.span.checked_sub(elapsed).filter(|left| !left.is_zero())
    }
}

impl Local {
    /// The time for which a key is still denied, if it is.
    pub(super) fn denial(&mut self, key: &str, now: SystemTime) -> Option<Duration> {
        // Also checked while the key is denied, to notice a clock that was set back.
        self.busy.left(key, now);
        self.denied.left(key, now)
    }

    /// Removes a key.
    pub(super) fn forget(&mut self, key: &str) {
        self.denied.0.remove(key);
        self.busy.0.remove(key);
    }

    /// Takes the one request of this second, if it is unused.
    pub(super) fn spend_allowance(&mut self, now: SystemTime) -> bool {
        // A clock that was set back must not block the instance: an error here counts as long ago.
        let since = self.spent.map_or(ALLOWANCE, |spent| now.duration_since(spent).unwrap_or(ALLOWANCE));
        let open = since >= ALLOWANCE;
        if open {
            self.spent = Some(now);
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn f090_denial_is_cached_until_its_end() {
        let (mut denied, second) = (Until::default(), Duration::from_secs(1));
        denied.note("k", UNIX_EPOCH, second * 6);
        assert_eq!(denied.left("k", UNIX_EPOCH + second * 4), Some(second * 2));
        assert_eq!(denied.left("k", UNIX_EPOCH + second * 6), None);
        assert_eq!(denied.left("other", UNIX_EPOCH), None);
    }

    #[test]
    fn f089_clock_set_back_prolongs_no_denial() {
        let (mut denied, second) = (Until::default(), Duration::from_secs(1));
        denied.note("k", UNIX_EPOCH + second * 3600, second * 6);
        assert_eq!(denied.left("k", UNIX_EPOCH), Some(second * 6));
        assert_eq!(denied.left("k", UNIX_EPOCH + second * 5), Some(second));
        assert_eq!(denied.left("k", UNIX_EPOCH + second * 6), None);
    }

    #[test]
    fn f090_denial_cache_is_bounded() {
        let mut denied = Until::default();
        for key in 0..=MOST_KEYS {
            denied.note(&key.to_string(), UNIX_EPOCH, ALLOWANCE);
        }
        assert_eq!(denied.0.len(), 1);
        assert!(denied.left(&MOST_KEYS.to_string(), UNIX_EPOCH).is_some());
    }

    #[test]
    fn f088_allowance_is_one_request_per_second() {
        let (mut local, step) = (Local::default(), Duration::from_millis(250));
        let passed: Vec<bool> = (0..9).map(|count| local.spend_allowance(UNIX_EPOCH + step * count)).collect();
        assert_eq!(passed, [true, false, false, false, true, false, false, false, true]);
    }
}
