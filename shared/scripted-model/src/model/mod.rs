//! The demo model: `POST /chat/completions`, always streamed.

mod findings;
mod planned_call;
mod prepared;
mod reply;
mod request;
mod sums;
mod wire;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use self::prepared::PreparedTurn;
use self::reply::{Reply, reply};
use self::request::Request;

pub(super) async fn complete(request: Result<Json<Request>, JsonRejection>) -> Response {
    let Ok(Json(request)) = request else {
        let message = "The demo model takes a chat completion request.";
        let error = json!({ "error": { "message": message, "type": "invalid_request_error" } });
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    };
    wire::Completion::new(&request, answer(&request)).into_sse().into_response()
}

/// The reply to a request; of an answer that was interrupted, what follows the text that is there.
fn answer(request: &Request) -> Reply {
    let situation = request.situation();
    let mut answer = PreparedTurn::reply(&situation).unwrap_or_else(|| reply(&situation));
    let equal = answer.text.chars().zip(situation.interrupted.chars()).take_while(|(one, other)| one == other);
    let length = equal.map(|(character, _)| character.len_utf8()).sum();
    answer.text = answer.text.split_off(length);
    answer
}

#[cfg(test)]
mod tests;
