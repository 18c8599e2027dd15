//! Shares: copies of a branch for everyone who has the id of one.

use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::{ErrorCode, Owner, StrictObject};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use store::{ConversationStore, MessageQuery, Share, Status, StoredMessage, rfc3339_of};
use tokio::sync::Semaphore;
use web::ApiError;

use super::audit::Changed;
use super::extract::{Own, PathId};
use super::page::NO_INDEX;
use crate::{App, Result};

/// How long a share lasts unless the request has `expiresInDays`, and the longest time, in days.
const DEFAULT_DAYS: u32 = 30;
const MAX_DAYS: u32 = 365;

/// A share as its owner sees it. The address is relative to the server's own, which a server does not know.
fn view(Share { id, created_at, expires_at }: &Share) -> Value {
    json!({ "id": id, "url": format!("/share/{id}"), "createdAt": created_at, "expiresAt": expires_at })
}

/// A message as everyone sees it. An excerpt of a source is a part of a tool's result.
fn shared(StoredMessage { role, content, attachments, sources, created_at, .. }: &StoredMessage) -> Value {
    let source = |source: &domain::Source| json!({ "index": source.index, "title": source.title, "url": source.url });
    let sources: Vec<Value> = sources.iter().map(source).collect();
    let mut message = json!({ "role": role, "content": content, "sources": sources, "createdAt": created_at });
    if !attachments.is_empty() {
        message["attachments"] = attachments.iter().map(|file| json!({ "name": file.name })).collect();
    }
    message
}

/// `POST /api/conversations/{id}/shares`: copies the shown branch, or the one with `messageId` up to it.
///
/// The target in the audit trail is the conversation: the id of a share opens it.
pub(crate) async fn create(Own { app, owner, id }: Own, headers: HeaderMap, body: Body) -> Result<Response> {
    let body = web::read_optional_json_body(&headers, body).await?;
    let mut fields = StrictObject::parse(if body.is_empty() { b"{}" } else { &body })?;
    let days = fields.take_u32("expiresInDays", 1..=MAX_DAYS)?.unwrap_or(DEFAULT_DAYS);
    let last = fields.take_string("messageId")?;
    let title = app.store.conversations.get(&owner, &id).await?.title;
    let now = SystemTime::now();
    let messages = branch(&app, &owner, &id, last.as_deref(), now).await?;
    let copy = json!({ "title": title, "createdAt": rfc3339_of(now), "messages": messages }).to_string();
    check_size(copy.len())?;
    let lifetime = Duration::from_hours(u64::from(days) * 24);
    let share = app.store.conversations.share(&owner, &id, &copy, lifetime, now).await?.ok_or_else(|| {
        let message = format!("A conversation has at most {} shares: revoke one", ConversationStore::MAX_SHARES);
        ApiError::invalid_request(message)
    })?;
    Ok((StatusCode::CREATED, Extension(Changed(id)), Json(view(&share))).into_response())
}

/// The messages of the shown branch, or of the one with `last` up to it, without running answers and what has no text.
async fn branch(app: &App, owner: &Owner, id: &str, last: Option<&str>, now: SystemTime) -> Result<Vec<Value>> {
    let (mut messages, mut bytes, mut cursor) = (Vec::new(), 0, None::<String>);
    loop {
        let query = MessageQuery { limit: 100, cursor: cursor.as_deref(), branch: last, from_end: false };
        let page = app.store.messages(owner, id, query, now).await?;
        for message in &page.items {
            let (is_last, is_running) = (last == Some(&message.id), message.status == Status::Running);
            bytes += message.content.len();
            check_size(bytes)?;
            if !is_running && !message.content.trim().is_empty() {
                messages.push(shared(message));
            }
            match (is_last, is_running) {
                (true, true) => return Err(ErrorCode::TurnInProgress.into()),
                (true, false) => return Ok(messages),
                (false, _) => {}
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return if last.is_none() { Ok(messages) } else { Err(ErrorCode::NotFound.into()) };
        }
    }
}

fn check_size(bytes: usize) -> Result<()> {
    let message = "The branch is too large to be shared: at most 3 MiB. An earlier `messageId` makes it shorter.";
    let fits = bytes <= ConversationStore::MAX_COPY_BYTES;
    fits.then_some(()).ok_or_else(|| ApiError::new(ErrorCode::TooLarge, message))
}

/// `GET /api/conversations/{id}/shares`: the shares of a conversation that have not ended, the newest first.
pub(crate) async fn list(Own { app, owner, id }: Own) -> Result<Json<Value>> {
    let shares = app.store.conversations.shares(&owner, &id, SystemTime::now()).await?;
    Ok(Json(json!({ "shares": shares.iter().map(view).collect::<Vec<_>>() })))
}

/// `DELETE /api/conversations/{id}/shares/{share}`: ends a share at once.
pub(crate) async fn revoke(
    Own { app, owner, id: (id, share) }: Own<(String, String)>,
) -> Result<(StatusCode, Extension<Changed>)> {
    app.store.conversations.revoke_share(&owner, &id, &share).await?;
    Ok((StatusCode::NO_CONTENT, Extension(Changed(id))))
}

/// Copies that a process reads at the same time: anybody may request some of 3 MiB each.
static READS: Semaphore = Semaphore::const_new(8);

/// `GET /api/shares/{id}`: the copy, for everyone.
pub(crate) async fn read(State(app): State<App>, PathId(id): PathId) -> Result<Response> {
    let _permit = READS.acquire().await.map_err(|_| ErrorCode::Internal)?;
    let copy = app.store.conversations.shared_copy(&id, SystemTime::now()).await?.ok_or(ErrorCode::NotFound)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], [NO_INDEX], copy).into_response())
}
