use axum::body::Body;
use axum::response::Response;
use client_protocols::TurnOptions;
use store::UserInput;
use web::ApiError;

use super::extract::{PathId, Target, TurnRequestHead};

/// `POST /api/conversations/{id}/regenerate`: another answer to the last user message.
///
/// Limits, budgets, idempotency and response formats are those of a message.
pub(crate) async fn regenerate(head: TurnRequestHead, PathId(id): PathId, body: Body) -> Result<Response, ApiError> {
    let body = web::read_optional_json_body(&head.headers, body).await?;
    let options = TurnOptions::parse(&body)?;
    let format = head.response_format(options.stream)?;
    let resolved = head.resolve(&options).await?;
    // An equal body for another conversation, or on another route, is another request.
    let fingerprint = [b"again ", id.as_bytes(), b" ", &body].concat();
    let target = Target { conversation_id: Some(id), chat_id: None };
    let turn = head.start(resolved, target, UserInput::Regenerate, &fingerprint).await?;
    format.render(turn).await
}
