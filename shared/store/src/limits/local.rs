use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use work::make_space;

/// The maximum number of keys in memory; callers choose keys, so there must be a bound.
const MAX_KEYS: usize = 10_000;

/// The time between two requests that pass without the store.
const ALLOWANCE_INTERVAL: Duration = Duration::from_secs(1);

/// The memory of one instance between decisions.
#[derive(Debug, Default)]
pub(super) struct LocalMemory {
    /// The keys that are denied, so that a caller who retries in a loop causes no calls to the store.
    pub(super) denied: ExpiringKeys,
    /// The keys that are below a full burst, by this instance's knowledge: it selects the first write, which is usually
    /// right and then the only one.
    pub(super) busy: ExpiringKeys,
    allowance_used_at: Option<SystemTime>,
}

/// Keys with an expiry; all are dropped when there are too many.
#[derive(Debug, Default)]
pub(super) struct ExpiringKeys(HashMap<String, Expiry>);

/// The start and the length of a time span.
#[derive(Clone, Copy, Debug)]
struct Expiry {
    since: SystemTime,
    span: Duration,
}

impl ExpiringKeys {
    /// The remaining time of a key, if it has not expired.
    ///
    /// After the clock was set back the whole span starts again at the new time, so that the size of the correction
    /// does not matter.
    pub(super) fn remaining(&mut self, key: &str, now: SystemTime) -> Option<Duration> {
        let expiry = self.0.get_mut(key)?;
        expiry.since = expiry.since.min(now);
        let remaining = expiry.remaining(now);
        if remaining.is_none() {
            self.0.remove(key);
        }
        remaining
    }

    /// Adds a key that expires after `remaining`.
    pub(super) fn insert(&mut self, key: &str, now: SystemTime, remaining: Duration) {
        make_space(&mut self.0, MAX_KEYS, |expiry| expiry.remaining(now).is_some());
        self.0.insert(key.to_owned(), Expiry { since: now, span: remaining });
    }
}

impl Expiry {
    fn remaining(self, now: SystemTime) -> Option<Duration> {
        let elapsed = now.duration_since(self.since).unwrap_or_default();
        self.span.checked_sub(elapsed).filter(|remaining| !remaining.is_zero())
    }
}

impl LocalMemory {
    /// The time for which a key is still denied, if it is.
    pub(super) fn denial(&mut self, key: &str, now: SystemTime) -> Option<Duration> {
        // Also checked while the key is denied, to notice a clock that was set back.
        self.busy.remaining(key, now);
        self.denied.remaining(key, now)
    }

    /// Takes the one request of this second, if it is unused.
    pub(super) fn spend_allowance(&mut self, now: SystemTime) -> bool {
        // A clock that was set back must not block the instance: an error here counts as long ago.
        let since = self
            .allowance_used_at
            .map_or(ALLOWANCE_INTERVAL, |used_at| now.duration_since(used_at).unwrap_or(ALLOWANCE_INTERVAL));
        let is_available = since >= ALLOWANCE_INTERVAL;
        if is_available {
            self.allowance_used_at = Some(now);
        }
        is_available
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn f090_denial_is_cached_until_its_end() {
        let (mut denied, second) = (ExpiringKeys::default(), Duration::from_secs(1));
        denied.insert("k", UNIX_EPOCH, second * 6);
        assert_eq!(denied.remaining("k", UNIX_EPOCH + second * 4), Some(second * 2));
        assert_eq!(denied.remaining("k", UNIX_EPOCH + second * 6), None);
        assert_eq!(denied.remaining("other", UNIX_EPOCH), None);
    }

    #[test]
    fn f089_clock_set_back_prolongs_no_denial() {
        let (mut denied, second) = (ExpiringKeys::default(), Duration::from_secs(1));
        denied.insert("k", UNIX_EPOCH + second * 3600, second * 6);
        assert_eq!(denied.remaining("k", UNIX_EPOCH), Some(second * 6));
        assert_eq!(denied.remaining("k", UNIX_EPOCH + second * 5), Some(second));
        assert_eq!(denied.remaining("k", UNIX_EPOCH + second * 6), None);
    }

    #[test]
    fn f090_denial_cache_is_bounded() {
        let mut denied = ExpiringKeys::default();
        for key in 0..=MAX_KEYS {
            denied.insert(&key.to_string(), UNIX_EPOCH, ALLOWANCE_INTERVAL);
        }
        assert_eq!(denied.0.len(), 1);
        assert!(denied.remaining(&MAX_KEYS.to_string(), UNIX_EPOCH).is_some());
    }

    #[test]
    fn f088_allowance_is_one_request_per_second() {
        let (mut local, step) = (LocalMemory::default(), Duration::from_millis(250));
        let admitted: Vec<bool> = (0..9).map(|count| local.spend_allowance(UNIX_EPOCH + step * count)).collect();
        assert_eq!(admitted, [true, false, false, false, true, false, false, false, true]);
    }
}
