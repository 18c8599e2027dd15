use crate::Refusal;

/// Why a request brought nothing; no text names the address or repeats what came from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// Nothing was sent, and never will be: the address is not allowed.
    #[error("the address is refused: {0}")]
    Refused(#[from] Refusal),
    /// Nothing was sent: the name has no address now.
    #[error("the host's name has no address")]
    Unresolved,
    /// Nothing was sent: no connection could be made.
    #[error("the host cannot be reached")]
    Unreachable,
    /// The request may have been carried out: the connection broke before the answer was whole.
    #[error("the connection broke")]
    Broken,
    /// The request may have been carried out: its time was over before the answer was whole.
    #[error("the host took too long")]
    TimedOut,
    /// The answer is longer than the caller takes.
    #[error("the answer is too long")]
    TooLarge,
    /// The answer is compressed, although nobody asked for that.
    #[error("the answer is compressed")]
    Compressed,
    /// One redirect more than the request allows.
    #[error("the host redirects too often")]
    TooManyRedirects,
}
