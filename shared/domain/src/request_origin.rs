use std::time::Instant;

/// The identity and the arrival of a request, and until when it may take.
#[derive(Clone, Debug)]
pub struct RequestOrigin {
    /// The request's id in the logs and in its response.
    pub request_id: String,
    /// When the request arrived.
    pub received_at: Instant,
    /// When the invocation that carries the request ends, on Lambda.
    pub deadline: Option<Instant>,
    /// The trace of that invocation, in the format of `X-Amzn-Trace-Id`.
    pub trace: Option<String>,
}
