//! Classifies the errors of the HTTP client.

use std::error::Error;
use std::io;

use tokio::time::Instant;

use crate::ModelError;
use crate::errors::{AttemptError, RetryAdvice};

/// Converts the error of a request without a response. `pooled`: the request may have used a pooled connection.
pub(crate) fn error_without_response(error: &reqwest::Error, pooled: bool) -> AttemptError {
    if any_cause(error, is_certificate_error) {
        return AttemptError::fatal(ModelError::Unavailable);
    }
    if error.is_builder() {
        return AttemptError::fatal(ModelError::Rejected);
    }
    if error.is_connect() || !any_cause(error, is_disconnect) {
        return AttemptError::transient(ModelError::Unavailable);
    }
    let lost = AttemptError::transient(ModelError::Disconnected);
    if pooled { AttemptError { advice: RetryAdvice::NewConnection, ..lost } } else { lost }
}

fn any_cause(error: &reqwest::Error, predicate: fn(&(dyn Error + 'static)) -> bool) -> bool {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| cause(*error)).any(predicate)
}

/// Returns the wrapped error, which `io::Error` hides from `source`.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn is_certificate_error(error: &(dyn Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(_)))
}

fn is_disconnect(error: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let incomplete = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message);
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    incomplete || matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
}

pub(crate) fn timeout_error(until: Instant, deadline: Instant) -> AttemptError {
    if until >= deadline {
        AttemptError::fatal(ModelError::Deadline)
    } else {
        AttemptError::transient(ModelError::Stalled)
    }
}
