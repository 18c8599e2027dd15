use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use conversation::ErrorCode;
use http::{HeaderMap, StatusCode};
use protocols::{Accumulated, Native, Resumed};
use tokio::time::Instant;
use web::{ApiError, Arrival, Caller};

use crate::App;
use crate::attach::{self, LastFrame};
use crate::begin::{self, Told};
use crate::chat::{Options, wants_accumulated};
use crate::conversations::no_such_path;

/// `GET /api/conversations/{id}/stream`: the running turn behind the frame that `Last-Event-ID` names, or from its first
/// one; also the rest of a turn that ended within the hour. `204` when there is nothing to tell.
pub(crate) async fn resume(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    Extension(arrival): Extension<Arrival>,
    id: Result<Path<String>, PathRejection>,
    options: Result<Query<Options>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Path(id) = id.map_err(no_such_path)?;
    let (accumulated, last) = (wants_accumulated(options)?, last_frame(&headers)?);
    let deadline = begin::deadline(&app, arrival.invocation.as_ref(), Instant::now());
    let Some((told, seen)) = attach::resumed(&app, &owner, &id, last, deadline).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let Told { turn_id, events } = told;
    let native = Native::new(turn_id, arrival.request_id);
    Ok(if accumulated {
        web::stream(events, Resumed::new(Accumulated::new(native), seen))
    } else {
        web::stream(events, Resumed::new(native, seen))
    })
}

/// The last frame that the client has, if it says so.
fn last_frame(headers: &HeaderMap) -> Result<Option<LastFrame>, ApiError> {
    let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) else { return Ok(None) };
    let last = value.to_str().ok().and_then(LastFrame::parse);
    let sentence = "`Last-Event-ID` must be the id of a frame: the turn, a hyphen, and a number from 1";
    last.map(Some).ok_or_else(|| ApiError::new(ErrorCode::InvalidRequest, sentence))
}
