//! The routes that start, continue, resume and stop turns.

use std::time::SystemTime;

use axum::body::Body;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use client_protocols::{AnswerRequest, ParentMessage, TurnRequest};
use domain::RequestOrigin;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use store::UserInput;
use turns::FrameId;
use web::ApiError;

use super::attachments::attach;
use super::extract::{Own, PathId, StreamQuery, Target, TurnRequestHead, is_accumulated};
use super::render::ResponseFormat;
use crate::Result;

/// `POST /api/chat`: one turn, streamed or as one document.
///
/// Everything that can be rejected is rejected before anything is stored or paid for. From then on the turn runs to its end
/// whether or not the client stays.
pub(crate) async fn chat(head: TurnRequestHead, body: Body) -> Result<Response> {
    answer(head, body, false).await
}

/// `POST /api/agent`: the same, and the request must name an agent.
pub(crate) async fn agent(head: TurnRequestHead, body: Body) -> Result<Response> {
    answer(head, body, true).await
}

async fn answer(head: TurnRequestHead, body: Body, requires_agent: bool) -> Result<Response> {
    let body = web::read_json_body(&head.headers, body).await?;
    let request = head.parse(&body, TurnRequest::parse).await?;
    if requires_agent && head.agent_id(&request.options)?.is_none() {
        return Err(ApiError::invalid_request("An agent is required: `X-Agent-ID` or `agentId`"));
    }
    let format = head.response_format(request.options.stream)?;
    let resolved = head.resolve(&request.options).await?;
    let message = match request.parent {
        ParentMessage::Last => store::Target::End,
        ParentMessage::None => store::Target::Start,
        ParentMessage::Id(id) => store::Target::Message(id),
    };
    let (conversation_id, temporary) = (request.conversation_id, request.temporary);
    let attachments = attach(&head.app, &resolved.0.owner, &request.attachments, &resolved.1).await?;
    let target = Target { conversation_id, message, attachments, temporary, ..Target::default() };
    let turn = head.start(resolved, target, UserInput::Message(request.message), &body).await?;
    format.render(turn).await
}

/// `POST /api/conversations/{id}/regenerate`: another answer to a user message, or next to an answer.
///
/// Limits, budgets, idempotency and response formats are those of a message.
pub(crate) async fn regenerate(head: TurnRequestHead, PathId(id): PathId, body: Body) -> Result<Response> {
    answer_again(head, id, body, UserInput::Regenerate).await
}

/// `POST /api/conversations/{id}/continue`: more of an answer that ended early.
pub(crate) async fn continue_answer(head: TurnRequestHead, PathId(id): PathId, body: Body) -> Result<Response> {
    answer_again(head, id, body, UserInput::Continue).await
}

async fn answer_again(head: TurnRequestHead, id: String, body: Body, input: UserInput) -> Result<Response> {
    let body = web::read_optional_json_body(&head.headers, body).await?;
    let AnswerRequest { message_id, options } = AnswerRequest::parse(&body)?;
    let format = head.response_format(options.stream)?;
    let resolved = head.resolve(&options).await?;
    // An equal body for another conversation, or on another route, is another request.
    let action: &[u8] = if input == UserInput::Continue { b"continue " } else { b"again " };
    let fingerprint = [action, id.as_bytes(), b" ", &body].concat();
    let message = message_id.map_or(store::Target::End, store::Target::Message);
    let target = Target { conversation_id: Some(id), chat_id: None, message, ..Target::default() };
    let turn = head.start(resolved, target, input, &fingerprint).await?;
    format.render(turn).await
}

/// `POST /api/conversations/{id}/stop`: ends the running turn, at once if it runs on this instance, otherwise when it renews
/// its lease.
///
/// The partial answer is kept, and the turn ends as `stopped`. The conversation is free when that turn has ended, not before.
pub(crate) async fn stop(Own { app, owner, id }: Own) -> Result<(StatusCode, Json<Value>)> {
    let stopping = app.turns.registry.stop(&owner, &id, None)
        || app.store.conversations.request_stop(&owner, &id, None, SystemTime::now()).await?;
    Ok((if stopping { StatusCode::ACCEPTED } else { StatusCode::OK }, Json(json!({ "stopping": stopping }))))
}

/// `GET /api/conversations/{id}/stream`: the running turn after the frame that `Last-Event-ID` names, or from its first
/// frame on; also the rest of a turn that finished within the last hour. `204` if there is nothing to resume.
pub(crate) async fn resume(
    Own { app, owner, id }: Own,
    Extension(context): Extension<RequestOrigin>,
    query: Result<Query<StreamQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response> {
    let (is_accumulated, last_frame) = (is_accumulated(query.as_ref())?, last_frame(&headers)?);
    let deadline = turns::deadline(&app.turns.limits, Some(&context));
    let Some((turn, received)) = turns::resume(&app.turns, &owner, &id, last_frame, deadline).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let format = ResponseFormat { stream: true, is_accumulated, request_id: context.request_id };
    Ok(format.render_resumed(turn, received))
}

/// The last frame that the client has received, if it names one.
fn last_frame(headers: &HeaderMap) -> Result<Option<FrameId>> {
    let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) else { return Ok(None) };
    let last = value.to_str().ok().and_then(FrameId::parse);
    let message = "`Last-Event-ID` must be the id of a frame, as the stream had it";
    last.map(Some).ok_or_else(|| ApiError::invalid_request(message))
}
