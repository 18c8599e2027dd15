//! The error of one attempt at a call.

use std::fmt;
use std::time::Duration;

use crate::sse::TooLong;
use crate::{ModelError, Wishes};

/// A failed attempt: the error for the caller, and advice for the retry loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The error for the caller if there is no further attempt.
    pub(crate) error: ModelError,
    /// Whether another attempt may help.
    pub(crate) again: Again,
    /// The wait that the endpoint requested.
    pub(crate) retry_after: Option<Duration>,
    /// The HTTP status, for the log.
    pub(crate) status: Option<u16>,
    /// The provider's error code, for the log.
    pub(crate) code: Option<Code>,
}

/// Whether another attempt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// No.
    Never,
    /// Yes, after a wait.
    Later,
    /// Yes, at once and on a new connection: the pooled one was dead.
    NewConnection,
    /// Yes, at once and with the key read again: it may have been replaced in its store.
    NewKey,
    /// Yes, at once, with a change that makes the request acceptable.
    Amended(Amendment),
}

/// A change to all further requests after an endpoint rejected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amendment {
    /// `stream_options` is left out.
    NoUsageOption,
    /// `tool_choice` does not force a call.
    NoForcedChoice,
    /// Assistant messages carry their reasoning once tools are used.
    Reasoning,
    /// Past calls carry a signature, or a placeholder for one.
    Signatures,
    /// The token limit of a reply is sent under its other name.
    OtherLimit,
    /// `temperature` is left out.
    NoTemperature,
    /// `top_p` is left out.
    NoTopP,
    /// Thinking and effort are left out.
    NoThinking,
    /// Effort is left out.
    NoEffort,
}

impl Amendment {
    /// Whether the fix removes a parameter that the request set itself. Such a fix is not kept for the endpoint.
    pub(crate) fn is_about(self, wishes: &Wishes) -> bool {
        match self {
            Self::NoTemperature => wishes.temperature.is_some(),
            Self::NoTopP => wishes.top_p.is_some(),
            Self::NoThinking | Self::NoEffort => wishes.thinking.is_some() || wishes.effort.is_some(),
            _ => false,
        }
    }
}

/// An error code that is safe to log: up to six digits, or up to 64 characters of letters joined by `_`, `.` or `-`.
///
/// An endpoint may echo anything here. Keys mix letters with digits, or have over 32 letters in a row: they never pass.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Code(String);

impl Code {
    /// Returns the code if `text` has the form of one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let word = |word: &str| (1..=32).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        let words = text.len() <= 64 && text.split(['_', '.', '-']).all(word);
        (number || words).then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Fault {
    /// An error that no further attempt can fix.
    pub(crate) fn last(error: ModelError) -> Self {
        Self { error, again: Again::Never, retry_after: None, status: None, code: None }
    }

    /// An error after which the call may be retried.
    pub(crate) fn passing(error: ModelError) -> Self {
        Self { again: Again::Later, ..Self::last(error) }
    }

    /// Adds the HTTP status of the response.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }
}

impl From<TooLong> for Fault {
    fn from(_: TooLong) -> Self {
        Self::last(ModelError::BadResponse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f122_codes_are_kept_and_keys_dropped() {
        for code in ["RateLimitExceeded.EndpointRPMExceeded", "insufficient_quota", "429", "1301"] {
            assert_eq!(Code::parse(code).as_ref().map(Code::as_str), Some(code));
        }
        for other in ["", "the key sk-1 is wrong", "a/b", "é", "sk-4f7Qz", "1234567", "a..b", &"a".repeat(33)] {
            assert_eq!(Code::parse(other), None, "{other}");
        }
    }
}
