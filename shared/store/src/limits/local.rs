use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// The most keys that are remembered; callers choose keys, so there must be an end.
const MOST_KEYS: usize = 10_000;

/// Between two requests that pass without the store.
const ALLOWANCE: Duration = Duration::from_secs(1);

/// What one instance remembers between decisions.
#[derive(Debug, Default)]
pub(super) struct Local {
    /// Until when a key has been denied, so that a caller who hammers costs the store nothing.
    pub(super) denied: Until,
    /// Until when a key is not back at its full burst, as far as is known here: what is tried first is mostly right, and
    /// one write.
    pub(super) busy: Until,
    spent: Option<SystemTime>,
}

/// Keys for which something holds for a while; some are forgotten when there are too many.
#[derive(Debug, Default)]
pub(super) struct Until(HashMap<String, SystemTime>);

impl Until {
    /// For how long it still holds for a key, if it does.
    pub(super) fn left(&mut self, key: &str, now: SystemTime) -> Option<Duration> {
        let left = self.0.get(key)?.duration_since(now).ok().filter(|left| !left.is_zero());
        if left.is_none() {
            self.0.remove(key);
        }
        left
    }

    /// Notes that it holds so long from now on.
    pub(super) fn note(&mut self, key: &str, now: SystemTime, left: Duration) {
        if self.0.len() >= MOST_KEYS {
            self.0.retain(|_, until| *until > now);
        }
        if self.0.len() >= MOST_KEYS {
            self.0.clear();
        }
        if let Some(until) = now.checked_add(left) {
            self.0.insert(key.to_owned(), until);
        }
    }
}

impl Local {
    /// Takes the one request of this second, if it is still there.
    pub(super) fn spend_allowance(&mut self, now: SystemTime) -> bool {
        // A clock that was set back must not close the instance: an error here counts as long ago.
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
    fn f090_a_denial_is_remembered_until_its_end_and_no_longer() {
        let (mut denied, second) = (Until::default(), Duration::from_secs(1));
        denied.note("k", UNIX_EPOCH, second * 6);
        assert_eq!(denied.left("k", UNIX_EPOCH + second * 4), Some(second * 2));
        assert_eq!(denied.left("k", UNIX_EPOCH + second * 6), None);
        assert_eq!(denied.left("other", UNIX_EPOCH), None);
    }

    #[test]
    fn f090_the_memory_of_denials_has_an_end() {
        let mut denied = Until::default();
        for key in 0..=MOST_KEYS {
            denied.note(&key.to_string(), UNIX_EPOCH, ALLOWANCE);
        }
        assert_eq!(denied.0.len(), 1);
        assert!(denied.left(&MOST_KEYS.to_string(), UNIX_EPOCH).is_some());
    }

    #[test]
    fn f088_the_allowance_is_one_request_a_second() {
        let (mut local, step) = (Local::default(), Duration::from_millis(250));
        let passed: Vec<bool> = (0..9).map(|count| local.spend_allowance(UNIX_EPOCH + step * count)).collect();
        assert_eq!(passed, [true, false, false, false, true, false, false, false, true]);
    }
}
