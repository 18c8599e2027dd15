use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use domain::ErrorCode;
use serde::Deserialize;
use serde_json::{Value, json};
use web::{Administrator, Caller};

use crate::http::extract::{Administered, Paging, ParsedQuery};
use crate::{App, Result};

/// Rows of a page unless the request has a `limit`.
const DEFAULT_ROWS: u32 = 50;

#[derive(Deserialize)]
pub(crate) struct ExecutionFilter {
    message: Option<String>,
}

/// `GET /api/admin/executions`: the tool calls of the last month, the newest turns first. With `message`, the calls of one
/// of the caller's own answers, in call order.
pub(crate) async fn list(
    State(app): State<App>,
    _: Administrator,
    caller: Caller,
    ParsedQuery(filter): ParsedQuery<ExecutionFilter>,
    paging: Result<ParsedQuery<Paging>>,
) -> Result<Json<Value>> {
    if let Some(message_id) = filter.message {
        let executions = app.store.executions.list_for_answer(&caller.owner, &message_id).await?;
        return Ok(Json(json!({ "executions": executions, "nextCursor": null })));
    }
    let ParsedQuery(paging) = paging?;
    let page =
        app.store.executions.list(paging.limit(DEFAULT_ROWS)?, paging.cursor.as_deref(), SystemTime::now()).await?;
    Ok(Json(json!({ "executions": page.items, "nextCursor": page.next_cursor })))
}

/// `GET /api/admin/executions/{id}`: one tool call.
pub(crate) async fn get(Administered { app, id, .. }: Administered) -> Result<Json<Value>> {
    let execution = app.store.executions.get(&id, SystemTime::now()).await?.ok_or(ErrorCode::NotFound)?;
    Ok(Json(json!(execution)))
}
