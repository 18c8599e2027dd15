//! Classifies the errors of the HTTP client.

use std::error::Error;
use std::io;

use tokio::time::Instant;

use crate::ModelError;
use crate::fault::{Again, Fault};

/// Converts the error of a request without a response. `pooled`: the request may have used a pooled connection.
pub(crate) fn no_response(error: &reqwest::Error, pooled: bool) -> Fault {
    if any(error, is_certificate_error) {
        return Fault::last(ModelError::Unavailable);
    }
    if error.is_builder() {
        return Fault::last(ModelError::Rejected);
    }
    let cut = any(error, is_cut);
    if cut && pooled && !error.is_connect() {
        return Fault { again: Again::NewConnection, ..Fault::passing(ModelError::Disconnected) };
    }
    Fault::passing(if cut && !error.is_connect() { ModelError::Disconnected } else { ModelError::Unavailable })
}

fn any(error: &reqwest::Error, holds: fn(&(dyn Error + 'static)) -> bool) -> bool {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| cause(*error)).any(holds)
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

fn is_cut(error: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let incomplete = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message);
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    incomplete || matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
}

/// Returns the error of a timeout at `until`.
pub(crate) fn silent(until: Instant, deadline: Instant) -> Fault {
    if until >= deadline { Fault::last(ModelError::Deadline) } else { Fault::passing(ModelError::Stalled) }
}
