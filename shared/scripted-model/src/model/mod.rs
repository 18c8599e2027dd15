//! The demo model: `POST /chat/completions`, always streamed.

mod findings;
mod planned_call;
mod prepared;
mod reply;
mod request;
mod wire;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use self::prepared::PreparedTurn;
use self::reply::reply;
use self::request::Request;

pub(super) async fn complete(request: Result<Json<Request>, JsonRejection>) -> Response {
    let Ok(Json(request)) = request else {
        let message = "The demo model takes a chat completion request.";
        let error = json!({ "error": { "message": message, "type": "invalid_request_error" } });
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    };
    let situation = request.situation();
    let reply = PreparedTurn::reply(&situation).unwrap_or_else(|| reply(&situation));
    wire::Completion::new(&request, reply).into_sse().into_response()
}

#[cfg(test)]
mod tests;
