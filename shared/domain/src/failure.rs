use serde::{Deserialize, Serialize};

/// Declares the error codes: the code as written in JSON, and the default message for users, which documents it too.
macro_rules! declare_error_codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal: $message:literal,)*) => {
        /// An error code that a client can act on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ErrorCode {
            $(#[doc = $message] $(#[$doc])* #[serde(rename = $name)] $code,)*
        }

        impl ErrorCode {
            /// The code as written in JSON.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }

            /// The default message for users; it never contains upstream text.
            pub fn message(self) -> &'static str {
                match self {
                    $(Self::$code => $message,)*
                }
            }
        }
    };
}

declare_error_codes! {
    /// The request is not of the documented form.
    InvalidRequest = "invalid_request": "The request is not valid.",
    Unauthorized = "unauthorized": "A valid credential is required.",
    /// A valid credential that may not do this.
    Forbidden = "forbidden": "This is not allowed.",
    /// The resource does not exist or belongs to another user.
    NotFound = "not_found": "This does not exist.",
    /// No such model (OpenAI routes).
    ModelNotFound = "model_not_found": "There is no such model.",
    /// No such response of this owner (OpenAI routes).
    PreviousResponseNotFound = "previous_response_not_found": "There is no response with this id.",
    MethodNotAllowed = "method_not_allowed": "This path does not support that method.",
    TurnInProgress = "turn_in_progress": "An answer is still being written in this conversation.",
    IdempotencyMismatch = "idempotency_mismatch": "This idempotency key was used with another request.",
    TooLarge = "too_large": "The request is too large.",
    UnsupportedMediaType = "unsupported_media_type": "The body must be sent as application/json.",
    /// A file that is damaged, or not what it claims to be.
    InvalidAttachment = "invalid_attachment": "The file cannot be read.",
    /// The caller, or this service at the model's endpoint, exceeded a rate limit.
    RateLimited = "rate_limited": "Too many requests. Please wait a moment.",
    /// A quota is used up until it is renewed or paid for.
    QuotaExhausted = "quota_exhausted": "The budget is used up.",
    Internal = "internal": "Something went wrong on the server.",
    /// The model's endpoint cannot be reached or is overloaded.
    UpstreamUnavailable = "upstream_unavailable": "The model cannot be reached right now.",
    UpstreamBadResponse = "upstream_bad_response": "The model sent an answer that could not be read.",
    UpstreamRejected = "upstream_rejected": "The model rejected the request.",
    UpstreamAuth = "upstream_auth": "The model's provider rejected the server's key.",
    UpstreamStalled = "upstream_stalled": "The model stopped answering.",
    UpstreamDisconnected = "upstream_disconnected": "The connection to the model was lost.",
    ContentFiltered = "content_filtered": "The provider's content filter stopped this answer.",
    ContextTooLong = "context_too_long": "The conversation is too long for this model.",
    /// The message has pictures that the model does not take.
    ImagesUnsupported = "images_unsupported": "This model cannot read an image of this message.",
    Deadline = "deadline": "Time ran out before there was an answer.",
    /// The turn was interrupted: its process ended or was shut down.
    Interrupted = "interrupted": "The answer was interrupted.",
    StorageBusy = "storage_busy": "The storage is busy. Please try again.",
    StorageFull = "storage_full": "The server's disk is full. Nothing can be stored until space is free on it.",
    StorageDamaged = "storage_damaged": "The server's database file is damaged or gone. Its log describes what can be done.",
    /// The function was deployed without an authentication setting.
    AuthNotConfigured = "auth_not_configured": "Authentication is not configured.",
    /// A setting of the function is invalid, so it serves nothing.
    NotConfigured = "not_configured": "A setting of this server is invalid. Its log shows which one.",
}

impl ErrorCode {
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

/// Why a turn did not start, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnError {
    /// The failure as the client gets it.
    pub failure: Failure,
    /// The internal cause, which is only logged.
    pub cause: Option<String>,
}

impl TurnError {
    /// A failure with its own message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Failure::new(code, message).into()
    }

    /// A failure whose cause is logged and not returned to the client.
    pub fn caused_by(code: ErrorCode, cause: impl std::fmt::Display) -> Self {
        Self { failure: code.into(), cause: Some(cause.to_string()) }
    }
}

impl From<ErrorCode> for TurnError {
    fn from(code: ErrorCode) -> Self {
        Failure::from(code).into()
    }
}

impl From<Failure> for TurnError {
    fn from(failure: Failure) -> Self {
        Self { failure, cause: None }
    }
}
