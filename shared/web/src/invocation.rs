use tokio::time::Instant;

/// The invocation that carries a request; an extension of it.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// When the invocation ends.
    pub(crate) deadline: Instant,
    /// Its trace, in the format of `X-Amzn-Trace-Id`.
    pub(crate) trace: Option<String>,
}
