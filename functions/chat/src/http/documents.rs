use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::ErrorCode;
use http::{HeaderValue, header};
use serde::Deserialize;
use web::Caller;

use super::extract::{ParsedQuery, PathId};
use crate::{App, Result};

/// Plain text, whatever the file is: a browser runs nothing in it.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

#[derive(Deserialize)]
pub(crate) struct LinesQuery {
    lines: Option<String>,
}

/// `GET /api/documents/{path}`: lines of a document as text.
pub(crate) async fn read(
    State(app): State<App>,
    caller: Caller,
    PathId(id): PathId,
    query: Result<ParsedQuery<LinesQuery>>,
) -> Result<Response> {
    let Some(root) = &app.config.documents else { return Err(ErrorCode::NotFound.into()) };
    let ParsedQuery(LinesQuery { lines }) = query?;
    let text = root.read(&caller, &id, lines.as_deref()).await?;
    Ok(([(header::CONTENT_TYPE, TEXT)], text).into_response())
}
