use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The identity and the arrival of a request, and until when it may take.
#[derive(Clone, Debug)]
pub struct RequestOrigin {
    /// The request's id in the logs and in its response.
    pub request_id: String,
    /// When the request arrived.
    pub received_at: Instant,
    /// When the invocation that carries the request ends, on Lambda.
    pub deadline: Option<Instant>,
    /// Its header `traceparent`, unchecked.
    pub trace_parent: Option<String>,
    /// How long it took until its turn began, once it has.
    pub admitted_after: Arc<OnceLock<Duration>>,
}

impl RequestOrigin {
    /// Records that its turn begins.
    pub fn record_admission(&self) {
        self.admitted_after.get_or_init(|| self.received_at.elapsed());
    }
}
