//! The error of one attempt at a call.

use std::time::Duration;

use crate::errors::CompatFix;
use crate::{ModelError, NativeCall};

/// A failed attempt: the error for the caller, and advice for the retry loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttemptError {
    /// The error for the caller if there is no further attempt.
    pub(crate) error: ModelError,
    /// Whether another attempt may help.
    pub(crate) advice: RetryAdvice,
    /// The wait that the endpoint requested.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) status: Option<u16>,
    /// The provider's error code, for the log; see [`is_loggable_code`].
    pub(crate) code: Option<String>,
    /// Calls of the model that the provider rejected. They may become valid if values are converted.
    pub(crate) failed_calls: Vec<NativeCall>,
    /// Whether the model or the request caused the error, so that the endpoint may be healthy.
    pub(crate) is_of_request: bool,
    /// What the operator can do, if the error shows it.
    pub(crate) help: Option<&'static str>,
}

/// Whether another attempt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAdvice {
    Never,
    /// Yes, after a wait.
    Later,
    /// Yes, at once and on a new connection: the pooled one was dead.
    NewConnection,
    /// Yes, at once and with the key read again: it may have been replaced in its store.
    NewKey,
    /// Yes, at once, with a change that makes the request acceptable.
    ApplyFix(CompatFix),
}

/// Whether an error code is safe to log: up to six digits, or up to 64 characters of letters joined by `_`, `.` or `-`.
///
/// An endpoint may echo anything here. Keys mix letters with digits, or have over 32 letters in a row: they never pass.
pub(super) fn is_loggable_code(code: &str) -> bool {
    let is_number = (1..=6).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_digit());
    let is_label = |part: &str| (1..=32).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_number || (code.len() <= 64 && code.split(['_', '.', '-']).all(is_label))
}

impl AttemptError {
    /// An error that no further attempt can fix.
    pub(crate) fn fatal(error: ModelError) -> Self {
        let (retry_after, status, code) = (None, None, None);
        let (failed_calls, is_of_request, help) = (Vec::new(), false, None);
        Self { error, advice: RetryAdvice::Never, retry_after, status, code, failed_calls, is_of_request, help }
    }

    /// An error after which the call may be retried.
    pub(crate) fn transient(error: ModelError) -> Self {
        Self { advice: RetryAdvice::Later, ..Self::fatal(error) }
    }

    /// A slip of the model; another attempt may be better.
    pub(crate) fn slip() -> Self {
        Self { is_of_request: true, ..Self::transient(ModelError::BadResponse) }
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f122_codes_are_kept_and_keys_dropped() {
        for code in ["RateLimitExceeded.EndpointRPMExceeded", "insufficient_quota", "429", "1301"] {
            assert!(is_loggable_code(code), "{code}");
        }
        for other in ["", "the key sk-1 is wrong", "a/b", "é", "sk-4f7Qz", "1234567", "a..b", &"a".repeat(33)] {
            assert!(!is_loggable_code(other), "{other}");
        }
    }
}
