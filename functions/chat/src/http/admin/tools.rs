use std::time::SystemTime;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use custom_tools::ToolDefinition;
use domain::new_id;
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use store::{DefineError, DefinitionKind};
use web::{Administrator, ApiError};

use super::definition_view::DefinitionView;
use crate::App;
use crate::http::extract::path_id;

#[derive(Serialize)]
pub(crate) struct ToolDefinitionList {
    tools: Vec<DefinitionView>,
}

/// `GET /api/admin/tools`: all defined tools.
pub(crate) async fn list(State(app): State<App>, _: Administrator) -> Result<Json<ToolDefinitionList>, ApiError> {
    let rows = app.store.definitions.list(DefinitionKind::Tool).await?;
    Ok(Json(ToolDefinitionList { tools: rows.into_iter().map(DefinitionView::from).collect() }))
}

/// `POST /api/admin/tools`: stores a new tool under a new id.
pub(crate) async fn create(
    State(app): State<App>,
    administrator: Administrator,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<DefinitionView>), ApiError> {
    let definition =
        app.catalog.tools.parse(&administrator.0.owner, web::read_json_body(&headers, body).await?).await?;
    Ok((StatusCode::CREATED, Json(create_row(&app, &definition).await?)))
}

/// `GET /api/admin/tools/{id}`: one tool.
pub(crate) async fn get(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<DefinitionView>, ApiError> {
    let found = app.store.definitions.get(DefinitionKind::Tool, &path_id(path)?).await;
    Ok(Json(found?.into()))
}

/// `PUT /api/admin/tools/{id}`: replaces a tool.
pub(crate) async fn replace(
    State(app): State<App>,
    administrator: Administrator,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<DefinitionView>, ApiError> {
    let id = path_id(path)?;
    let definition =
        app.catalog.tools.parse(&administrator.0.owner, web::read_json_body(&headers, body).await?).await?;
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let replaced = app.store.definitions.replace(DefinitionKind::Tool, &id, name, &document, now).await;
    app.catalog.tools.invalidate().await;
    Ok(Json(replaced?.into()))
}

/// `DELETE /api/admin/tools/{id}`: deletes a tool; agents that name it continue without it.
pub(crate) async fn delete(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, ApiError> {
    let deleted = app.store.definitions.delete(DefinitionKind::Tool, &path_id(path)?).await;
    app.catalog.tools.invalidate().await;
    deleted?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stores a definition under a new id.
pub(super) async fn create_row(app: &App, definition: &ToolDefinition) -> Result<DefinitionView, DefineError> {
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let stored = app.store.definitions.create(DefinitionKind::Tool, &new_id(), name, &document, now).await;
    app.catalog.tools.invalidate().await;
    Ok(stored?.into())
}
