use std::time::SystemTime;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use http::StatusCode;
use serde::Serialize;
use web::{ApiError, Caller};

use crate::App;
use crate::conversations::no_such_path;
use crate::paging::refused;

#[derive(Serialize)]
pub(crate) struct Stop {
    stopping: bool,
}

/// `POST /api/conversations/{id}/stop`: ends the turn that runs, at once if it runs here, else when it renews its lease.
///
/// What was said is kept, and the turn ends as `stopped`. The conversation is free when that turn has ended, not before.
pub(crate) async fn stop(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    id: Result<Path<String>, PathRejection>,
) -> Result<(StatusCode, Json<Stop>), ApiError> {
    let Path(id) = id.map_err(no_such_path)?;
    let stopping = app.running.stop(&owner, &id)
        || app.store.conversations.stop(&owner, &id, SystemTime::now()).await.map_err(refused)?;
    Ok((if stopping { StatusCode::ACCEPTED } else { StatusCode::OK }, Json(Stop { stopping })))
}
