//! Failures before the first byte of a response. Handlers return [`ApiError`], to which a failure of a turn or of the store
//! converts. The request layer writes its body.

use axum::Router;
use axum::body::Body;
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, Failure, TurnError};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

/// A failure before the first byte. The request layer writes its body, which needs the request's id, and logs its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The failure as the client gets it.
    pub failure: Failure,
    cause: Option<FailureCause>,
}

/// The internal cause of a failure, which is only logged; an extension of the response.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FailureCause(String);

impl ApiError {
    /// A failure with its own message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        TurnError::new(code, message).into()
    }

    /// `invalid_request` with its own message.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// A failure whose cause is logged and not returned to the client.
    pub fn caused_by(code: ErrorCode, cause: impl std::fmt::Display) -> Self {
        TurnError::caused_by(code, cause).into()
    }
}

/// Also a code, a failure without a cause, and the failures of the store.
impl<E: Into<TurnError>> From<E> for ApiError {
    fn from(error: E) -> Self {
        let TurnError { failure, cause } = error.into();
        Self { failure, cause: cause.map(FailureCause) }
    }
}

/// The error format of routes whose clients expect another format than the product's own.
#[derive(Clone, Copy, Debug)]
pub struct ErrorFormat {
    /// The `content-type`.
    pub content_type: &'static str,
    /// Renders the body of a failure; the text is the request's id, or the [`ErrorId`].
    pub render: fn(&Failure, &str) -> Vec<u8>,
}

/// The id that the error of a request has instead of the request's own, as an extension of the response.
#[derive(Clone, Debug)]
pub struct ErrorId(pub String);

impl ErrorFormat {
    const NATIVE: Self = Self { content_type: "application/json", render: render_native_error };

    /// Applies this format to all errors of these routes, including unsupported methods and errors of inner layers.
    pub fn apply_to<S: Clone + Send + Sync + 'static>(self, routes: Router<S>) -> Router<S> {
        routes.layer(map_response(move |mut response: Response| {
            response.extensions_mut().insert(self);
            std::future::ready(response)
        }))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = status_of(self.failure.code).into_response();
        if let Some(seconds) = retry_after_seconds(&self.failure) {
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

/// When to try again, in seconds. A `429` always has it: if nothing is known, a minute, over which providers count
/// requests; for a used-up quota an hour, because a person has to pay or a period to end.
fn retry_after_seconds(failure: &Failure) -> Option<u64> {
    let default = match failure.code {
        ErrorCode::RateLimited => Some(60),
        ErrorCode::QuotaExhausted => Some(3600),
        _ => None,
    };
    failure.retry_after_seconds.or(default)
}

/// Writes the body of an error response and logs the cause; other responses are unchanged. The router's own errors get the
/// same format as all others.
pub(crate) fn write_error_body(response: &mut Response, request_id: &str) {
    let format = response.extensions_mut().remove::<ErrorFormat>().unwrap_or(ErrorFormat::NATIVE);
    let failure = response.extensions_mut().remove::<Failure>();
    let failure = match (failure, response.status()) {
        (Some(failure), _) => failure,
        (None, StatusCode::METHOD_NOT_ALLOWED) => ErrorCode::MethodNotAllowed.into(),
        (None, _) => return,
    };
    let cause = response.extensions_mut().remove::<FailureCause>().map(|FailureCause(cause)| cause);
    if failure.code == ErrorCode::Internal || cause.is_some() {
        tracing::error!(cause, "a request failed");
    }
    let id = response.extensions_mut().remove::<ErrorId>();
    let id = id.as_ref().map_or(request_id, |ErrorId(id)| id);
    *response.body_mut() = Body::from((format.render)(&failure, id));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(format.content_type));
}

fn render_native_error(failure: &Failure, request_id: &str) -> Vec<u8> {
    let Failure { code, message, .. } = failure;
    let error = json!({ "code": code, "message": message, "retryable": code.is_retryable(), "requestId": request_id });
    json!({ "error": error }).to_string().into_bytes()
}

/// The HTTP status of a code, for a response that has not started.
pub fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidRequest
        | ErrorCode::PreviousResponseNotFound
        | ErrorCode::ContentFiltered
        | ErrorCode::ContextTooLong
        | ErrorCode::InvalidAttachment
        | ErrorCode::ImagesUnsupported => StatusCode::BAD_REQUEST,
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
        ErrorCode::StorageBusy | ErrorCode::AuthNotConfigured | ErrorCode::NotConfigured | ErrorCode::Interrupted => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorCode::Deadline => StatusCode::GATEWAY_TIMEOUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry_after(failure: Failure) -> (u16, Option<String>) {
        let response = ApiError::from(failure).into_response();
        let header = response.headers().get(header::RETRY_AFTER);
        (response.status().as_u16(), header.map(|value| value.to_str().unwrap_or_default().to_owned()))
    }

    #[test]
    fn status_429_always_has_retry_after() {
        for (code, seconds) in [(ErrorCode::RateLimited, "60"), (ErrorCode::QuotaExhausted, "3600")] {
            assert_eq!(retry_after(code.into()), (429, Some(seconds.to_owned())));
            assert_eq!(retry_after(Failure::from(code).with_retry_after(7)), (429, Some("7".to_owned())));
        }
        assert_eq!(retry_after(ErrorCode::StorageBusy.into()), (503, None));
    }
}
