use std::fmt;
use std::time::Duration;

use platform::secrets::Secret;
use tokio::time::timeout;

/// How a check ended, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// It works.
    Ok,
    /// It works, but could be better.
    Note,
    /// It does not work.
    Failed,
}

/// The result of one check, for the operator; it contains no key and no text of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) status: Status,
    /// What was checked.
    pub(super) subject: &'static str,
    pub(super) text: String,
}

/// Reads a key where it is stored; a finding only if that fails. `secret` names it.
pub(super) async fn check_key(key: Option<&Secret>, secret: &str, limit: Duration) -> Option<Finding> {
    match timeout(limit, key?.get()).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(Finding::failed("key", error.to_string())),
        Err(_elapsed) => Some(Finding::failed("key", format!("{secret} could not be read in time"))),
    }
}

impl Finding {
    pub(super) fn ok(subject: &'static str, text: impl Into<String>) -> Self {
        Self { status: Status::Ok, subject, text: text.into() }
    }

    pub(super) fn note(subject: &'static str, text: impl Into<String>) -> Self {
        Self { status: Status::Note, subject, text: text.into() }
    }

    pub(super) fn failed(subject: &'static str, text: impl Into<String>) -> Self {
        Self { status: Status::Failed, subject, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = match self.status {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Failed => "FAILED",
        };
        write!(f, "  {label:<8}{:<11}{}", self.subject, self.text)
    }
}
