//! Failures before the first byte of a response.
//!
//! Handlers return [`ApiError`]; `store` converts the failures of the store. `response` is the only place where an error
//! becomes a response: it sets the status and headers, and the request layer calls it to write the body.

mod response;
mod store;

use domain::{ErrorCode, Failure};

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
        Failure::new(code, message).into()
    }

    /// A failure whose cause is logged and not returned to the client.
    pub fn caused_by(code: ErrorCode, cause: impl std::fmt::Display) -> Self {
        Self { failure: code.into(), cause: Some(FailureCause(cause.to_string())) }
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Failure::from(code).into()
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self { failure, cause: None }
    }
}
