use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use domain::ErrorCode;
use http::StatusCode;
use serde::Serialize;
use store::{Conversation, StoredMessage};
use web::{ApiError, Caller};

use super::extract::{JsonBody, ParsedQuery, PathId};
use super::paging::Paging;
use crate::App;

/// Rows of a page unless the request has a `limit`.
const CONVERSATIONS: u32 = 20;
const MESSAGES: u32 = 100;

/// The longest title, in characters.
const MAX_TITLE: usize = 200;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationList {
    conversations: Vec<Conversation>,
    next_cursor: Option<String>,
}

/// The caller's conversations, last updated first.
pub(crate) async fn list(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    ParsedQuery(paging): ParsedQuery<Paging>,
) -> Result<Json<ConversationList>, ApiError> {
    let limit = paging.limit(CONVERSATIONS)?;
    let page = app.store.conversations.list(&owner, limit, paging.cursor.as_deref()).await?;
    Ok(Json(ConversationList { conversations: page.items, next_cursor: page.next_cursor }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationWithMessages {
    conversation: Conversation,
    messages: Vec<StoredMessage>,
    next_cursor: Option<String>,
}

/// A conversation and a page of its messages, oldest first.
pub(crate) async fn read(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    PathId(id): PathId,
    ParsedQuery(paging): ParsedQuery<Paging>,
) -> Result<Json<ConversationWithMessages>, ApiError> {
    let limit = paging.limit(MESSAGES)?;
    let conversation = app.store.conversations.get(&owner, &id).await?;
    let (cursor, now) = (paging.cursor.as_deref(), SystemTime::now());
    let page = app.store.messages(&owner, &id, limit, cursor, now).await?;
    Ok(Json(ConversationWithMessages { conversation, messages: page.items, next_cursor: page.next_cursor }))
}

#[derive(Serialize)]
pub(crate) struct ConversationResponse {
    conversation: Conversation,
}

/// Changes the title of a conversation.
pub(crate) async fn rename(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody,
) -> Result<Json<ConversationResponse>, ApiError> {
    let title = title(&body)?;
    let conversation = app.store.conversations.rename(&owner, &id, &title, SystemTime::now()).await?;
    Ok(Json(ConversationResponse { conversation }))
}

fn title(body: &[u8]) -> Result<String, ApiError> {
    let invalid = || {
        let message = format!("`title` must be a string of 1 to {MAX_TITLE} characters");
        ApiError::new(ErrorCode::InvalidRequest, message)
    };
    let fields = domain::parse_object(body)?;
    let title = fields.get("title").and_then(|title| title.as_str()).ok_or_else(invalid)?.trim();
    let fits = !title.is_empty() && title.chars().nth(MAX_TITLE).is_none();
    if fits { Ok(title.to_owned()) } else { Err(invalid()) }
}

/// Deletes a conversation, and ends its running turn first.
pub(crate) async fn delete(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    turns::delete_conversation(&app.turns, &owner, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
