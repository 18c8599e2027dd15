use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use store::RateLimit;

use crate::failure::SearchFailure;

/// Limits the searches of this process while the shared limiter is unavailable; one limit for all callers together.
///
/// It uses GCRA like the shared limiter: the state is the time at which the full burst is available again.
#[derive(Debug)]
pub(crate) struct LocalLimiter {
    limit: RateLimit,
    full_at: Mutex<SystemTime>,
}

impl LocalLimiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self { limit, full_at: Mutex::new(SystemTime::UNIX_EPOCH) }
    }

    pub(crate) fn admit(&self, now: SystemTime) -> Result<(), SearchFailure> {
        let RateLimit { burst, window } = self.limit;
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let after = (*full_at).max(now) + window / burst.max(1);
        match after.duration_since(now + window) {
            Ok(retry_after) if !retry_after.is_zero() => Err(SearchFailure::Limited { retry_after }),
            _ => {
                *full_at = after;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn f078_burst_is_admitted_then_single_searches() {
        let limiter = LocalLimiter::new(RateLimit { burst: 3, window: Duration::from_secs(30) });
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds);
        let denied = |seconds| Err(SearchFailure::Limited { retry_after: Duration::from_secs(seconds) });
        let seen = [0, 0, 0, 0, 4, 10, 11, 60].map(|second| limiter.admit(at(second)));
        let admitted = Ok(());
        assert_eq!(seen, [admitted, admitted, admitted, denied(10), denied(6), admitted, denied(9), admitted]);
    }
}
