//! Who the caller is, and what callers may do with all of their data: export and erase it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::SystemTime;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, StrictObject};
use futures_util::stream::unfold;
use http::header;
use serde::Serialize;
use serde_json::json;
use store::{DeletionCounts, Export, ExportRow, StoreError};
use web::{ApiError, Caller, Credentials};

use super::extract::JsonBody;
use crate::App;

/// The required value of `confirm` in a request for erasure.
const CONFIRMATION: &str = "erase";

/// The caller as the server sees it.
#[derive(Serialize)]
pub(crate) struct Account {
    user: String,
    admin: bool,
    auth: &'static str,
}

/// `GET /api/me`: the caller's name, whether it is an administrator's, and how callers authenticate.
pub(crate) async fn describe(State(app): State<App>, caller: Caller) -> Json<Account> {
    let (user, admin) = (caller.owner.display_name().to_owned(), caller.administrator);
    Json(Account { user, admin, auth: app.config.auth.name() })
}

/// How much of an export is written before other requests have their turn, in bytes; a row may be longer.
const CHUNK_BYTES: usize = 64 * 1024;

/// `GET /api/me/export`: all data of the caller, one JSON object in a line. The last one is of the kind `end`, or `error` if
/// the rest could not be read.
pub(crate) async fn export(State(app): State<App>, Caller { owner, .. }: Caller) -> Result<Response, ApiError> {
    let mut lines = Lines { export: app.store.export(&owner, SystemTime::now()), rows: VecDeque::new() };
    // The second step is the first that reads: if it fails, the response still gets an error status.
    for _ in 0..2 {
        lines.rows.extend(lines.export.next().await?.unwrap_or_default());
    }
    let body = Body::from_stream(unfold(Some(lines), |lines| async move {
        let (chunk, lines) = lines?.next_chunk().await?;
        Some((Ok::<_, Infallible>(chunk), lines))
    }));
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"lambda-chat.jsonl\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, body).into_response())
}

/// The lines of an export.
struct Lines {
    export: Export,
    /// The rows that were read and not written yet.
    rows: VecDeque<ExportRow>,
}

impl Lines {
    /// The next lines, with the lines after them unless they are the last; `None` after these.
    async fn next_chunk(mut self) -> Option<(Bytes, Option<Self>)> {
        while self.rows.is_empty() {
            match self.export.next().await {
                Ok(rows) => self.rows = rows?.into(),
                Err(error) => return Some((error_line(&error), None)),
            }
        }
        tokio::task::yield_now().await;
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK_BYTES
            && let Some(row) = self.rows.pop_front()
        {
            if let Err(error) = serde_json::to_writer(&mut chunk, &row) {
                tracing::error!(%error, "a row of an export could not be written");
            }
            chunk.push(b'\n');
        }
        Some((chunk.into(), Some(self)))
    }
}

fn error_line(error: &StoreError) -> Bytes {
    tracing::error!(%error, "an export could not be completed");
    format!("{}\n", json!({ "kind": "error", "error": { "code": error.code() } })).into()
}

#[derive(Serialize)]
pub(crate) struct Erased {
    keys: usize,
    conversations: usize,
    others: usize,
}

/// `DELETE /api/me`: ends the caller's running turns and erases all data of the caller, including the keys.
pub(crate) async fn erase(
    State(app): State<App>,
    credentials: Credentials,
    JsonBody(body): JsonBody,
) -> Result<Json<Erased>, ApiError> {
    let user_id = parse_confirmation(&body)?;
    let owner = credentials.identify(user_id.as_deref())?.owner;
    let DeletionCounts { keys, conversations, others } = turns::erase(&app.turns, &owner).await?;
    Ok(Json(Erased { keys, conversations, others }))
}

/// The user that a body names, if it confirms the erasure.
fn parse_confirmation(body: &[u8]) -> Result<Option<String>, ApiError> {
    let mut fields = StrictObject::parse(body)?;
    let confirmed = fields.take_string("confirm").is_ok_and(|confirm| confirm.as_deref() == Some(CONFIRMATION));
    let message = "`confirm` must be \"erase\": everything that the caller has is deleted for good";
    if confirmed { Ok(fields.take_string("userId")?) } else { Err(ApiError::new(ErrorCode::InvalidRequest, message)) }
}
