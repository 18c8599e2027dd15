use std::time::SystemTime;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use conversation::ErrorCode;
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use store::{Conversation, StoredMessage};
use web::{ApiError, Caller};

use crate::App;
use crate::paging::{Paging, bad_query, refused};

/// Rows of a list when the request does not say.
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
    paging: Result<Query<Paging>, QueryRejection>,
) -> Result<Json<ConversationList>, ApiError> {
    let Query(paging) = paging.map_err(bad_query)?;
    let limit = paging.limit(CONVERSATIONS)?;
    let page = app.store.conversations.list(&owner, limit, paging.cursor.as_deref()).await.map_err(refused)?;
    Ok(Json(ConversationList { conversations: page.items, next_cursor: page.next_cursor }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WithMessages {
    conversation: Conversation,
    messages: Vec<StoredMessage>,
    next_cursor: Option<String>,
}

/// A conversation and a page of its messages, oldest first.
pub(crate) async fn read(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    id: Result<Path<String>, PathRejection>,
    paging: Result<Query<Paging>, QueryRejection>,
) -> Result<Json<WithMessages>, ApiError> {
    let Path(id) = id.map_err(no_such_path)?;
    let Query(paging) = paging.map_err(bad_query)?;
    let limit = paging.limit(MESSAGES)?;
    let conversation = app.store.conversations.get(&owner, &id).await.map_err(refused)?;
    let page = app.store.conversations.messages(&owner, &id, limit, paging.cursor.as_deref(), SystemTime::now()).await;
    let page = page.map_err(refused)?;
    Ok(Json(WithMessages { conversation, messages: page.items, next_cursor: page.next_cursor }))
}

#[derive(Serialize)]
pub(crate) struct OneConversation {
    conversation: Conversation,
}

/// Gives a conversation another title.
pub(crate) async fn rename(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<OneConversation>, ApiError> {
    let Path(id) = id.map_err(no_such_path)?;
    let title = title(&web::json_body(&headers, body).await?)?;
    let conversation = app.store.conversations.rename(&owner, &id, &title, SystemTime::now()).await.map_err(refused)?;
    Ok(Json(OneConversation { conversation }))
}

fn title(body: &[u8]) -> Result<String, ApiError> {
    let invalid = || {
        let sentence = format!("`title` must be a string of 1 to {MAX_TITLE} characters");
        ApiError::new(ErrorCode::InvalidRequest, sentence)
    };
    let fields = protocols::object(body)?;
    let title = fields.get("title").and_then(|title| title.as_str()).ok_or_else(invalid)?.trim();
    let fits = !title.is_empty() && title.chars().nth(MAX_TITLE).is_none();
    if fits { Ok(title.to_owned()) } else { Err(invalid()) }
}

/// Deletes a conversation; a turn that runs in it is stopped first.
pub(crate) async fn delete(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, ApiError> {
    let Path(id) = id.map_err(no_such_path)?;
    app.running.abandon(&owner, &id);
    app.running.forget(&owner, &id);
    app.store.conversations.delete(&owner, &id).await.map_err(refused)?;
    app.store.idempotency.forget(&owner, &id).await.map_err(|error| crate::chat::storage(&error))?;
    app.store.executions.forget(&owner, &id).await.map_err(|error| crate::chat::storage(&error))?;
    app.store.streams.forget(&owner, &id, None).await.map_err(|error| crate::chat::storage(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn no_such_path(_: PathRejection) -> ApiError {
    ErrorCode::NotFound.into()
}
