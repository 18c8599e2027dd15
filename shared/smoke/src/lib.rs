//! Checks of a running deployment, as a client makes them: nothing here knows how the product is made, and no check by
//! which [`Door`] it comes in.
//!
//! [`run`] makes every check of one list, in its order, and each says what came where something else was expected. Four
//! turns are paid for. Every conversation that a check made is deleted at the end, whatever came of the check.

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

/// What is asked of a deployment.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The model that answers; the deployment's default one when `None`.
    pub model: Option<String>,
    /// How long anything may take.
    pub limits: Limits,
    /// Whether what could not be told has failed: right where the model's answers are known, so that each check tells.
    pub strict: bool,
}

/// Makes every check, says each outcome as soon as it is known, and whether none failed.
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
