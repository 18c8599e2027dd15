//! The list of checks.

mod life;
mod reach;
mod stream;
mod tool;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::Fault;
use crate::visit::Visit;

/// One check: its name and its function.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) run: for<'a> fn(&'a mut Visit) -> BoxFuture<'a, Verdict>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The check passed; with figures.
    Passed(String),
    /// The check was inconclusive; with the reason.
    Skipped(String),
    /// The operator removed the checked feature; with the reason.
    Absent(String),
    /// The check failed.
    Failed(Fault),
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The name of the check.
    pub name: &'static str,
    /// The result of the check.
    pub verdict: Verdict,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, rest) = match &self.verdict {
            Verdict::Passed(figures) => ("ok", figures.clone()),
            Verdict::Skipped(reason) | Verdict::Absent(reason) => ("skipped", reason.clone()),
            Verdict::Failed(fault) => ("FAILED", fault.to_string()),
        };
        write!(f, "{word:<8}{:<14}{rest}", self.name)
    }
}

impl Verdict {
    /// Turns an inconclusive result into a failure.
    pub(crate) fn strictly(self) -> Self {
        match self {
            Self::Skipped(reason) => Self::Failed(Fault::new("a check that tells", reason)),
            told => told,
        }
    }
}

impl From<Result<Verdict, Fault>> for Verdict {
    fn from(result: Result<Verdict, Fault>) -> Self {
        result.unwrap_or_else(Verdict::Failed)
    }
}

/// Builds a check from an async function that may fail.
macro_rules! check {
    ($name:literal, $run:path) => {
        Check { name: $name, run: |visit| Box::pin(async move { $run(visit).await.into() }) }
    };
}

/// All checks in order: later ones use the state of earlier ones, and the last one deletes it.
pub(crate) const CHECKS: [Check; 11] = [
    // The process answers.
    check!("health", reach::health),
    // The page is served.
    check!("page", reach::page),
    // Requests without a key, or with a wrong one, are rejected.
    check!("access", reach::access),
    // `start` is sent before the model responds.
    check!("first event", stream::first_event),
    // A turn and its connection end exactly once.
    check!("end", stream::end),
    // Deltas arrive one by one.
    check!("streaming", stream::streaming),
    // The streamed answer is stored and can be read.
    check!("storage", life::storage),
    // A tool runs, and the model continues with its result.
    check!("tool", tool::round),
    // A client that lost the connection receives the rest.
    check!("resume", life::resume),
    // A stop ends a turn.
    check!("stop", life::stop),
    // Deleted conversations are gone.
    check!("deletion", life::deletion),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_mode_fails_skipped_but_not_absent() {
        let why = || "few pieces".to_owned();
        let failed = Verdict::Failed(Fault::new("a check that tells", "few pieces"));
        assert_eq!(Verdict::Skipped(why()).strictly(), failed);
        for same in [Verdict::Absent(why()), Verdict::Passed(why()), failed] {
            assert_eq!(same.clone().strictly(), same);
        }
    }
}
