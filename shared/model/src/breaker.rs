//! Circuit breakers of endpoints. They only advise callers that have a fallback model; they never reject a call.

mod window;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

use self::window::Window;
use crate::Wire;

/// How long the breaker stays open at first, and at most.
const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_mins(2);

/// The minimum time between two reads of the state that other processes published.
const BETWEEN_LOOKS: Duration = Duration::from_secs(3);

/// The state of an endpoint as processes publish it; the latest change wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointHealth {
    /// When the state changed.
    pub changed: SystemTime,
    /// The end of the outage; `None` when the endpoint is up.
    pub down_until: Option<SystemTime>,
}

/// The breakers of this process, one per endpoint.
#[derive(Debug, Default)]
pub(crate) struct Breakers {
    known: Mutex<HashMap<String, Arc<Breaker>>>,
}

impl Breakers {
    /// Returns the breaker that all models of this endpoint share.
    pub(crate) fn of(&self, wire: Wire, base_url: &str) -> Arc<Breaker> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(endpoint(wire, base_url)).or_default())
    }
}

/// Returns the name of an endpoint; it contains no secret.
pub(crate) fn endpoint(wire: Wire, base_url: &str) -> String {
    format!("{wire:?} {base_url}")
}

/// Opens when at least half of the latest attempts failed. Each failed probe doubles the time; a success closes it.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    window: Window,
    down: Option<Down>,
    /// Whether a call that probes the endpoint is in progress.
    probing: bool,
    changed: Option<SystemTime>,
    /// Whether the last change still has to be published to other processes.
    untold: bool,
    looked: Option<SystemTime>,
}

#[derive(Clone, Copy, Debug)]
struct Down {
    until: SystemTime,
    length: Duration,
}

impl Breaker {
    /// Whether the breaker is closed, or half open without a probe in progress.
    pub(crate) fn is_available(&self, now: SystemTime) -> bool {
        let state = self.state();
        // A clock that was set back must not keep the breaker open for longer than `MAX_DOWN_TIME`.
        let left = |down: Down| down.until.duration_since(now).ok().filter(|left| !left.is_zero() && *left <= LONGEST);
        state.down.is_none_or(|down| left(down).is_none() && !state.probing)
    }

    /// Whether the breaker is open or half open.
    pub(crate) fn is_open(&self) -> bool {
        self.state().down.is_some()
    }

    /// Claims the probe if the breaker is open and no probe is in progress; returns whether it did.
    pub(crate) fn begin_probe(&self) -> bool {
        let mut state = self.state();
        let probes = state.down.is_some() && !state.probing;
        state.probing |= probes;
        probes
    }

    /// Releases the probe.
    pub(crate) fn end_probe(&self) {
        self.state().probing = false;
    }

    /// Returns the number of an attempt that starts now.
    pub(crate) fn begin_attempt(&self) -> u64 {
        self.state().window.begin()
    }

    /// Counts a failure of the probe, or of an attempt that started while the breaker was closed.
    pub(crate) fn failed(&self, attempt: u64, probe: bool, now: SystemTime) {
        let mut state = self.state();
        let down = state.down;
        let length = match down {
            None if state.window.failed(attempt) => FIRST,
            Some(down) if probe => (down.length * 2).min(LONGEST),
            _ => return,
        };
        state.down = Some(Down { until: now + length, length });
        self.change(state, now);
    }

    /// Closes the breaker after a successful reply.
    pub(crate) fn worked(&self, now: SystemTime) {
        let mut state = self.state();
        if state.down.take().is_some() {
            state.window.clear();
            self.change(state, now);
        }
    }

    /// Applies the state that another process published, unless this process has a later change.
    pub(crate) fn learn(&self, health: EndpointHealth, now: SystemTime) {
        let mut state = self.state();
        if state.changed.is_some_and(|changed| changed >= health.changed) {
            return;
        }
        let length = |until: SystemTime| until.duration_since(health.changed).unwrap_or(FIRST).clamp(FIRST, LONGEST);
        // An outage that ended long ago is no longer relevant.
        let down_until = health.down_until.filter(|until| now < *until + LONGEST);
        state.down = down_until.map(|until| Down { until, length: length(until) });
        (state.changed, state.untold) = (Some(health.changed), false);
        state.window.clear();
    }

    /// Whether the published state is due to be read; if so, starts a new poll interval.
    pub(crate) fn may_look(&self, now: SystemTime) -> bool {
        let mut state = self.state();
        let since = state.looked.and_then(|looked| now.duration_since(looked).ok());
        let may = since.is_none_or(|since| since >= BETWEEN_LOOKS);
        if may {
            state.looked = Some(now);
        }
        may
    }

    /// Returns the change of this process that is not yet published.
    pub(crate) fn untold(&self) -> Option<EndpointHealth> {
        let state = self.state();
        let changed = state.changed.filter(|_| state.untold)?;
        Some(EndpointHealth { changed, down_until: state.down.map(|down| down.until) })
    }

    /// Marks a change as published.
    pub(crate) fn told(&self, health: EndpointHealth) {
        let mut state = self.state();
        state.untold &= state.changed != Some(health.changed);
    }

    /// Waits for a change to publish.
    pub(crate) async fn news(&self) -> EndpointHealth {
        loop {
            match self.untold() {
                Some(health) => return health,
                None => self.news.notified().await,
            }
        }
    }

    fn change(&self, mut state: MutexGuard<'_, State>, now: SystemTime) {
        (state.changed, state.untold) = (Some(now), true);
        drop(state);
        self.news.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
