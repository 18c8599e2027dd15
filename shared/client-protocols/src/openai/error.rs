use domain::{ErrorCode, Failure};
use serde_json::{Value, json};

/// Renders an error body: `{"error": {"message", "type", "param", "code"}}`. The request id is only in its header.
pub fn render_error(failure: &Failure, _request_id: &str) -> Vec<u8> {
    error_document(failure).to_string().into_bytes()
}

/// The error of a failed response: OpenAI's code, and a message in which clients find the time to wait.
pub(super) fn openai_error(failure: &Failure) -> Value {
    // Source: <https://github.com/openai/codex>, codex-rs/codex-api/src/sse/responses.rs (2026-11-27).
    let wait = failure.retry_after_seconds.map(|seconds| format!(" Please try again in {seconds}s."));
    let message = format!("{}{}", failure.message, wait.unwrap_or_default());
    json!({ "code": openai_code(failure.code), "message": message })
}

pub(super) fn error_document(failure: &Failure) -> Value {
    let (kind, code) = (error_type(failure.code), openai_code(failure.code));
    let param = failure.param.as_deref().or(match failure.code {
        ErrorCode::ModelNotFound => Some("model"),
        ErrorCode::PreviousResponseNotFound => Some("previous_response_id"),
        _ => None,
    });
    json!({ "error": { "message": failure.message, "type": kind, "param": param, "code": code } })
}

/// The `type` by which clients classify errors that they do not classify by status.
fn error_type(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Unauthorized => "authentication_error",
        ErrorCode::Forbidden => "permission_error",
        ErrorCode::RateLimited => "rate_limit_error",
        ErrorCode::QuotaExhausted => "insufficient_quota",
        ErrorCode::InvalidRequest
        | ErrorCode::NotFound
        | ErrorCode::ModelNotFound
        | ErrorCode::PreviousResponseNotFound
        | ErrorCode::MethodNotAllowed
        | ErrorCode::TurnInProgress
        | ErrorCode::IdempotencyMismatch
        | ErrorCode::TooLarge
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::ContentFiltered
        | ErrorCode::ContextTooLong
        | ErrorCode::InvalidAttachment
        | ErrorCode::ImagesUnsupported => "invalid_request_error",
        _ => "server_error",
    }
}

/// OpenAI's code if clients match on it, else this service's own.
fn openai_code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Unauthorized => "invalid_api_key",
        ErrorCode::RateLimited => "rate_limit_exceeded",
        ErrorCode::QuotaExhausted => "insufficient_quota",
        ErrorCode::ContextTooLong => "context_length_exceeded",
        ErrorCode::ContentFiltered => "content_filter",
        other => other.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn error(failure: &Failure) -> Value {
        serde_json::from_slice::<Value>(&render_error(failure, "r")).unwrap()["error"].clone()
    }

    #[test]
    fn error_contains_type_code_and_param() {
        let wrong = Failure::new(ErrorCode::InvalidRequest, "`n` must be 1").with_param("n");
        let expected = json!({"message": "`n` must be 1", "type": "invalid_request_error", "param": "n", "code": "invalid_request"});
        assert_eq!(error(&wrong), expected);
        for (code, kind, expected_code, param) in [
            (ErrorCode::ModelNotFound, "invalid_request_error", "model_not_found", json!("model")),
            (ErrorCode::Unauthorized, "authentication_error", "invalid_api_key", Value::Null),
            (ErrorCode::RateLimited, "rate_limit_error", "rate_limit_exceeded", Value::Null),
            (ErrorCode::ContextTooLong, "invalid_request_error", "context_length_exceeded", Value::Null),
            (ErrorCode::UpstreamStalled, "server_error", "upstream_stalled", Value::Null),
        ] {
            let error = error(&code.into());
            assert_eq!(
                (&error["type"], &error["code"], &error["param"]),
                (&kind.into(), &expected_code.into(), &param)
            );
        }
    }
}
