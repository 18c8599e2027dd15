//! Who the caller is, and what callers may do with all of their data: export and erase it.

use std::time::SystemTime;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use client_protocols::without_nulls;
use domain::{Membership, StrictObject};
use http::{StatusCode, header};
use serde_json::{Value, json};
use store::{DeletionCounts, Export, StoreError};
use tokio::sync::mpsc::{Sender, channel};
use web::{ApiError, Caller, Credentials};

use super::audit::Changed;
use super::extract::JsonBody;
use super::render::body_of_parts;
use crate::{App, Result};

/// The required value of `confirm` in a request for erasure.
const CONFIRMATION: &str = "erase";

/// `GET /api/me`: the caller's names, its groups, whether it is an administrator, and how callers authenticate.
pub(crate) async fn describe(State(app): State<App>, caller: Caller) -> Json<Value> {
    let Caller { owner, membership: Membership { groups, is_administrator }, name, .. } = caller;
    let auth = app.config.auth.name();
    let (user, admin) = (owner.display_name(), is_administrator);
    Json(without_nulls(json!({ "user": user, "name": name, "groups": groups, "admin": admin, "auth": auth })))
}

/// The longest instructions, in characters; a prompt has as many of them as an eighth of the model's window has tokens.
const MAX_INSTRUCTIONS: usize = 4_000;

/// `GET /api/me/instructions`: what the caller wants of all answers; empty if nothing.
pub(crate) async fn instructions(State(app): State<App>, Caller { owner, .. }: Caller) -> Result<Json<Value>> {
    Ok(Json(json!({ "text": app.store.instructions.get(&owner).await? })))
}

/// `PUT /api/me/instructions`: replaces them; a blank text removes them.
pub(crate) async fn replace_instructions(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    JsonBody(body): JsonBody,
) -> Result<StatusCode> {
    let mut fields = StrictObject::parse(&body)?;
    let text = fields.take_string("text")?.filter(|text| text.chars().nth(MAX_INSTRUCTIONS).is_none());
    let accepted = || fields.field_error("text", &format!("a string of at most {MAX_INSTRUCTIONS} characters"));
    let text = text.ok_or_else(accepted)?;
    fields.reject_unknown("`text`")?;
    app.store.instructions.set(&owner, text.trim()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How much of an export is written before other requests have their turn, in bytes; a row may be longer.
const CHUNK_BYTES: usize = 64 * 1024;

/// `GET /api/me/export`: all data of the caller, one JSON object in a line. The last one is of the kind `end`, or `error` if
/// the rest could not be read.
pub(crate) async fn export(State(app): State<App>, Caller { owner, .. }: Caller) -> Result<Response> {
    let (sender, parts) = channel(1);
    tokio::spawn(write_lines(app.store.export(&owner, SystemTime::now()), sender));
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"lambda-chat.jsonl\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((Extension(Changed(owner.as_str().to_owned())), headers, body_of_parts(parts).await?).into_response())
}

/// Writes the rows of an export as lines; ends when their reader has left. An error after the first part is the last line.
async fn write_lines(mut export: Export, parts: Sender<Result<String, StoreError>>) {
    let mut part = String::new();
    // The second step is the first that reads: if it fails, the response still gets an error status.
    let mut steps = 0;
    loop {
        let rows = tokio::select! {
            () = parts.closed() => return,
            rows = export.next() => rows,
        };
        let rows = match rows {
            Ok(Some(rows)) => rows,
            Ok(None) => break,
            Err(error) if steps < 2 => {
                let _gone = parts.send(Err(error)).await;
                return;
            }
            Err(error) => {
                tracing::error!(%error, "an export could not be completed");
                let line = json!({ "kind": "error", "error": { "code": error.code() } });
                part.push_str(&line.to_string());
                part.push('\n');
                break;
            }
        };
        steps += 1;
        for row in rows {
            match serde_json::to_string(&row) {
                Ok(line) => part.push_str(&line),
                Err(error) => tracing::error!(%error, "a row of an export could not be written"),
            }
            part.push('\n');
            if steps > 1 && part.len() >= CHUNK_BYTES && parts.send(Ok(std::mem::take(&mut part))).await.is_err() {
                return;
            }
        }
        // The head of the response leaves with the first part, so that clients and proxies do not wait for all of it.
        if steps > 1 && !part.is_empty() && parts.send(Ok(std::mem::take(&mut part))).await.is_err() {
            return;
        }
    }
    let _gone = parts.send(Ok(part)).await;
}

/// `DELETE /api/me`: ends the caller's running turns and erases all data of the caller, including the keys.
pub(crate) async fn erase(
    State(app): State<App>,
    credentials: Credentials,
    JsonBody(body): JsonBody,
) -> Result<(Extension<Changed>, Json<Value>)> {
    let user_id = parse_confirmation(&body)?;
    let owner = credentials.identify(user_id.as_deref())?.owner;
    let DeletionCounts { keys, conversations, others } = turns::erase(&app.turns, &owner).await?;
    let erased = json!({ "keys": keys, "conversations": conversations, "others": others });
    Ok((Extension(Changed(owner.as_str().to_owned())), Json(erased)))
}

/// The user that a body names, if it confirms the erasure.
fn parse_confirmation(body: &[u8]) -> Result<Option<String>> {
    let mut fields = StrictObject::parse(body)?;
    let confirmed = fields.take_string("confirm").is_ok_and(|confirm| confirm.as_deref() == Some(CONFIRMATION));
    let message = "`confirm` must be \"erase\": everything stored about the caller is deleted permanently";
    if confirmed { Ok(fields.take_string("userId")?) } else { Err(ApiError::invalid_request(message)) }
}
