//! The demo model: `POST /chat/completions`, streamed or whole.

mod findings;
mod planned_call;
mod reply;
mod request;
mod small_talk;
mod wire;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use self::reply::reply;
use self::request::Request;

/// Handles a chat completion request.
pub(super) async fn complete(request: Result<Json<Request>, JsonRejection>) -> Response {
    let Ok(Json(request)) = request else { return bad_request() };
    let tokens = wire::Completion::new(&request, reply(&request.situation()));
    if request.stream { tokens.into_sse().into_response() } else { tokens.into_document().into_response() }
}

fn bad_request() -> Response {
    let error = json!({"message": "The demo model takes a chat completion request.", "type": "invalid_request_error"});
    (StatusCode::BAD_REQUEST, Json(json!({"error": error}))).into_response()
}

#[cfg(test)]
mod tests;
