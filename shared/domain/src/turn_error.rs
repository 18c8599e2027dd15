use crate::{ErrorCode, Failure};

/// Why a turn did not start, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnError {
    /// The failure as the client gets it.
    pub failure: Failure,
    /// The internal cause, which is only logged.
    pub cause: Option<String>,
}

impl TurnError {
    /// A failure with its own message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Failure::new(code, message).into()
    }

    /// A failure whose cause is logged and not returned to the client.
    pub fn caused_by(code: ErrorCode, cause: impl std::fmt::Display) -> Self {
        Self { failure: code.into(), cause: Some(cause.to_string()) }
    }
}

impl From<ErrorCode> for TurnError {
    fn from(code: ErrorCode) -> Self {
        Failure::from(code).into()
    }
}

impl From<Failure> for TurnError {
    fn from(failure: Failure) -> Self {
        Self { failure, cause: None }
    }
}
