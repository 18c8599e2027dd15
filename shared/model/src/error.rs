use std::time::Duration;

/// Why there is no (further) reply, named by what the caller does next.
///
/// The text of an error never holds anything that came from the endpoint, an address or a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Too fast: wait.
    #[error("rate limited")]
    RateLimited {
        /// As the provider asked.
        retry_after: Option<Duration>,
    },
    /// An allowance is used up: nothing helps but an operator.
    #[error("quota exhausted")]
    QuotaExhausted,
    /// Unreachable or overloaded, also after the retries.
    #[error("unavailable")]
    Unavailable,
    /// The request is wrong.
    #[error("rejected")]
    Rejected,
    /// The key is wrong.
    #[error("not authorised")]
    Auth,
    /// The provider refused the content.
    #[error("content filtered")]
    ContentFiltered,
    /// The prompt is too long.
    #[error("context too long")]
    ContextTooLong,
    /// The model takes no native tools: ask again by text.
    #[error("tools unsupported")]
    ToolsUnsupported,
    /// What came is not an answer.
    #[error("bad response")]
    BadResponse,
    /// Nothing (or nothing of use) came for too long.
    #[error("stalled")]
    Stalled,
    /// The connection broke, or the stream ended without a finish.
    #[error("disconnected")]
    Disconnected,
    /// The turn's time is over.
    #[error("deadline")]
    Deadline,
}

impl ModelError {
    /// The kind of error as one word, for counts; there are no others than these.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Unavailable => "unavailable",
            Self::Rejected => "rejected",
            Self::Auth => "auth",
            Self::ContentFiltered => "content_filtered",
            Self::ContextTooLong => "context_too_long",
            Self::ToolsUnsupported => "tools_unsupported",
            Self::BadResponse => "bad_response",
            Self::Stalled => "stalled",
            Self::Disconnected => "disconnected",
            Self::Deadline => "deadline",
        }
    }
}
