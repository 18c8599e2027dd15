//! The health of a model, as observed in its calls.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use work::lock;

use crate::ModelError;
use crate::errors::{AttemptError, RetryAdvice};
use crate::health::breaker::Breaker;

/// How long a model is avoided after its key or its quota was rejected.
const REJECTION_PAUSE: Duration = Duration::from_mins(1);

/// The health of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct ModelHealth {
    pub(crate) breaker: Arc<Breaker>,
    rejection: Mutex<Option<Rejection>>,
}

/// A permanent rejection of the last call.
#[derive(Clone, Copy, Debug)]
struct Rejection {
    at: SystemTime,
    /// Whether every call would be rejected: because of the key or the quota.
    affects_all_calls: bool,
}

impl ModelHealth {
    pub(crate) fn new(breaker: Arc<Breaker>) -> Self {
        Self { breaker, rejection: Mutex::default() }
    }

    pub(crate) fn is_available(&self, now: SystemTime) -> bool {
        let rejection = lock(&self.rejection).filter(|rejection| rejection.affects_all_calls);
        // A clock that was set back ends the pause too.
        let is_paused =
            rejection.is_some_and(|rejection| now.duration_since(rejection.at).is_ok_and(|age| age < REJECTION_PAUSE));
        !is_paused && self.breaker.is_available(now)
    }

    pub(crate) fn is_failing(&self) -> bool {
        lock(&self.rejection).is_some() || self.breaker.is_open()
    }

    pub(crate) fn start_call(self: &Arc<Self>) -> CallHealth {
        let skips_retries = self.breaker.is_open();
        CallHealth { health: Arc::clone(self), attempt: 0, is_probe: self.breaker.begin_probe(), skips_retries }
    }
}

/// The health record of one call, from its first attempt to the end of its reply.
#[derive(Debug)]
pub(crate) struct CallHealth {
    health: Arc<ModelHealth>,
    attempt: u64,
    is_probe: bool,
    /// Whether the endpoint was down when the call started: then transient errors are not retried.
    pub(crate) skips_retries: bool,
}

impl CallHealth {
    pub(crate) fn begin_attempt(&mut self) {
        self.attempt = self.health.breaker.next_attempt();
    }

    pub(crate) fn record_failure(&self, fault: &AttemptError, now: SystemTime) {
        match fault.error {
            // A dead pooled connection is no failure of the endpoint, and neither is an error of one request.
            _ if fault.advice == RetryAdvice::NewConnection || fault.is_of_request => {}
            ModelError::Unavailable | ModelError::Stalled | ModelError::Disconnected | ModelError::BadResponse => {
                self.health.breaker.count_failure(self.attempt, self.is_probe, now);
            }
            ModelError::Rejected | ModelError::Auth | ModelError::QuotaExhausted
                if fault.advice == RetryAdvice::Never =>
            {
                let affects_all_calls = fault.error != ModelError::Rejected;
                *lock(&self.health.rejection) = Some(Rejection { at: now, affects_all_calls });
            }
            _ => {}
        }
    }

    pub(crate) fn record_success(&self, now: SystemTime) {
        *lock(&self.health.rejection) = None;
        self.health.breaker.close(now);
    }
}

impl Drop for CallHealth {
    fn drop(&mut self) {
        if self.is_probe {
            self.health.breaker.end_probe();
        }
    }
}

#[cfg(test)]
mod tests;
