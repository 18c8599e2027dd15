use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::time::Instant;

use crate::body::Body;
use crate::fault::Fault;
use crate::health::Watch;
use crate::pool::Place;
use crate::timers::Timers;
use crate::trace::Trace;
use crate::wire::{Decoding, Phase};
use crate::{AttemptEnd, Delta, ModelError, network};

/// How long to wait for the rest of a response after its finish reason (for the token counts), and after `[DONE]` (to
/// reuse the connection).
const AFTER_FINISH: Duration = Duration::from_secs(2);
const AFTER_DONE: Duration = Duration::from_millis(20);

/// A reply in progress.
pub struct Reply {
    body: Body,
    decoding: Decoding,
    limits: Limits,
    state: State,
    trace: Trace,
    place: Place,
    watch: Option<Watch>,
}

/// The progress of a reply.
#[derive(Debug)]
enum State {
    Reading,
    /// The queued deltas are the last ones.
    Complete,
    /// This error follows the queued deltas.
    Failed(Fault),
    Over,
}

/// The deadlines of a reply. They are set when waiting starts, so that a slow reader causes no timeout.
#[derive(Debug)]
struct Limits {
    timers: Timers,
    idle: Option<Instant>,
    progress: Option<Instant>,
    deadline: Instant,
}

impl Limits {
    fn next(&mut self, phase: Phase) -> Instant {
        let now = Instant::now();
        let rest = match phase {
            Phase::Open => self.timers.idle,
            Phase::Finished => AFTER_FINISH.min(self.timers.idle),
            Phase::Done => AFTER_DONE,
        };
        let idle = *self.idle.get_or_insert(now + rest);
        let progress = *self.progress.get_or_insert(now + self.timers.progress);
        idle.min(progress).min(self.deadline)
    }
}

impl Reply {
    /// Creates a reply whose first byte must arrive by `first_byte`.
    pub(crate) fn new(
        body: Body,
        decoding: Decoding,
        timers: Timers,
        (first_byte, deadline): (Instant, Instant),
        trace: Trace,
        place: Place,
    ) -> Self {
        let limits = Limits { timers, idle: Some(first_byte), progress: None, deadline };
        Self { body, decoding, limits, state: State::Reading, trace, place, watch: None }
    }

    /// Returns the next delta; `None` after `Finish` or an error. Dropping the reply closes the connection.
    ///
    /// Cancel-safe: the next call continues at the same position.
    pub async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        while self.decoding.deltas().is_empty() && matches!(self.state, State::Reading) {
            self.read().await;
        }
        if let Some(delta) = self.decoding.pop() {
            return Some(Ok(delta));
        }
        let (state, watch) = (std::mem::replace(&mut self.state, State::Over), self.watch.take());
        match state {
            State::Failed(fault) => {
                self.trace.failed(&fault);
                if let Some(watch) = watch {
                    watch.failed(&fault, SystemTime::now());
                }
                Some(Err(fault.error))
            }
            State::Complete => {
                if let Some(watch) = watch {
                    watch.worked(SystemTime::now());
                }
                None
            }
            State::Reading | State::Over => None,
        }
    }

    /// Sets the health record that receives the end of the reply.
    pub(crate) fn watch(&mut self, watch: Option<Watch>) {
        self.watch = watch;
    }

    /// Reads up to the first content; from then on the request is never retried.
    pub(crate) async fn begin(mut self) -> Result<Self, Fault> {
        while !self.decoding.deltas().has_substance() {
            match self.state {
                State::Reading => self.read().await,
                State::Failed(fault) => return Err(fault),
                State::Complete | State::Over => break,
            }
        }
        Ok(self)
    }

    async fn read(&mut self) {
        let phase = self.decoding.phase();
        let until = self.limits.next(phase);
        let result = match self.body.next_chunk(until).await {
            Ok(Some(bytes)) => self.take(&bytes),
            Ok(None) => {
                self.place.freed();
                self.end()
            }
            Err(_) if phase > Phase::Open => self.end(),
            Err(end) => {
                self.body.end(end);
                Err(self.broken(end, until))
            }
        };
        if let Err(fault) = result {
            self.state = State::Failed(fault);
        }
        if !matches!(self.state, State::Reading) {
            self.body.end(AttemptEnd::Whole);
        }
    }

    fn broken(&self, end: AttemptEnd, until: Instant) -> Fault {
        match end {
            AttemptEnd::Silent => network::silent(until, self.limits.deadline),
            _ => Fault::passing(ModelError::Disconnected),
        }
    }

    fn take(&mut self, bytes: &Bytes) -> Result<(), Fault> {
        // After the finish reason there is one timeout for the whole rest.
        if self.decoding.phase() == Phase::Open {
            self.limits.idle = None;
        }
        let before = self.decoding.phase();
        let result = self.decoding.push(bytes);
        if self.decoding.deltas().take_progress() {
            self.limits.progress = None;
        }
        if self.decoding.phase() > before {
            self.limits.idle = None;
        }
        result
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.state = State::Complete;
        self.decoding.end()
    }
}
