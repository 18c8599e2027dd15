use axum::response::{IntoResponse, Response};
use conversation::{ErrorCode, Failure};
use http::{HeaderValue, StatusCode, header};

/// A failure before the first byte; [`crate::edge`] writes its body, which needs the request's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError(pub Failure);

impl ApiError {
    /// A failure with a sentence of its own.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Failure::new(code, message))
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self(code.into())
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = status(self.0.code).into_response();
        if let Some(seconds) = self.0.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.0.code == ErrorCode::Unauthorized {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self.0);
        response
    }
}

/// The HTTP status of a code, for an answer that has not begun.
pub fn status(code: ErrorCode) -> StatusCode {
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
