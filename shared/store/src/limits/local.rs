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
    denied: HashMap<String, SystemTime>,
    spent: Option<SystemTime>,
}

impl Local {
    /// How long the key stays denied, if it is.
    pub(super) fn denied(&mut self, key: &str, now: SystemTime) -> Option<Duration> {
        let left = self.denied.get(key)?.duration_since(now).ok().filter(|left| !left.is_zero());
        if left.is_none() {
            self.denied.remove(key);
        }
        left
    }

    /// Remembers a denial.
    pub(super) fn deny(&mut self, key: String, now: SystemTime, retry_after: Duration) {
        if self.denied.len() >= MOST_KEYS {
            self.denied.retain(|_, until| *until > now);
        }
        if self.denied.len() >= MOST_KEYS {
            self.denied.clear();
        }
        if let Some(until) = now.checked_add(retry_after) {
            self.denied.insert(key, until);
        }
    }

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
        let (mut local, second) = (Local::default(), Duration::from_secs(1));
        local.deny("k".to_owned(), UNIX_EPOCH, second * 6);
        assert_eq!(local.denied("k", UNIX_EPOCH + second * 4), Some(second * 2));
        assert_eq!(local.denied("k", UNIX_EPOCH + second * 6), None);
        assert_eq!(local.denied("other", UNIX_EPOCH), None);
    }

    #[test]
    fn f090_the_memory_of_denials_has_an_end() {
        let mut local = Local::default();
        for key in 0..=MOST_KEYS {
            local.deny(key.to_string(), UNIX_EPOCH, ALLOWANCE);
        }
        assert_eq!(local.denied.len(), 1);
        assert!(local.denied(&MOST_KEYS.to_string(), UNIX_EPOCH).is_some());
    }

    #[test]
    fn f088_the_allowance_is_one_request_a_second() {
        let (mut local, step) = (Local::default(), Duration::from_millis(250));
        let passed: Vec<bool> = (0..9).map(|count| local.spend_allowance(UNIX_EPOCH + step * count)).collect();
        assert_eq!(passed, [true, false, false, false, true, false, false, false, true]);
    }
}
