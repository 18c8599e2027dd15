//! The list of checks.

mod access;
mod lifecycle;
mod stream;

use std::fmt;

use futures_util::future::BoxFuture;

use crate::CheckFailure;
use crate::session::Session;

pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) run: for<'a> fn(&'a mut Session) -> BoxFuture<'a, CheckStatus>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// The check passed; with figures.
    Passed(String),
    /// The check was inconclusive; with the reason.
    Skipped(String),
    /// The operator removed the checked feature; with the reason.
    Absent(String),
    /// The check failed.
    Failed(CheckFailure),
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOutcome {
    /// The name of the check.
    pub name: &'static str,
    /// The result of the check.
    pub status: CheckStatus,
}

impl fmt::Display for CheckOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (label, detail) = match &self.status {
            CheckStatus::Passed(figures) => ("ok", figures.clone()),
            CheckStatus::Skipped(reason) | CheckStatus::Absent(reason) => ("skipped", reason.clone()),
            CheckStatus::Failed(failure) => ("FAILED", failure.to_string()),
        };
        write!(f, "{label:<8}{:<14}{detail}", self.name)
    }
}

impl CheckStatus {
    /// Turns an inconclusive result into a failure.
    pub(crate) fn into_strict(self) -> Self {
        match self {
            Self::Skipped(reason) => Self::Failed(CheckFailure::new("a check with a result", reason)),
            status => status,
        }
    }
}

/// Builds a check from an async function that may fail.
macro_rules! check {
    ($name:literal, $run:path) => {
        Check {
            name: $name,
            run: |visit| Box::pin(async move { $run(visit).await.unwrap_or_else(CheckStatus::Failed) }),
        }
    };
}

/// All checks in order: later ones use the state of earlier ones, and the last one deletes it.
pub(crate) const CHECKS: [Check; 11] = [
    // The process answers.
    check!("health", access::check_health),
    // The page is served.
    check!("page", access::check_page),
    // Requests without a key, or with a wrong one, are rejected.
    check!("access", access::check_access),
    // `start` is sent before the model responds.
    check!("first event", stream::check_first_event),
    // A turn and its connection end exactly once.
    check!("end", stream::check_end),
    // Deltas arrive one by one.
    check!("streaming", stream::check_streaming),
    // The streamed answer is stored and can be read.
    check!("storage", lifecycle::check_storage),
    // A tool runs, and the model continues with its result.
    check!("tool", access::check_tool_round),
    // A client that lost the connection receives the rest.
    check!("resume", lifecycle::check_resume),
    // A stop ends a turn.
    check!("stop", lifecycle::check_stop),
    // Deleted conversations are gone.
    check!("deletion", lifecycle::check_deletion),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_mode_fails_skipped_but_not_absent() {
        let why = || "few pieces".to_owned();
        let failed = CheckStatus::Failed(CheckFailure::new("a check with a result", "few pieces"));
        assert_eq!(CheckStatus::Skipped(why()).into_strict(), failed);
        for same in [CheckStatus::Absent(why()), CheckStatus::Passed(why()), failed] {
            assert_eq!(same.clone().into_strict(), same);
        }
    }
}
