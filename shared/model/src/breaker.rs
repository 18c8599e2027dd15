//! Whether an endpoint is worth asking: advice for whoever can ask another one, never a refusal.

mod window;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

use self::window::Window;
use crate::Wire;

/// For how long it does at first, and at most.
const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_mins(2);

/// How often one process asks others what they know.
const BETWEEN_LOOKS: Duration = Duration::from_secs(3);

/// How an endpoint does, as processes tell it to each other; what changed last holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointHealth {
    /// When it came to be so.
    pub changed: SystemTime,
    /// Until when it is left alone; `None` when it works.
    pub down_until: Option<SystemTime>,
}

/// The breakers of a process, one for each endpoint.
#[derive(Debug, Default)]
pub(crate) struct Breakers {
    known: Mutex<HashMap<String, Arc<Breaker>>>,
}

impl Breakers {
    /// The one that all models of this endpoint share.
    pub(crate) fn of(&self, wire: Wire, base_url: &str) -> Arc<Breaker> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(endpoint(wire, base_url)).or_default())
    }
}

/// The name of an endpoint; holds no secret.
pub(crate) fn endpoint(wire: Wire, base_url: &str) -> String {
    format!("{wire:?} {base_url}")
}

/// Opens when most of the latest attempts failed, for longer and longer while probes fail; a success closes it.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    window: Window,
    down: Option<Down>,
    /// Whether a call is on its way that finds out whether it works again.
    probing: bool,
    changed: Option<SystemTime>,
    /// Whether nobody outside was told of the last change.
    untold: bool,
    looked: Option<SystemTime>,
}

#[derive(Clone, Copy, Debug)]
struct Down {
    until: SystemTime,
    length: Duration,
}

impl Breaker {
    /// Whether it is closed, or half open with nobody trying.
    pub(crate) fn is_available(&self, now: SystemTime) -> bool {
        let state = self.state();
        // A clock that was set back must not keep an endpoint down for longer than was meant.
        let left = |down: Down| down.until.duration_since(now).ok().filter(|left| !left.is_zero() && *left <= LONGEST);
        state.down.is_none_or(|down| left(down).is_none() && !state.probing)
    }

    /// Whether it opened and did not close again.
    pub(crate) fn is_open(&self) -> bool {
        self.state().down.is_some()
    }

    /// Takes the place of the probe, if it is open and the place is free.
    pub(crate) fn begin_probe(&self) -> bool {
        let mut state = self.state();
        let probes = state.down.is_some() && !state.probing;
        state.probing |= probes;
        probes
    }

    /// Gives the place of the probe back.
    pub(crate) fn end_probe(&self) {
        self.state().probing = false;
    }

    /// Numbers an attempt that begins now.
    pub(crate) fn begin_attempt(&self) -> u64 {
        self.state().window.begin()
    }

    /// Takes note of a fault of the endpoint, met by the probe or by an attempt that began when it was closed.
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

    /// Takes note that the endpoint answered as it should.
    pub(crate) fn worked(&self, now: SystemTime) {
        let mut state = self.state();
        if state.down.take().is_some() {
            state.window.clear();
            self.change(state, now);
        }
    }

    /// Takes over what another process found, unless this one knows better since.
    pub(crate) fn learn(&self, health: EndpointHealth, now: SystemTime) {
        let mut state = self.state();
        if state.changed.is_some_and(|changed| changed >= health.changed) {
            return;
        }
        let length = |until: SystemTime| until.duration_since(health.changed).unwrap_or(FIRST).clamp(FIRST, LONGEST);
        // What is long past says nothing any more.
        let down_until = health.down_until.filter(|until| now < *until + LONGEST);
        state.down = down_until.map(|until| Down { until, length: length(until) });
        (state.changed, state.untold) = (Some(health.changed), false);
        state.window.clear();
    }

    /// Whether it is time to ask what others know; it counts as asked then.
    pub(crate) fn may_look(&self, now: SystemTime) -> bool {
        let mut state = self.state();
        let since = state.looked.and_then(|looked| now.duration_since(looked).ok());
        let may = since.is_none_or(|since| since >= BETWEEN_LOOKS);
        if may {
            state.looked = Some(now);
        }
        may
    }

    /// What changed here and nobody outside was told of.
    pub(crate) fn untold(&self) -> Option<EndpointHealth> {
        let state = self.state();
        let changed = state.changed.filter(|_| state.untold)?;
        Some(EndpointHealth { changed, down_until: state.down.map(|down| down.until) })
    }

    /// Takes note that others were told of a change.
    pub(crate) fn told(&self, health: EndpointHealth) {
        let mut state = self.state();
        state.untold &= state.changed != Some(health.changed);
    }

    /// Waits until there is something to tell.
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
