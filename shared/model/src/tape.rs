use std::time::Duration;

/// Takes down what an endpoint answers to one call for a reply, attempt by attempt, so that it can be played again.
///
/// It sees no request, no key and no address. What it is told is not waited for.
pub trait Tape: Send + Sync {
    /// A response began, with this status and content type (empty if it had none), and for how long the endpoint asks to
    /// be left alone, if it does.
    fn response(&self, status: u16, content_type: &str, retry_after: Option<Duration>);

    /// A piece of its body came, as it was cut by the network.
    fn body(&self, bytes: &[u8]);

    /// The attempt is over; also said when there was no response at all.
    fn end(&self, end: AttemptEnd);
}

/// How an attempt ended, as the network told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The body ended as it should, or nothing more of it was wanted.
    Whole,
    /// The connection broke, before the response or in it.
    Cut,
    /// Nothing came for too long, before the response or in it.
    Silent,
    /// There was no connection.
    Unreachable,
}
