//! The chats of the AI SDK: `useChat` with `DefaultChatTransport` at `/api/ui/chat`.
//!
//! A chat id is the client's own name for a conversation. The history comes from the store, never from the copy that a
//! client sends along.

use axum::Extension;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use client_protocols::{AI_SDK_STREAM_HEADER, AiSdkRequest, AiSdkStream, MAX_INLINE_BODY_BYTES, ParentMessage};
use domain::{Owner, RequestOrigin};
use http::StatusCode;
use http::header::{HeaderName, HeaderValue};
use store::{Target as Message, UserInput};
use turns::TurnStream;
use web::ErrorFormat;

use super::attachments::store_inline;
use super::extract::{Own, Target, TurnRequestHead};
use crate::{App, Result};

/// Errors as one sentence: the SDK shows the body of an error response as it is.
pub(crate) const ERRORS: ErrorFormat = ErrorFormat {
    content_type: "text/plain; charset=utf-8",
    render: |failure, _| failure.message.clone().into_bytes(),
};

/// `POST /api/ui/chat`: the next message of a chat, an edited one, or another answer.
pub(crate) async fn chat(head: TurnRequestHead, body: Body) -> Result<Response> {
    let body = web::read_json_body_up_to(&head.headers, body, MAX_INLINE_BODY_BYTES).await?;
    let mut request = head.parse(&body, AiSdkRequest::parse).await?;
    let (caller, agent) = head.resolve(&request.turn.options).await?;
    let conversation_id = find(&head.app, &caller.owner, &request.chat_id).await?;
    let chat_id = Some(request.chat_id.clone());
    let mut attachments = std::mem::take(&mut request.attachments);
    let (question, message) = input(&head.app, &caller.owner, conversation_id.as_deref(), request).await?;
    if question == UserInput::Regenerate {
        attachments.clear();
    }
    store_inline(&head.app, &caller.owner, &agent, &mut attachments, std::iter::empty()).await?;
    let request_id = head.context.request_id.clone();
    let target = Target { conversation_id, chat_id, message, attachments, ..Target::default() };
    Ok(render(head.start((caller, agent), target, question, &body).await?, request_id))
}

/// `GET /api/ui/chat/{id}/stream`: the running turn of a chat from its start, because clients rebuild the message; `204` if
/// no turn runs.
pub(crate) async fn resume(
    Extension(context): Extension<RequestOrigin>,
    Own { app, owner, id }: Own,
) -> Result<Response> {
    let turn = match find(&app, &owner, &id).await? {
        Some(conversation_id) => turns::current(&app.turns, &owner, &conversation_id).await?,
        None => None,
    };
    Ok(turn.map_or_else(|| StatusCode::NO_CONTENT.into_response(), |turn| render(turn, context.request_id)))
}

async fn find(app: &App, owner: &Owner, chat_id: &str) -> Result<Option<String>> {
    Ok(app.store.conversations.find_by_chat_id(owner, chat_id).await?)
}

/// What a request wants of a stored chat. Clients know answers by the ids of the store, and messages of the user by ids of
/// their own: an edited message is found by the answer before it.
async fn input(
    app: &App,
    owner: &Owner,
    conversation_id: Option<&str>,
    AiSdkRequest { regenerate, message_id, turn, .. }: AiSdkRequest,
) -> Result<(UserInput, Message)> {
    let conversations = &app.store.conversations;
    let is_stored = async |id: Option<&str>| match (conversation_id, id) {
        (Some(conversation), Some(id)) => conversations.has_message(owner, conversation, id).await,
        _ => Ok(false),
    };
    if regenerate && is_stored(message_id.as_deref()).await? {
        return Ok((UserInput::Regenerate, message_id.map_or(Message::End, Message::Message)));
    }
    if regenerate && is_last(app, owner, conversation_id, &turn.message).await? {
        return Ok((UserInput::Regenerate, Message::End));
    }
    // A message that is not answered again goes to the end, unless the client has replaced others by it.
    let replaces = regenerate || message_id.is_some();
    let parent = match turn.parent {
        ParentMessage::Id(id) if replaces && is_stored(Some(&id)).await? => Message::Message(id),
        ParentMessage::None if message_id.is_some() => Message::Start,
        _ => Message::End,
    };
    Ok((UserInput::Message(turn.message), parent))
}

/// Whether a message that is to be answered again is the last stored one; an empty message always is.
///
/// It is not if its turn was rejected and never started. Then it is a new message, which is what the client shows.
async fn is_last(app: &App, owner: &Owner, conversation_id: Option<&str>, message: &str) -> Result<bool> {
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
