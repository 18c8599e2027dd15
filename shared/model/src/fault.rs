//! What went wrong in one attempt at a call.

use std::fmt;
use std::time::Duration;

use crate::sse::TooLong;
use crate::{ModelError, Wishes};

/// A failed attempt: the error for the caller, and what the retry loop needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What the caller gets when there is no further attempt.
    pub(crate) error: ModelError,
    /// Whether another attempt may help.
    pub(crate) again: Again,
    /// How long the endpoint asked to wait.
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
    /// Yes, at once and with the key read again: where it is kept there may be another one by now.
    NewKey,
    /// Yes, at once, with the request changed as the endpoint wants it.
    Amended(Amendment),
}

/// How requests to an endpoint are changed from the refusal on that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amendment {
    /// `stream_options` is left out.
    NoUsageOption,
    /// No call is demanded by `tool_choice`.
    NoForcedChoice,
    /// Assistant messages carry their reasoning once tools are used.
    Reasoning,
    /// Past calls carry a signature, or what stands for one.
    Signatures,
    /// The limit of a reply has its other name.
    OtherLimit,
    /// `temperature` is left out.
    NoTemperature,
    /// `top_p` is left out.
    NoTopP,
    /// Nothing is said of thinking, nor of effort.
    NoThinking,
    /// Nothing is said of effort.
    NoEffort,
}

impl Amendment {
    /// Whether it takes back what a request chose by itself: one caller's wish teaches nothing about the endpoint.
    pub(crate) fn is_about(self, wishes: &Wishes) -> bool {
        match self {
            Self::NoTemperature => wishes.temperature.is_some(),
            Self::NoTopP => wishes.top_p.is_some(),
            Self::NoThinking | Self::NoEffort => wishes.thinking.is_some() || wishes.effort.is_some(),
            _ => false,
        }
    }
}

/// An error code that is safe to log: up to six digits, or words of up to 64 letters joined by `_`, `.` or `-`.
///
/// An endpoint may echo anything here. Keys mix letters with digits, or are longer than any word: those never pass.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Code(String);

impl Code {
    /// The code if it looks like one.
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
    /// A fault that no further attempt can mend.
    pub(crate) fn last(error: ModelError) -> Self {
        Self { error, again: Again::Never, retry_after: None, status: None, code: None }
    }

    /// A fault after which the call may be tried again.
    pub(crate) fn passing(error: ModelError) -> Self {
        Self { again: Again::Later, ..Self::last(error) }
    }

    /// The same with the HTTP status that it came with.
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
    fn f122_only_what_looks_like_a_code_and_not_like_a_key_is_kept() {
        for code in ["RateLimitExceeded.EndpointRPMExceeded", "insufficient_quota", "429", "1301"] {
            assert_eq!(Code::parse(code).as_ref().map(Code::as_str), Some(code));
        }
        for other in ["", "the key sk-1 is wrong", "a/b", "é", "sk-4f7Qz", "1234567", "a..b", &"a".repeat(33)] {
            assert_eq!(Code::parse(other), None, "{other}");
        }
    }
}
