//! Failures before the first byte of a response.
//!
//! Handlers return [`ApiError`], to which a failure of a turn or of the store converts. `response` is the only place where
//! an error becomes a response: it sets the status and headers, and the request layer calls it to write the body.

mod response;

use domain::{ErrorCode, Failure, TurnError};

pub use self::response::{ErrorFormat, status_of};

pub(crate) use self::response::write_error_body;

/// A failure before the first byte. The request layer writes its body, which needs the request's id, and logs its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The failure as the client gets it.
    pub failure: Failure,
    cause: Option<FailureCause>,
}

/// The internal cause of a failure, which is only logged; an extension of the response.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FailureCause(String);

impl ApiError {
    /// A failure with its own message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        TurnError::new(code, message).into()
    }

    /// A failure whose cause is logged and not returned to the client.
    pub fn caused_by(code: ErrorCode, cause: impl std::fmt::Display) -> Self {
        TurnError::caused_by(code, cause).into()
    }
}

/// Also a code, a failure without a cause, and the failures of the store.
impl<E: Into<TurnError>> From<E> for ApiError {
    fn from(error: E) -> Self {
        let TurnError { failure, cause } = error.into();
        Self { failure, cause: cause.map(FailureCause) }
    }
}
