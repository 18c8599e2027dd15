//! The chats of the AI SDK: `useChat` with `DefaultChatTransport` at `/api/ui/chat`.
//!
//! A chat id is the client's own name for a conversation. What was said before comes from the store, never from the copy
//! that a client sends along.

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use conversation::ErrorCode;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use protocols::{MAX_UI_BODY_BYTES, UI_STREAM_HEADER, UiChatRequest, UiMessageStream};
use store::{Owner, Question};
use tokio::time::Instant;
use web::{ApiError, Arrival, Caller, Credentials, ErrorShape, RequestId};

use crate::begin::{self, Asked, Told};
use crate::chat::{Wanted, choose, storage, told};
use crate::{App, agents, attach, heavy};

/// Errors as one sentence: the SDK shows the body of a refusal as it is.
pub(crate) const ERRORS: ErrorShape =
    ErrorShape { content_type: "text/plain; charset=utf-8", body: |failure, _| failure.message.clone().into_bytes() };

/// `POST /api/ui/chat`: the next message of a chat, or another answer to its last one.
pub(crate) async fn chat(
    State(app): State<App>,
    Extension(id): Extension<RequestId>,
    credentials: Credentials,
    Extension(arrival): Extension<Arrival>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body = web::json_body_of(&headers, body, MAX_UI_BODY_BYTES).await?;
    let read = body.clone();
    let reader = credentials.clone().identify(None)?.owner;
    let read = heavy::read(&reader, body.len(), move || UiChatRequest::parse(&read));
    let UiChatRequest { chat_id, regenerate, turn } = read.await?;
    let owner = credentials.identify(turn.user_id.as_deref())?.owner;
    let wanted = Wanted {
        agent_id: agents::named(turn.agent_id.as_deref(), &headers)?,
        model: turn.model.as_deref(),
        tool_choice: turn.tool_choice.as_ref(),
    };
    let chosen = choose(&app, &owner, wanted).await?;
    let conversation_id = find(&app, &owner, &chat_id).await?;
    let again = regenerate && is_last(&app, &owner, conversation_id.as_deref(), &turn.message).await?;
    let question = if again { Question::Again } else { Question::Words(turn.message) };
    let deadline = begin::deadline(&app, arrival.invocation.as_ref(), Instant::now());
    let asked = Asked { owner, chosen, conversation_id, chat_id: Some(chat_id), question, deadline, arrival };
    Ok(streamed(told(&app, &headers, &body, asked).await?, id))
}

/// `GET /api/ui/chat/{id}/stream`: the running turn of a chat from its start, because clients build the message anew; no
/// content when nothing runs.
pub(crate) async fn resume(
    State(app): State<App>,
    Extension(id): Extension<RequestId>,
    Caller { owner, .. }: Caller,
    chat_id: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    let Path(chat_id) = chat_id.map_err(|_| ApiError::from(ErrorCode::NotFound))?;
    let running = match find(&app, &owner, &chat_id).await? {
        Some(conversation_id) => attach::running(&app, &owner, &conversation_id).await?,
        None => None,
    };
    Ok(running.map_or_else(|| StatusCode::NO_CONTENT.into_response(), |told| streamed(told, id)))
}

async fn find(app: &App, owner: &Owner, chat_id: &str) -> Result<Option<String>, ApiError> {
    app.store.conversations.of_chat(owner, chat_id).await.map_err(|error| storage(&error))
}

/// Whether a message for which another answer is wanted is the last one that is stored; without words it always is.
///
/// It is not when its turn never began, because it was refused, or when an earlier answer is wanted anew: then it is asked
/// as a new message, which is what the client shows.
async fn is_last(app: &App, owner: &Owner, conversation: Option<&str>, words: &str) -> Result<bool, ApiError> {
    if words.is_empty() {
        return Ok(true);
    }
    let Some(id) = conversation else { return Ok(false) };
    let last = app.store.conversations.last_asked(owner, id).await.map_err(|error| storage(&error))?;
    Ok(last.as_deref() == Some(words))
}

fn streamed(told: Told, id: RequestId) -> Response {
    let mut response = web::stream(told.events, UiMessageStream::new(id.0));
    let (name, value) = UI_STREAM_HEADER;
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    // Proxies that collect what they pass on are told not to.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
