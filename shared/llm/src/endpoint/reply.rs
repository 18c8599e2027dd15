use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use domain::ToolSpec;
use tokio::time::Instant;

use crate::endpoint::attempt_log::AttemptSpan;
use crate::endpoint::body::Body;
use crate::endpoint::{ClientDeps, Timeouts, network};
use crate::errors::AttemptError;
use crate::health::{CallHealth, IdleConnections};
use crate::wire::{Phase, ResponseDecoder};
use crate::{AttemptEnd, Delta, Finish, ModelError, NativeCall};

/// How long to wait for the rest of a response after its finish reason (for the token counts), and after `[DONE]` (to
/// reuse the connection).
const MAX_WAIT_AFTER_FINISH: Duration = Duration::from_secs(2);
const MAX_WAIT_AFTER_DONE: Duration = Duration::from_millis(20);

/// A reply in progress.
pub struct Reply {
    /// `None` if the reply is complete without it.
    body: Option<Body>,
    decoder: ResponseDecoder,
    tools: Arc<[ToolSpec]>,
    deadlines: ReplyDeadlines,
    state: ReplyState,
    span: AttemptSpan,
    idle_connections: Arc<IdleConnections>,
    base_url: String,
    /// Receives the end of the reply.
    pub(crate) health: Option<CallHealth>,
}

#[derive(Debug)]
enum ReplyState {
    Reading,
    /// The queued deltas are the last ones.
    Complete,
    /// This error follows the queued deltas.
    Failed(AttemptError),
    Ended,
}

/// The deadlines of a reply. They are set when waiting starts, so that a slow reader causes no timeout.
#[derive(Debug)]
struct ReplyDeadlines {
    timeouts: Timeouts,
    idle: Option<Instant>,
    progress: Option<Instant>,
    deadline: Instant,
}

impl ReplyDeadlines {
    fn next_deadline(&mut self, phase: Phase) -> Instant {
        let now = Instant::now();
        let timeout = match phase {
            Phase::Open => self.timeouts.idle,
            Phase::Finished => MAX_WAIT_AFTER_FINISH.min(self.timeouts.idle),
            Phase::Done => MAX_WAIT_AFTER_DONE,
        };
        let idle = *self.idle.get_or_insert(now + timeout);
        let progress = *self.progress.get_or_insert(now + self.timeouts.progress);
        idle.min(progress).min(self.deadline)
    }
}

impl Reply {
    /// Creates a reply whose first byte must arrive by `first_byte`. Calls of `tools` are accepted even if the provider
    /// rejected their arguments.
    pub(crate) fn new(
        body: Option<Body>,
        decoder: ResponseDecoder,
        (deps, base_url): (&ClientDeps, &str),
        (first_byte, deadline): (Instant, Instant),
        span: AttemptSpan,
        tools: Arc<[ToolSpec]>,
    ) -> Self {
        let ClientDeps { timeouts, idle_connections, .. } = deps.clone();
        let deadlines = ReplyDeadlines { timeouts, idle: Some(first_byte), progress: None, deadline };
        let (state, base_url, health) = (ReplyState::Reading, base_url.to_owned(), None);
        Self { body, decoder, tools, deadlines, state, span, idle_connections, base_url, health }
    }

    /// Completes the reply with the calls that the provider rejected.
    ///
    /// # Errors
    /// There are none, or not only calls of the request's tools. The result is `fault`.
    pub(crate) fn with_failed_calls(mut self, fault: AttemptError) -> Result<Self, AttemptError> {
        self.fail(fault);
        match self.state {
            ReplyState::Failed(fault) => Err(fault),
            _ => Ok(self),
        }
    }

    /// Returns the next delta; `None` after `Finish` or an error. Dropping the reply closes the connection.
    ///
    /// Cancel-safe: the next call continues at the same position.
    pub async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        while self.decoder.deltas().is_empty() && matches!(self.state, ReplyState::Reading) {
            self.read_chunk().await;
        }
        if let Some(delta) = self.decoder.deltas().pop() {
            return Some(Ok(delta));
        }
        let (state, health) = (std::mem::replace(&mut self.state, ReplyState::Ended), self.health.take());
        match state {
            ReplyState::Failed(fault) => {
                self.span.fail_reply(&fault);
                if let Some(health) = health {
                    health.record_failure(&fault, SystemTime::now());
                }
                Some(Err(fault.error))
            }
            ReplyState::Complete => {
                if let Some(health) = health {
                    health.record_success(SystemTime::now());
                }
                None
            }
            ReplyState::Reading | ReplyState::Ended => None,
        }
    }

    /// Reads up to the first content; from then on the request is never retried.
    pub(crate) async fn read_until_content(mut self) -> Result<Self, AttemptError> {
        while !self.decoder.deltas().has_content {
            match self.state {
                ReplyState::Reading => self.read_chunk().await,
                ReplyState::Failed(fault) => return Err(fault),
                ReplyState::Complete | ReplyState::Ended => break,
            }
        }
        Ok(self)
    }

    async fn read_chunk(&mut self) {
        let Some(body) = &mut self.body else {
            self.state = ReplyState::Complete;
            return;
        };
        let phase = self.decoder.phase();
        let until = self.deadlines.next_deadline(phase);
        let result = match body.next_chunk(until).await {
            Ok(Some(bytes)) => self.decode(&bytes),
            Ok(None) => {
                self.idle_connections.add(&self.base_url);
                self.end()
            }
            Err(_) if phase > Phase::Open => self.end(),
            Err(end) => {
                body.end(end);
                Err(self.interruption_error(end, until))
            }
        };
        if let Err(fault) = result {
            self.fail(fault);
        }
        if !matches!(self.state, ReplyState::Reading)
            && let Some(body) = &mut self.body
        {
            body.end(AttemptEnd::Complete);
        }
    }

    /// Ends the reply with an error, or with the calls that the provider rejected: the caller of this crate converts values
    /// as the schema requires, or reports to the model what is wrong.
    fn fail(&mut self, mut fault: AttemptError) {
        let calls = std::mem::take(&mut fault.failed_calls);
        let is_known = |call: &NativeCall| self.tools.iter().any(|tool| tool.name == call.name);
        if calls.is_empty() || !calls.iter().all(is_known) {
            self.state = ReplyState::Failed(fault);
            return;
        }
        for call in calls {
            self.decoder.deltas().push_call(call);
        }
        self.decoder.deltas().push_finish(Finish::ToolCalls);
        self.state = ReplyState::Complete;
    }

    fn interruption_error(&self, end: AttemptEnd, until: Instant) -> AttemptError {
        match end {
            AttemptEnd::TimedOut => network::timeout_error(until, self.deadlines.deadline),
            _ => AttemptError::transient(ModelError::Disconnected),
        }
    }

    fn decode(&mut self, bytes: &Bytes) -> Result<(), AttemptError> {
        // After the finish reason there is one timeout for the whole rest.
        if self.decoder.phase() == Phase::Open {
            self.deadlines.idle = None;
        }
        let before = self.decoder.phase();
        let result = self.decoder.push(bytes);
        if self.decoder.deltas().take_progress() {
            self.deadlines.progress = None;
        }
        if self.decoder.phase() > before {
            self.deadlines.idle = None;
        }
        result
    }

    fn end(&mut self) -> Result<(), AttemptError> {
        self.state = ReplyState::Complete;
        self.decoder.end()
    }
}
