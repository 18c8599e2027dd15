use crate::PolicyViolation;

/// Why a request failed; no text names the address or repeats received data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// Nothing was sent and no retry helps: the address is not allowed.
    #[error("the address is refused: {0}")]
    Refused(#[from] PolicyViolation),
    /// Nothing was sent: the name has no address now.
    #[error("the host's name has no address")]
    Unresolved,
    /// Nothing was sent: no connection could be made.
    #[error("the host cannot be reached")]
    Unreachable,
    /// The host may have processed the request: the connection broke before the response was complete.
    #[error("the connection broke")]
    Disconnected,
    /// The host may have processed the request: it timed out before the response was complete.
    #[error("the host took too long")]
    TimedOut,
    /// The response is longer than the caller's limit.
    #[error("the answer is too long")]
    TooLarge,
    /// The response is compressed, although the request did not allow it.
    #[error("the answer is compressed")]
    Compressed,
    /// The host redirects more often than the request allows.
    #[error("the host redirects too often")]
    TooManyRedirects,
}
