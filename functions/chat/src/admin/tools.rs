use std::time::SystemTime;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use conversation::new_id;
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use store::{DefineError, Kind};
use tools::http::ToolDefinition;
use web::{Administrator, ApiError};

use super::shown::Shown;
use super::{id, refused};
use crate::App;

#[derive(Serialize)]
pub(crate) struct List {
    tools: Vec<Shown>,
}

/// All defined tools.
pub(crate) async fn list(State(app): State<App>, _: Administrator) -> Result<Json<List>, ApiError> {
    let rows = app.store.definitions.list(Kind::Tool).await.map_err(|error| crate::chat::storage(&error))?;
    Ok(Json(List { tools: rows.into_iter().map(Shown::from).collect() }))
}

/// Stores a new tool under an id of its own.
pub(crate) async fn create(
    State(app): State<App>,
    administrator: Administrator,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Shown>), ApiError> {
    let definition = app.tools.parse(&administrator.0.owner, web::json_body(&headers, body).await?).await?;
    Ok((StatusCode::CREATED, Json(stored(&app, &definition).await.map_err(refused)?)))
}

/// One tool.
pub(crate) async fn get(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Shown>, ApiError> {
    let found = app.store.definitions.get(Kind::Tool, &id(path)?).await;
    Ok(Json(found.map_err(refused)?.into()))
}

/// Replaces a tool.
pub(crate) async fn replace(
    State(app): State<App>,
    administrator: Administrator,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Shown>, ApiError> {
    let id = id(path)?;
    let definition = app.tools.parse(&administrator.0.owner, web::json_body(&headers, body).await?).await?;
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let replaced = app.store.definitions.replace(Kind::Tool, &id, name, &document, now).await;
    app.tools.forget().await;
    Ok(Json(replaced.map_err(refused)?.into()))
}

/// Deletes a tool; agents that name it go on without it.
pub(crate) async fn delete(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, ApiError> {
    let deleted = app.store.definitions.delete(Kind::Tool, &id(path)?).await;
    app.tools.forget().await;
    deleted.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stores a new tool.
pub(super) async fn stored(app: &App, definition: &ToolDefinition) -> Result<Shown, DefineError> {
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let stored = app.store.definitions.create(Kind::Tool, &new_id(), name, &document, now).await;
    app.tools.forget().await;
    Ok(stored?.into())
}
