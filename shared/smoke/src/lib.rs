//! Checks of a running deployment, made as a client. This crate knows nothing about the implementation, and no check
//! knows which [`Transport`] it uses.
//!
//! [`run`] makes every check of one list, in order. A failed check reports the expected and the actual result. The run
//! pays for four turns. At the end it deletes every conversation that the checks created, also after failures.

mod answer;
mod checks;
mod door;
mod fault;
mod http_door;
mod limits;
pub mod questions;
mod target;
mod told;
mod turn;
mod visit;

pub use checks::{Outcome, Verdict};
pub use door::{Door, Lost, Request, Response};
pub use fault::Fault;
pub use limits::Limits;
pub use target::{Target, TargetError};

use crate::checks::CHECKS;
use crate::visit::Visit;

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The model that answers; `None` for the deployment's default one.
    pub model: Option<String>,
    /// Time limits.
    pub limits: Limits,
    /// Whether an inconclusive check fails: for a model with known answers, where each check must be conclusive.
    pub strict: bool,
}

/// Makes every check and reports each outcome as soon as it is known. Returns whether none failed.
pub async fn run(target: Target, wish: Wish, mut say: impl FnMut(&Outcome)) -> bool {
    let strict = wish.strict;
    let mut visit = Visit::new(target, wish);
    let mut good = true;
    for check in &CHECKS {
        let verdict = (check.run)(&mut visit).await;
        let outcome = Outcome { name: check.name, verdict: if strict { verdict.strictly() } else { verdict } };
        good &= !matches!(outcome.verdict, Verdict::Failed(_));
        say(&outcome);
    }
    good
}
