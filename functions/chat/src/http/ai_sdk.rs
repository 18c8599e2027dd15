//! The chats of the AI SDK: `useChat` with `DefaultChatTransport` at `/api/ui/chat`.
//!
//! A chat id is the client's own name for a conversation. The history comes from the store, never from the copy that a
//! client sends along.

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use client_protocols::{AI_SDK_STREAM_HEADER, AiSdkRequest, AiSdkStream, MAX_AI_SDK_BODY_BYTES};
use domain::{Owner, RequestOrigin};
use http::StatusCode;
use http::header::{HeaderName, HeaderValue};
use store::UserInput;
use turns::TurnStream;
use web::{ApiError, Caller, ErrorFormat};

use super::extract::{PathId, Target, TurnRequestHead};
use crate::App;

/// Errors as one sentence: the SDK shows the body of an error response as it is.
pub(crate) const ERRORS: ErrorFormat = ErrorFormat {
    content_type: "text/plain; charset=utf-8",
    render: |failure, _| failure.message.clone().into_bytes(),
};

/// `POST /api/ui/chat`: the next message of a chat, or another answer to its last one.
pub(crate) async fn chat(head: TurnRequestHead, body: Body) -> Result<Response, ApiError> {
    let body = web::read_json_body_up_to(&head.headers, body, MAX_AI_SDK_BODY_BYTES).await?;
    let AiSdkRequest { chat_id, regenerate, turn } = head.parse(&body, AiSdkRequest::parse).await?;
    let (owner, agent) = head.resolve(&turn.options).await?;
    let conversation_id = find(&head.app, &owner, &chat_id).await?;
    let again = regenerate && is_last(&head.app, &owner, conversation_id.as_deref(), &turn.message).await?;
    let question = if again { UserInput::Regenerate } else { UserInput::Message(turn.message) };
    let request_id = head.id().to_owned();
    let target = Target { conversation_id, chat_id: Some(chat_id) };
    Ok(render(head.start((owner, agent), target, question, &body).await?, request_id))
}

/// `GET /api/ui/chat/{id}/stream`: the running turn of a chat from its start, because clients rebuild the message; `204` if
/// no turn runs.
pub(crate) async fn resume(
    State(app): State<App>,
    Extension(context): Extension<RequestOrigin>,
    Caller { owner, .. }: Caller,
    PathId(chat_id): PathId,
) -> Result<Response, ApiError> {
    let turn = match find(&app, &owner, &chat_id).await? {
        Some(conversation_id) => turns::current(&app.turns, &owner, &conversation_id).await?,
        None => None,
    };
    Ok(turn.map_or_else(|| StatusCode::NO_CONTENT.into_response(), |turn| render(turn, context.request_id)))
}

async fn find(app: &App, owner: &Owner, chat_id: &str) -> Result<Option<String>, ApiError> {
    Ok(app.store.conversations.find_by_chat_id(owner, chat_id).await?)
}

/// Whether a message that is to be answered again is the last stored one; an empty message always is.
///
/// It is not if its turn was rejected and never started, or if the client wants another answer to an earlier message. Then it
/// is a new message, which is what the client shows.
async fn is_last(app: &App, owner: &Owner, conversation_id: Option<&str>, message: &str) -> Result<bool, ApiError> {
    if message.is_empty() {
        return Ok(true);
    }
    let Some(id) = conversation_id else { return Ok(false) };
    let last = app.store.conversations.last_user_message(owner, id).await?;
    Ok(last.as_deref() == Some(message))
}

fn render(turn: TurnStream, request_id: String) -> Response {
    let mut response = web::stream_response(turn.events, AiSdkStream::new(request_id));
    let (name, value) = AI_SDK_STREAM_HEADER;
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    // Keeps proxies from buffering the stream.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
