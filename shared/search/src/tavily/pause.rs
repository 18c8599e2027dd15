use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::budget::next_hour;
use crate::failure::SearchFailure;

/// Pause after the provider rejected the key.
const KEY_REJECTION_PAUSE: Duration = Duration::from_mins(5);

/// Pauses searches after a lasting failure of the provider; one for each process.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Mutex<Option<(SystemTime, SearchFailure)>>,
}

impl Pause {
    /// Returns the failure of every search at `now` while searches are paused.
    pub(super) fn check(&self, now: SystemTime) -> Result<(), SearchFailure> {
        match *self.until.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((until, failure)) if now < until => Err(failure),
            _ => Ok(()),
        }
    }

    /// Records a failure at `now`; a transient one changes nothing.
    pub(super) fn record(&self, failure: SearchFailure, now: SystemTime) {
        let until = match failure {
            SearchFailure::Refused => now + KEY_REJECTION_PAUSE,
            SearchFailure::Exhausted => next_hour(now),
            _ => return,
        };
        tracing::error!(?failure, "searches are off for a while");
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some((until, failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;

    /// Seconds after an hour began.
    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(500_000 * HOUR + seconds)
    }

    #[test]
    fn f062_rejected_key_pauses_searches_for_five_minutes() {
        let pause = Pause::default();
        pause.record(SearchFailure::Refused, at(100));
        assert_eq!(pause.check(at(399)), Err(SearchFailure::Refused));
        assert_eq!(pause.check(at(400)), Ok(()));
    }

    #[test]
    fn f064_exhausted_plan_pauses_searches_until_next_hour() {
        let pause = Pause::default();
        pause.record(SearchFailure::Exhausted, at(3000));
        assert_eq!(pause.check(at(3599)), Err(SearchFailure::Exhausted));
        assert_eq!(pause.check(at(3600)), Ok(()));
    }

    #[test]
    fn f065_transient_failures_do_not_pause_searches() {
        let pause = Pause::default();
        for failure in [SearchFailure::Timeout, SearchFailure::Busy, SearchFailure::Unavailable] {
            pause.record(failure, at(0));
        }
        assert_eq!(pause.check(at(0)), Ok(()));
    }
}
