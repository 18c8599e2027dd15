use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::budget::next_hour;
use crate::failure::SearchFailure;

/// Pause after the provider rejected the key.
const KEY_REJECTION_PAUSE: Duration = Duration::from_mins(5);

/// Pauses searches after a lasting failure of the provider; one for each process.
#[derive(Debug, Default)]
pub(super) struct Pause {
    provider: &'static str,
    until: Mutex<Option<(SystemTime, SearchFailure)>>,
}

impl Pause {
    /// Creates the pause of the provider with this name, which does not rest yet.
    pub(super) fn new(provider: &'static str) -> Self {
        Self { provider, ..Self::default() }
    }

    /// Returns the failure of every search at `now` while searches are paused.
    pub(super) fn check(&self, now: SystemTime) -> Result<(), SearchFailure> {
        match *self.until.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((until, failure)) if now < until => Err(failure),
            _ => Ok(()),
        }
    }

    /// Records a failure at `now`. A transient one pauses searches for `rest`, as those of a busy provider, if there is
    /// one; one that the request is the cause of changes nothing.
    pub(super) fn record(&self, failure: SearchFailure, rest: Option<Duration>, now: SystemTime) {
        let pause = match (failure, rest) {
            (SearchFailure::Refused, _) => (now + KEY_REJECTION_PAUSE, failure),
            (SearchFailure::Exhausted, _) => (next_hour(now), failure),
            (SearchFailure::Rejected | SearchFailure::Unreadable, _) | (_, None) => return,
            (_, Some(rest)) => (now + rest, SearchFailure::Busy),
        };
        let provider = self.provider;
        if rest.is_some() {
            tracing::warn!(provider, ?failure, "a search provider is paused for a while");
        } else {
            tracing::error!(provider, ?failure, "searches are off for a while");
        }
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Some(pause);
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
        pause.record(SearchFailure::Refused, None, at(100));
        assert_eq!(pause.check(at(399)), Err(SearchFailure::Refused));
        assert_eq!(pause.check(at(400)), Ok(()));
    }

    #[test]
    fn f064_exhausted_plan_pauses_searches_until_next_hour() {
        let pause = Pause::default();
        pause.record(SearchFailure::Exhausted, None, at(3000));
        assert_eq!(pause.check(at(3599)), Err(SearchFailure::Exhausted));
        assert_eq!(pause.check(at(3600)), Ok(()));
    }

    #[test]
    fn f065_transient_failure_pauses_where_another_provider_searches() {
        let pause = Pause::default();
        let minute = Some(Duration::from_mins(1));
        for failure in [SearchFailure::Timeout, SearchFailure::Unavailable, SearchFailure::BadResponse] {
            pause.record(failure, minute, at(0));
            assert_eq!([pause.check(at(59)), pause.check(at(60))], [Err(SearchFailure::Busy), Ok(())], "{failure:?}");
        }
        pause.record(SearchFailure::Rejected, minute, at(100));
        assert_eq!(pause.check(at(101)), Ok(()), "the query may be the cause");
        pause.record(SearchFailure::Refused, minute, at(200));
        assert_eq!(pause.check(at(300)), Err(SearchFailure::Refused));
    }

    #[test]
    fn f065_transient_failures_do_not_pause_searches() {
        let pause = Pause::default();
        for failure in [SearchFailure::Timeout, SearchFailure::Busy, SearchFailure::Unavailable] {
            pause.record(failure, None, at(0));
        }
        assert_eq!(pause.check(at(0)), Ok(()));
    }
}
