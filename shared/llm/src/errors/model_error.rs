use std::time::Duration;

/// Why there is no (further) reply, named by what the caller does next.
///
/// The text of an error never holds anything that came from the endpoint, an address or a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Too fast: wait.
    #[error("rate limited")]
    RateLimited {
        /// The wait that the provider requested.
        retry_after: Option<Duration>,
    },
    /// A quota is used up: only the operator can help.
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
    ContentFiltered {
        /// The kind of content, where the provider names it.
        category: Option<&'static str>,
    },
    /// The prompt is too long.
    #[error("context too long")]
    ContextTooLong,
    /// The model accepts no native tools: retry with tools in the prompt.
    #[error("tools unsupported")]
    ToolsUnsupported,
    /// The model takes no pictures, and the prompt has some.
    #[error("images unsupported")]
    ImagesUnsupported,
    /// The response is not a valid reply.
    #[error("bad response")]
    BadResponse,
    /// No data, or no progress, for too long.
    #[error("stalled")]
    Stalled,
    /// The connection was lost, or the stream ended without a finish.
    #[error("disconnected")]
    Disconnected,
    /// The turn's deadline has passed.
    #[error("deadline")]
    Deadline,
}

impl ModelError {
    /// Returns the kind of error as a label for metrics; the list is complete.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Unavailable => "unavailable",
            Self::Rejected => "rejected",
            Self::Auth => "auth",
            Self::ContentFiltered { .. } => "content_filtered",
            Self::ContextTooLong => "context_too_long",
            Self::ToolsUnsupported => "tools_unsupported",
            Self::ImagesUnsupported => "images_unsupported",
            Self::BadResponse => "bad_response",
            Self::Stalled => "stalled",
            Self::Disconnected => "disconnected",
            Self::Deadline => "deadline",
        }
    }
}
