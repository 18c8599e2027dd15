//! The health of a model, as observed in its calls.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::ModelError;
use crate::breaker::Breaker;
use crate::fault::{Again, Fault};

/// How long a model is avoided after its key or its quota was rejected.
const REFUSAL: Duration = Duration::from_mins(1);

/// The health of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct Health {
    pub(crate) breaker: Arc<Breaker>,
    refused: Mutex<Option<Refused>>,
}

/// A permanent rejection of the last call.
#[derive(Clone, Copy, Debug)]
struct Refused {
    at: SystemTime,
    /// Whether every call would be rejected: because of the key or the quota.
    always: bool,
}

impl Health {
    pub(crate) fn new(breaker: Arc<Breaker>) -> Self {
        Self { breaker, refused: Mutex::default() }
    }

    /// Whether the model should be used if there is a fallback.
    pub(crate) fn is_available(&self, now: SystemTime) -> bool {
        let refused = self.refused().filter(|refused| refused.always);
        // A clock that was set back ends the pause too.
        let passed_over = refused.is_some_and(|refused| now.duration_since(refused.at).is_ok_and(|age| age < REFUSAL));
        !passed_over && self.breaker.is_available(now)
    }

    /// Whether the last call was rejected permanently, or the endpoint is down.
    pub(crate) fn is_failing(&self) -> bool {
        self.refused().is_some() || self.breaker.is_open()
    }

    /// Starts to track a call.
    pub(crate) fn watch(self: &Arc<Self>) -> Watch {
        let single = self.breaker.is_open();
        Watch { health: Arc::clone(self), attempt: 0, probes: self.breaker.begin_probe(), single }
    }

    fn refused(&self) -> Option<Refused> {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_refused(&self, refused: Option<Refused>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = refused;
    }
}

/// The health record of one call, from its first attempt to the end of its reply.
#[derive(Debug)]
pub(crate) struct Watch {
    health: Arc<Health>,
    /// The number of the latest attempt.
    attempt: u64,
    /// Whether the call is the breaker's probe.
    probes: bool,
    single: bool,
}

impl Watch {
    /// Whether the endpoint was down when the call started: then transient errors are not retried.
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// Records the start of an attempt.
    pub(crate) fn begin_attempt(&mut self) {
        self.attempt = self.health.breaker.begin_attempt();
    }

    /// Records a failed attempt or an interrupted reply.
    pub(crate) fn failed(&self, fault: &Fault, now: SystemTime) {
        match fault.error {
            // A dead pooled connection is no failure of the endpoint.
            _ if fault.again == Again::NewConnection => {}
            ModelError::Unavailable | ModelError::Stalled | ModelError::Disconnected | ModelError::BadResponse => {
                self.health.breaker.failed(self.attempt, self.probes, now);
            }
            ModelError::Rejected | ModelError::Auth | ModelError::QuotaExhausted if fault.again == Again::Never => {
                let always = fault.error != ModelError::Rejected;
                self.health.set_refused(Some(Refused { at: now, always }));
            }
            _ => {}
        }
    }

    /// Records a complete reply.
    pub(crate) fn worked(&self, now: SystemTime) {
        self.health.set_refused(None);
        self.health.breaker.worked(now);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.probes {
            self.health.breaker.end_probe();
        }
    }
}

#[cfg(test)]
mod tests;
