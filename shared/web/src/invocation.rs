use tokio::time::Instant;

/// The invocation that carries a request.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// When the invocation ends.
    pub deadline: Instant,
    /// Its trace, in the format of `X-Amzn-Trace-Id`.
    pub trace: Option<String>,
}
