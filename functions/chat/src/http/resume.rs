use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, RequestOrigin};
use http::{HeaderMap, StatusCode};
use turns::FrameId;
use web::{ApiError, Caller};

use super::extract::{PathId, StreamQuery, is_accumulated};
use super::render::ResponseFormat;
use crate::App;

/// `GET /api/conversations/{id}/stream`: the running turn after the frame that `Last-Event-ID` names, or from its first
/// frame on; also the rest of a turn that finished within the last hour. `204` if there is nothing to resume.
pub(crate) async fn resume(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    Extension(context): Extension<RequestOrigin>,
    PathId(id): PathId,
    query: Result<Query<StreamQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (is_accumulated, last_frame) = (is_accumulated(query.as_ref())?, last_frame(&headers)?);
    let deadline = turns::deadline(&app.turns.limits, Some(&context));
    let Some((turn, received)) = turns::resume(&app.turns, &owner, &id, last_frame, deadline).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let format = ResponseFormat { stream: true, is_accumulated, request_id: context.request_id };
    Ok(format.render_resumed(turn, received))
}

/// The last frame that the client has received, if it names one.
fn last_frame(headers: &HeaderMap) -> Result<Option<FrameId>, ApiError> {
    let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) else { return Ok(None) };
    let last = value.to_str().ok().and_then(FrameId::parse);
    let message = "`Last-Event-ID` must be the id of a frame, as the stream had it";
    last.map(Some).ok_or_else(|| ApiError::new(ErrorCode::InvalidRequest, message))
}
