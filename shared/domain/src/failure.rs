use serde::{Deserialize, Serialize};

/// An error code that a client can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is not of the documented form.
    InvalidRequest,
    /// No valid credential.
    Unauthorized,
    /// A valid credential that may not do this.
    Forbidden,
    /// The resource does not exist or belongs to another user.
    NotFound,
    /// No such model (OpenAI routes).
    ModelNotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// Another turn runs in the conversation.
    TurnInProgress,
    /// The idempotency key was used with another body.
    IdempotencyMismatch,
    /// The message or the body is over its limit.
    TooLarge,
    /// The body is not `application/json`.
    UnsupportedMediaType,
    /// The caller, or this service at the model's endpoint, exceeded a rate limit.
    RateLimited,
    /// A quota is used up until it is renewed or paid for.
    QuotaExhausted,
    /// A fault of this service.
    Internal,
    /// The model's endpoint cannot be reached or is overloaded.
    UpstreamUnavailable,
    /// The model's endpoint sent an invalid response.
    UpstreamBadResponse,
    /// The model's endpoint rejected the request.
    UpstreamRejected,
    /// The model's endpoint rejected this service's key.
    UpstreamAuth,
    /// The model stopped sending.
    UpstreamStalled,
    /// The connection to the model broke during the response.
    UpstreamDisconnected,
    /// The provider's filter rejected the content.
    ContentFiltered,
    /// The conversation does not fit the model.
    ContextTooLong,
    /// Time ran out before there was an answer.
    Deadline,
    /// The turn was interrupted: its process ended or was shut down.
    Interrupted,
    /// The database cannot take the request now.
    StorageBusy,
    /// The disk of the local server's database is full.
    StorageFull,
    /// The file of the local server's database is damaged or gone.
    StorageDamaged,
    /// The function was deployed without an authentication setting.
    AuthNotConfigured,
    /// A setting of the function is invalid, so it serves nothing.
    NotConfigured,
}

impl ErrorCode {
    /// The code as written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::ModelNotFound => "model_not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::TurnInProgress => "turn_in_progress",
            Self::IdempotencyMismatch => "idempotency_mismatch",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Internal => "internal",
            Self::UpstreamUnavailable => "upstream_unavailable",
            Self::UpstreamBadResponse => "upstream_bad_response",
            Self::UpstreamRejected => "upstream_rejected",
            Self::UpstreamAuth => "upstream_auth",
            Self::UpstreamStalled => "upstream_stalled",
            Self::UpstreamDisconnected => "upstream_disconnected",
            Self::ContentFiltered => "content_filtered",
            Self::ContextTooLong => "context_too_long",
            Self::Deadline => "deadline",
            Self::Interrupted => "interrupted",
            Self::StorageBusy => "storage_busy",
            Self::StorageFull => "storage_full",
            Self::StorageDamaged => "storage_damaged",
            Self::AuthNotConfigured => "auth_not_configured",
            Self::NotConfigured => "not_configured",
        }
    }

    /// The default message for users; it never contains upstream text.
    pub fn message(self) -> &'static str {
        match self {
            Self::InvalidRequest => "The request is not valid.",
            Self::Unauthorized => "A valid key is needed.",
            Self::Forbidden => "This is not allowed.",
            Self::NotFound => "There is nothing here.",
            Self::ModelNotFound => "There is no such model.",
            Self::MethodNotAllowed => "This path does not take that method.",
            Self::TurnInProgress => "An answer is still being written in this conversation.",
            Self::IdempotencyMismatch => "This idempotency key was used with another request.",
            Self::TooLarge => "The request is too large.",
            Self::UnsupportedMediaType => "The body must be sent as application/json.",
            Self::RateLimited => "Too many requests. Please wait a moment.",
            Self::QuotaExhausted => "The allowance is used up.",
            Self::Internal => "Something went wrong on our side.",
            Self::UpstreamUnavailable => "The model cannot be reached right now.",
            Self::UpstreamBadResponse => "The model sent an answer that could not be read.",
            Self::UpstreamRejected => "The model refused the request.",
            Self::UpstreamAuth => "The model's endpoint did not accept this service's key.",
            Self::UpstreamStalled => "The model stopped answering.",
            Self::UpstreamDisconnected => "The connection to the model was lost.",
            Self::ContentFiltered => "The provider's content filter stopped this answer.",
            Self::ContextTooLong => "The conversation is too long for this model.",
            Self::Deadline => "Time ran out before there was an answer.",
            Self::Interrupted => "The answer was interrupted.",
            Self::StorageBusy => "The storage is busy. Please try again.",
            Self::StorageFull => "The server's disk is full. Nothing can be stored until space is free on it.",
            Self::StorageDamaged => {
                "The server's database file is damaged or gone. Its log describes what can be done."
            }
            Self::AuthNotConfigured => "Authentication is not configured.",
            Self::NotConfigured => "This server is not configured. Its log names the setting.",
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::TurnInProgress
                | Self::RateLimited
                | Self::Internal
                | Self::UpstreamUnavailable
                | Self::UpstreamBadResponse
                | Self::UpstreamStalled
                | Self::UpstreamDisconnected
                | Self::Deadline
                | Self::Interrupted
                | Self::StorageBusy
                | Self::StorageFull
        )
    }
}

/// A failure as a client sees it, before or after the first byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The error code.
    pub code: ErrorCode,
    /// One sentence for users; never contains upstream text, an address or a secret.
    pub message: String,
    /// How long to wait before a retry, in seconds.
    #[serde(rename = "retry_after")]
    pub retry_after_seconds: Option<u64>,
    /// The invalid field of the request, such as `tools[0].name`; for protocols that report it separately.
    pub param: Option<String>,
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        Self { code, message: code.message().to_owned(), retry_after_seconds: None, param: None }
    }
}

impl Failure {
    /// A failure with a specific message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry_after_seconds: None, param: None }
    }

    /// Sets the invalid field of the request.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Sets the time to wait before a retry, in seconds.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }
}
