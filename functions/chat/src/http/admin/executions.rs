use std::time::SystemTime;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use store::ListedExecution;
use web::{Administrator, ApiError, Caller};

use crate::App;
use crate::http::paging::{Paging, unreadable_query};

/// Rows of a page unless the request has a `limit`.
const ROWS: u32 = 50;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List {
    executions: Vec<ListedExecution>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Filter {
    message: Option<String>,
}

/// The calls of all tools in the last month, the newest turns first; with `message`, those for one of the caller's own
/// answers, in their order.
pub(crate) async fn list(
    State(app): State<App>,
    _: Administrator,
    caller: Caller,
    filter: Result<Query<Filter>, QueryRejection>,
    paging: Result<Query<Paging>, QueryRejection>,
) -> Result<Json<List>, ApiError> {
    if let Some(message_id) = filter.map_err(unreadable_query)?.0.message {
        let calls = app.store.executions.list_for_answer(&caller.owner, &message_id).await;
        let executions = calls?;
        return Ok(Json(List { executions, next_cursor: None }));
    }
    let paging = Paging::parse(paging)?;
    let page = app.store.executions.list(paging.limit(ROWS)?, paging.cursor.as_deref(), SystemTime::now()).await;
    let page = page?;
    Ok(Json(List { executions: page.items, next_cursor: page.next_cursor }))
}
