use axum::body::Body;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use client_protocols::RegenerateRequest;
use store::UserInput;
use web::ApiError;

use super::extract::{Target, TurnOptions, TurnRequestHead, path_id};

/// `POST /api/conversations/{id}/regenerate`: another answer to the last user message.
///
/// Limits, budgets, idempotency and response formats are those of a message.
pub(crate) async fn regenerate(
    head: TurnRequestHead,
    path: Result<Path<String>, PathRejection>,
    body: Body,
) -> Result<Response, ApiError> {
    let id = path_id(path)?;
    let body = web::read_optional_json_body(&head.headers, body).await?;
    let request = RegenerateRequest::parse(&body)?;
    let format = head.response_format(request.stream)?;
    let resolved = head.resolve(&TurnOptions::from(&request)).await?;
    // An equal body for another conversation, or on another route, is another request.
    let fingerprint = [b"again ", id.as_bytes(), b" ", &body].concat();
    let target = Target { conversation_id: Some(id), chat_id: None };
    let turn = head.start(resolved, target, UserInput::Regenerate, &fingerprint).await?;
    format.render(turn).await
}
