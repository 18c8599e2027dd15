//! The list of checks.

mod life;
mod reach;
mod stream;
mod tool;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::Fault;
use crate::visit::Visit;

/// One check: what it is called, and how it is made.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) run: for<'a> fn(&'a mut Visit) -> BoxFuture<'a, Verdict>,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds; with figures.
    Passed(String),
    /// It could not be told; with the reason.
    Skipped(String),
    /// There is nothing to tell: whoever runs the deployment took away what is checked; with the reason.
    Absent(String),
    /// It does not hold.
    Failed(Fault),
}

/// A check and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The name of the check.
    pub name: &'static str,
    /// What came of it.
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
    /// The same where each check has to tell.
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

/// Makes a check of an async function that may fail.
macro_rules! check {
    ($name:literal, $run:path) => {
        Check { name: $name, run: |visit| Box::pin(async move { $run(visit).await.into() }) }
    };
}

/// All checks in their order: later ones look at what earlier ones left, and the last one takes it away.
pub(crate) const CHECKS: [Check; 11] = [
    // The process answers.
    check!("health", reach::health),
    // The page is served.
    check!("page", reach::page),
    // Nobody gets in without a key, or with a wrong one.
    check!("access", reach::access),
    // `start` leaves before the model has answered.
    check!("first event", stream::first_event),
    // A turn ends once, and so does its connection.
    check!("end", stream::end),
    // Words arrive one by one.
    check!("streaming", stream::streaming),
    // What was told is stored, and read back.
    check!("storage", life::storage),
    // A tool runs, and the model goes on from its result.
    check!("tool", tool::round),
    // Who lost the connection gets the rest.
    check!("resume", life::resume),
    // A stop ends a turn.
    check!("stop", life::stop),
    // What is deleted is gone.
    check!("deletion", life::deletion),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_each_check_tells_a_skipped_one_has_failed_and_an_absent_thing_has_not() {
        let why = || "few pieces".to_owned();
        let failed = Verdict::Failed(Fault::new("a check that tells", "few pieces"));
        assert_eq!(Verdict::Skipped(why()).strictly(), failed);
        for same in [Verdict::Absent(why()), Verdict::Passed(why()), failed] {
            assert_eq!(same.clone().strictly(), same);
        }
    }
}
