use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, Failure};
use http::{HeaderValue, StatusCode, header};

/// A failure before the first byte; [`crate::edge`] writes its body, which needs the request's id, and logs its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// What the client reads.
    pub failure: Failure,
    cause: Option<FailureCause>,
}

/// What went wrong inside, for the log alone; an extension of the response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailureCause(pub(crate) String);

impl ApiError {
    /// A failure with its own message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Failure::new(code, message).into()
    }

    /// A failure whose cause is logged and not returned to the client.
    pub fn caused_by(code: ErrorCode, cause: impl std::fmt::Display) -> Self {
        Self { failure: code.into(), cause: Some(FailureCause(cause.to_string())) }
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Failure::from(code).into()
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self { failure, cause: None }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = status_of(self.failure.code).into_response();
        if let Some(seconds) = self.failure.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.failure.code == ErrorCode::Unauthorized {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(cause) = self.cause {
            response.extensions_mut().insert(cause);
        }
        response.extensions_mut().insert(self.failure);
        response
    }
}

/// The HTTP status of a code, for a response that has not started.
pub fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidRequest | ErrorCode::ContentFiltered | ErrorCode::ContextTooLong => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::NotFound | ErrorCode::ModelNotFound => StatusCode::NOT_FOUND,
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::TurnInProgress | ErrorCode::IdempotencyMismatch => StatusCode::CONFLICT,
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::RateLimited | ErrorCode::QuotaExhausted => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Internal | ErrorCode::StorageDamaged => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
        ErrorCode::UpstreamUnavailable
        | ErrorCode::UpstreamBadResponse
        | ErrorCode::UpstreamRejected
        | ErrorCode::UpstreamAuth
        | ErrorCode::UpstreamStalled
        | ErrorCode::UpstreamDisconnected => StatusCode::BAD_GATEWAY,
        ErrorCode::StorageBusy | ErrorCode::AuthNotConfigured | ErrorCode::Interrupted => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorCode::Deadline => StatusCode::GATEWAY_TIMEOUT,
    }
}
