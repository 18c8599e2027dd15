use axum::body::Body;
use bytes::Bytes;
use client_protocols::MAX_BODY_BYTES;
use domain::{ErrorCode, Failure};
use http::{HeaderMap, header};
use http_body_util::LengthLimitError;

use crate::ApiError;

/// Why a body did not arrive completely, where the server itself reads it from a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The connection broke, or the body is malformed HTTP.
    #[error("The body ended before it was complete")]
    Incomplete,
    /// The body arrived too slowly for its timeout.
    #[error("The body did not arrive in time")]
    TooSlow,
    /// Other bodies use too much memory.
    #[error("Too many bodies arrive at once. Please wait a moment.")]
    TooMany,
}

/// Reads a JSON body of at most [`MAX_BODY_BYTES`].
///
/// # Errors
/// Those of [`read_json_body_up_to`].
pub async fn read_json_body(headers: &HeaderMap, body: Body) -> Result<Bytes, ApiError> {
    read_json_body_up_to(headers, body, MAX_BODY_BYTES).await
}

/// Reads a JSON body of at most `max_bytes` bytes.
///
/// # Errors
/// `unsupported_media_type` unless the content type is `application/json`, `too_large` over the limit, and
/// `invalid_request` for a body that is cut off.
pub async fn read_json_body_up_to(headers: &HeaderMap, body: Body, max_bytes: usize) -> Result<Bytes, ApiError> {
    if !is_json(headers) {
        return Err(ErrorCode::UnsupportedMediaType.into());
    }
    read_body_up_to(headers, body, max_bytes).await
}

/// Reads a JSON body or an empty one, which needs no content type.
///
/// # Errors
/// Those of [`read_json_body`].
pub async fn read_optional_json_body(headers: &HeaderMap, body: Body) -> Result<Bytes, ApiError> {
    let body = read_body_up_to(headers, body, MAX_BODY_BYTES).await?;
    if body.is_empty() || is_json(headers) { Ok(body) } else { Err(ErrorCode::UnsupportedMediaType.into()) }
}

/// Reads a body of any type and at most `max_bytes` bytes.
///
/// # Errors
/// `too_large` over the limit, and `invalid_request` for a body that is cut off.
pub async fn read_body_up_to(headers: &HeaderMap, body: Body, max_bytes: usize) -> Result<Bytes, ApiError> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > max_bytes) {
        return Err(too_large(max_bytes));
    }
    match axum::body::to_bytes(body, max_bytes).await {
        Ok(bytes) => Ok(bytes),
        Err(error) if is_over_limit(&error) => Err(too_large(max_bytes)),
        Err(error) => Err(to_api_error(&error)),
    }
}

fn to_api_error(error: &axum::Error) -> ApiError {
    match causes(error).find_map(|cause| cause.downcast_ref()).unwrap_or(&BodyError::Incomplete) {
        reason @ BodyError::TooMany => {
            Failure::new(ErrorCode::RateLimited, reason.to_string()).with_retry_after(1).into()
        }
        reason => ApiError::invalid_request(reason.to_string()),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn too_large(max_bytes: usize) -> ApiError {
    ApiError::new(ErrorCode::TooLarge, format!("The body is too large: at most {max_bytes} bytes are accepted"))
}

fn is_over_limit(error: &axum::Error) -> bool {
    causes(error).any(<dyn std::error::Error>::is::<LengthLimitError>)
}

/// An error and its chain of causes.
fn causes(error: &axum::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn json_headers(content_type: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))])
    }

    #[tokio::test]
    async fn f104_only_application_json_is_accepted() {
        for good in ["application/json", "Application/JSON; charset=utf-8"] {
            assert!(read_json_body(&json_headers(good), Body::from("{}")).await.is_ok(), "{good}");
        }
        for bad in ["text/plain", "application/json-seq", "application/x-www-form-urlencoded"] {
            let error = read_json_body(&json_headers(bad), Body::from("{}")).await.unwrap_err();
            assert_eq!(error.failure.code, ErrorCode::UnsupportedMediaType, "{bad}");
        }
        let error = read_json_body(&HeaderMap::new(), Body::from("{}")).await.unwrap_err();
        assert_eq!(error.failure.code, ErrorCode::UnsupportedMediaType);
    }

    #[tokio::test]
    async fn f104_optional_body_must_be_json_if_present() {
        let none = read_optional_json_body(&HeaderMap::new(), Body::empty()).await;
        assert!(none.is_ok_and(|body| body.is_empty()));
        assert!(read_optional_json_body(&json_headers("application/json"), Body::from("{}")).await.is_ok());
        let error = read_optional_json_body(&json_headers("text/plain"), Body::from("{}")).await.unwrap_err();
        assert_eq!(error.failure.code, ErrorCode::UnsupportedMediaType);
    }

    #[tokio::test]
    async fn f106_body_over_one_mebibyte_is_too_large() {
        let headers = json_headers("application/json");
        assert!(read_json_body(&headers, Body::from(vec![b' '; MAX_BODY_BYTES])).await.is_ok());
        let error = read_json_body(&headers, Body::from(vec![b' '; MAX_BODY_BYTES + 1])).await.unwrap_err();
        assert_eq!(error.failure.code, ErrorCode::TooLarge);
        let mut declared = headers.clone();
        declared.insert(header::CONTENT_LENGTH, HeaderValue::from(MAX_BODY_BYTES + 1));
        assert_eq!(read_json_body(&declared, Body::empty()).await.unwrap_err().failure.code, ErrorCode::TooLarge);
    }

    #[tokio::test]
    async fn f106_error_text_makes_no_body_too_large() {
        let broken = std::io::Error::other("length limit exceeded");
        let body = Body::from_stream(futures_util::stream::iter([Ok("{"), Err(broken)]));
        let error = read_json_body(&json_headers("application/json"), body).await.unwrap_err();
        assert_eq!(error.failure.code, ErrorCode::InvalidRequest);
    }
}
