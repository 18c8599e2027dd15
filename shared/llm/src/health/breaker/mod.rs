//! Circuit breakers of endpoints. They only advise callers that have a fallback model; they never reject a call.

mod window;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;
use work::lock;

use self::window::Window;
use crate::{EndpointHealth, Wire};

/// How long the breaker stays open at first, and at most.
const FIRST_DOWN_TIME: Duration = Duration::from_secs(10);
const MAX_DOWN_TIME: Duration = Duration::from_mins(2);

/// The minimum time between two reads of the state that other processes published.
const POLL_INTERVAL: Duration = Duration::from_secs(3);

/// The breakers of this process, one per endpoint.
#[derive(Debug, Default)]
pub(crate) struct Breakers {
    by_endpoint: Mutex<HashMap<String, Arc<Breaker>>>,
}

impl Breakers {
    pub(crate) fn for_endpoint(&self, wire: Wire, base_url: &str) -> Arc<Breaker> {
        let mut breakers = lock(&self.by_endpoint);
        Arc::clone(breakers.entry(endpoint_key(wire, base_url)).or_default())
    }
}

/// Returns the name of an endpoint; it contains no secret.
pub(crate) fn endpoint_key(wire: Wire, base_url: &str) -> String {
    format!("{wire:?} {base_url}")
}

/// Opens when at least half of the latest attempts failed. Each failed probe doubles the time; a success closes it.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    state: Mutex<BreakerState>,
    change_notify: Notify,
}

#[derive(Debug, Default)]
struct BreakerState {
    window: Window,
    outage: Option<Outage>,
    /// Whether a call that probes the endpoint is in progress.
    probing: bool,
    changed_at: Option<SystemTime>,
    /// Whether the last change still has to be published to other processes.
    unpublished: bool,
    last_poll: Option<SystemTime>,
}

#[derive(Clone, Copy, Debug)]
struct Outage {
    until: SystemTime,
    duration: Duration,
}

impl Breaker {
    /// Whether the breaker is closed, or half open without a probe in progress.
    pub(crate) fn is_available(&self, now: SystemTime) -> bool {
        let state = lock(&self.state);
        // A clock that was set back must not keep the breaker open for longer than `MAX_DOWN_TIME`.
        let left = |outage: Outage| {
            outage.until.duration_since(now).ok().filter(|left| !left.is_zero() && *left <= MAX_DOWN_TIME)
        };
        state.outage.is_none_or(|outage| left(outage).is_none() && !state.probing)
    }

    /// Whether the breaker is open or half open.
    pub(crate) fn is_open(&self) -> bool {
        lock(&self.state).outage.is_some()
    }

    /// Claims the probe if the breaker is open and no probe is in progress; returns whether it did.
    pub(crate) fn begin_probe(&self) -> bool {
        let mut state = lock(&self.state);
        let probes = state.outage.is_some() && !state.probing;
        state.probing |= probes;
        probes
    }

    pub(crate) fn end_probe(&self) {
        lock(&self.state).probing = false;
    }

    pub(crate) fn next_attempt(&self) -> u64 {
        lock(&self.state).window.begin()
    }

    /// Counts a failure of the probe, or of an attempt that started while the breaker was closed.
    pub(crate) fn count_failure(&self, attempt: u64, probe: bool, now: SystemTime) {
        let mut state = lock(&self.state);
        let outage = state.outage;
        let duration = match outage {
            None if state.window.add_failure(attempt) => FIRST_DOWN_TIME,
            Some(outage) if probe => (outage.duration * 2).min(MAX_DOWN_TIME),
            _ => return,
        };
        state.outage = Some(Outage { until: now + duration, duration });
        self.mark_changed(state, now);
    }

    pub(crate) fn close(&self, now: SystemTime) {
        let mut state = lock(&self.state);
        if state.outage.take().is_some() {
            state.window.clear();
            self.mark_changed(state, now);
        }
    }

    /// Applies the state that another process published, unless this process has a later change.
    pub(crate) fn apply_remote(&self, health: EndpointHealth, now: SystemTime) {
        let mut state = lock(&self.state);
        if state.changed_at.is_some_and(|changed_at| changed_at >= health.changed_at) {
            return;
        }
        let duration = |until: SystemTime| {
            until.duration_since(health.changed_at).unwrap_or(FIRST_DOWN_TIME).clamp(FIRST_DOWN_TIME, MAX_DOWN_TIME)
        };
        // An outage that ended long ago is no longer relevant.
        let down_until = health.down_until.filter(|until| now < *until + MAX_DOWN_TIME);
        state.outage = down_until.map(|until| Outage { until, duration: duration(until) });
        (state.changed_at, state.unpublished) = (Some(health.changed_at), false);
        state.window.clear();
    }

    /// Whether the published state is due to be read; if so, starts a new poll interval.
    pub(crate) fn should_poll(&self, now: SystemTime) -> bool {
        let mut state = lock(&self.state);
        let since = state.last_poll.and_then(|last_poll| now.duration_since(last_poll).ok());
        let is_due = since.is_none_or(|since| since >= POLL_INTERVAL);
        if is_due {
            state.last_poll = Some(now);
        }
        is_due
    }

    pub(crate) fn pending_change(&self) -> Option<EndpointHealth> {
        let state = lock(&self.state);
        let changed_at = state.changed_at.filter(|_| state.unpublished)?;
        Some(EndpointHealth { changed_at, down_until: state.outage.map(|outage| outage.until) })
    }

    pub(crate) fn mark_published(&self, health: EndpointHealth) {
        let mut state = lock(&self.state);
        state.unpublished &= state.changed_at != Some(health.changed_at);
    }

    pub(crate) async fn next_change(&self) -> EndpointHealth {
        loop {
            match self.pending_change() {
                Some(health) => return health,
                None => self.change_notify.notified().await,
            }
        }
    }

    fn mark_changed(&self, mut state: MutexGuard<'_, BreakerState>, now: SystemTime) {
        (state.changed_at, state.unpublished) = (Some(now), true);
        drop(state);
        self.change_notify.notify_one();
    }
}

#[cfg(test)]
mod tests;
