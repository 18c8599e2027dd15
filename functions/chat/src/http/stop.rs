use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use web::{ApiError, Caller};

use super::extract::PathId;
use crate::App;

#[derive(Serialize)]
pub(crate) struct StopResponse {
    stopping: bool,
}

/// `POST /api/conversations/{id}/stop`: ends the running turn, at once if it runs on this instance, otherwise when it renews
/// its lease.
///
/// The partial answer is kept, and the turn ends as `stopped`. The conversation is free when that turn has ended, not before.
pub(crate) async fn stop(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    PathId(id): PathId,
) -> Result<(StatusCode, Json<StopResponse>), ApiError> {
    let stopping = app.turns.registry.stop(&owner, &id)
        || app.store.conversations.request_stop(&owner, &id, SystemTime::now()).await?;
    Ok((if stopping { StatusCode::ACCEPTED } else { StatusCode::OK }, Json(StopResponse { stopping })))
}
