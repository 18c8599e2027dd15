//! Checks of a running deployment, made as a client. This crate knows nothing about the implementation, and no check
//! knows which [`Transport`] it uses.
//!
//! [`run`] makes every check of one list, in order. A failed check reports the expected and the actual result. The run
//! pays for four turns. At the end it deletes every conversation that the checks created, also after failures.

mod check_failure;
mod checks;
mod frames;
mod full_response;
pub mod prompts;
mod session;
mod target;
mod timeouts;
mod transports;
mod turn_reader;

pub use check_failure::CheckFailure;
pub use checks::{CheckOutcome, CheckStatus};
pub use target::{Target, TargetError};
pub use timeouts::Timeouts;
pub use transports::{Request, Response, Transport, TransportError};

use crate::checks::CHECKS;
use crate::session::Session;

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
