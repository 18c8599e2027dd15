use tokio::time::Instant;

/// The identity and the arrival of a request; an extension of every request.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The request's id in the logs and in its response.
    pub request_id: String,
    /// When the request arrived.
    pub received_at: Instant,
    /// The invocation that carries the request, on Lambda.
    pub invocation: Option<Invocation>,
}

/// The invocation that carries a request.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// When the invocation ends.
    pub deadline: Instant,
    /// Its trace, in the format of `X-Amzn-Trace-Id`.
    pub trace: Option<String>,
}
