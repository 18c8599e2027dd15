//! Checks of a running deployment, made as a client. This crate knows nothing about the implementation, and no check
//! knows which [`Transport`] it uses.
//!
//! [`run`] makes every check of one list, in order. A failed check reports the expected and the actual result. The run
//! pays for four turns. At the end it deletes every conversation that the checks created, also after failures.

mod checks;
mod full_response;
pub mod prompts;
mod session;
mod target;
mod turn_reader;

use std::time::Duration;

use http::Method;

use crate::checks::CHECKS;
use crate::session::Session;

pub use checks::{CheckOutcome, CheckStatus};
pub use target::{Request, Response, Target, TargetError, Transport, TransportError};

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct SmokeOptions {
    /// The model that answers; `None` for the deployment's default one.
    pub model: Option<String>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Whether an inconclusive check fails: for a model with known answers, where each check must be conclusive.
    pub strict: bool,
}

/// Requests the health of a deployment, and returns the status of the answer.
///
/// # Errors
/// Why there is no answer.
pub async fn probe(target: &Target, limit: Duration) -> Result<u16, CheckFailure> {
    Ok(target.fetch(Request::new(Method::GET, "/healthz"), limit).await?.status)
}

/// Makes every check and reports each outcome as soon as it is known. Returns whether none failed.
pub async fn run(target: Target, options: SmokeOptions, mut report: impl FnMut(&CheckOutcome)) -> bool {
    let strict = options.strict;
    let mut session = Session::new(target, options);
    let mut passed = true;
    for check in &CHECKS {
        let status = (check.run)(&mut session).await;
        let outcome = CheckOutcome { name: check.name, status: if strict { status.into_strict() } else { status } };
        passed &= !matches!(outcome.status, CheckStatus::Failed(_));
        report(&outcome);
    }
    passed
}

/// Why a check failed; of a response it holds only status and codes, never a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {got}")]
pub struct CheckFailure {
    expected: String,
    got: String,
}

impl CheckFailure {
    pub(crate) fn new(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { expected: expected.into(), got: got.into() }
    }

    /// Returns the failure unless the expectation holds.
    pub(crate) fn ensure(holds: bool, expected: &str, got: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(expected, got())) }
    }
}

/// Time limits of a deployment; exceeding one fails the check.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a response that is no stream.
    pub answer: Duration,
    /// From the request to the first event of the turn, which is sent before the model is called.
    pub first_event: Duration,
    /// From the request, or from resuming, to the end of the turn.
    pub turn: Duration,
    /// From a stop to the end of the turn. An instance notices a stop within three seconds, even if another instance
    /// received it.
    pub stop: Duration,
    /// From the last frame of a stream to its end.
    pub close: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(10),
            first_event: Duration::from_secs(5),
            turn: Duration::from_secs(90),
            stop: Duration::from_secs(10),
            close: Duration::from_secs(5),
        }
    }
}
