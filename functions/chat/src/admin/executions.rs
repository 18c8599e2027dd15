use std::time::SystemTime;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Serialize;
use store::ListedExecution;
use web::{Administrator, ApiError};

use crate::App;
use crate::paging::{self, Paging};

/// Rows of a page when the request does not say.
const ROWS: u32 = 50;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List {
    executions: Vec<ListedExecution>,
    next_cursor: Option<String>,
}

/// The calls of all tools in the last month, the newest turns first.
pub(crate) async fn list(
    State(app): State<App>,
    _: Administrator,
    paging: Result<Query<Paging>, QueryRejection>,
) -> Result<Json<List>, ApiError> {
    let Query(paging) = paging.map_err(paging::bad_query)?;
    let page = app.store.executions.list(paging.limit(ROWS)?, paging.cursor.as_deref(), SystemTime::now()).await;
    let page = page.map_err(paging::refused)?;
    Ok(Json(List { executions: page.items, next_cursor: page.next_cursor }))
}
