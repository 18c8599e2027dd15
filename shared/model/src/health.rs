//! How a model does, as its calls show.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::ModelError;
use crate::breaker::Breaker;
use crate::fault::{Again, Fault};

/// How long a model is passed over when its key or its allowance was refused.
const REFUSAL: Duration = Duration::from_mins(1);

/// What is known of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct Health {
    pub(crate) breaker: Arc<Breaker>,
    refused: Mutex<Option<Refused>>,
}

/// The last call was refused for good.
#[derive(Clone, Copy, Debug)]
struct Refused {
    at: SystemTime,
    /// Whether by what any call would meet: the key or the allowance.
    always: bool,
}

impl Health {
    pub(crate) fn new(breaker: Arc<Breaker>) -> Self {
        Self { breaker, refused: Mutex::default() }
    }

    /// Whether the model is the one to ask, where there is another.
    pub(crate) fn is_available(&self, now: SystemTime) -> bool {
        let refused = self.refused().filter(|refused| refused.always);
        // A clock that was set back ends it too.
        let passed_over = refused.is_some_and(|refused| now.duration_since(refused.at).is_ok_and(|age| age < REFUSAL));
        !passed_over && self.breaker.is_available(now)
    }

    /// Whether the last call was refused for good, or the endpoint is down.
    pub(crate) fn is_failing(&self) -> bool {
        self.refused().is_some() || self.breaker.is_open()
    }

    /// Begins to watch a call.
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

/// One call, over its attempts and to the end of its reply; what it comes to is what is known next.
#[derive(Debug)]
pub(crate) struct Watch {
    health: Arc<Health>,
    /// The number of its latest attempt.
    attempt: u64,
    /// Whether it finds out for all whether the endpoint works again.
    probes: bool,
    single: bool,
}

impl Watch {
    /// Whether the endpoint counted as down when the call began: then it is not asked again and again.
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// Takes note that an attempt begins.
    pub(crate) fn begin_attempt(&mut self) {
        self.attempt = self.health.breaker.begin_attempt();
    }

    /// Takes note of a failed attempt, or of a reply that broke off.
    pub(crate) fn failed(&self, fault: &Fault, now: SystemTime) {
        match fault.error {
            // That a kept connection was dead says nothing about the endpoint.
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

    /// Takes note of a reply that came to its end.
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
