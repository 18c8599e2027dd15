use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use domain::ErrorCode;
use http::{HeaderValue, header};
use serde::Deserialize;
use web::{ApiError, Caller};

use super::extract::path_id;
use super::paging::unreadable_query;
use crate::App;

/// Plain text, whatever the file is: a browser runs nothing in it.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// The query of the route.
#[derive(Deserialize)]
pub(crate) struct LinesQuery {
    lines: Option<String>,
}

/// `GET /api/documents/{path}`: lines of a document as text.
pub(crate) async fn read(
    State(app): State<App>,
    Caller { owner, .. }: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<LinesQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Some(root) = &app.config.documents else { return Err(ErrorCode::NotFound.into()) };
    let Query(LinesQuery { lines }) = query.map_err(unreadable_query)?;
    let text = root.read(&owner, &path_id(path)?, lines.as_deref()).await?;
    Ok(([(header::CONTENT_TYPE, TEXT)], text).into_response())
}
