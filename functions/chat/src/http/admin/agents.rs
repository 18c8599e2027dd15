use std::time::SystemTime;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use domain::{ErrorCode, new_id};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use store::{DefineError, DefinitionKind};
use web::{Administrator, ApiError, Caller};

use super::definition_view::DefinitionView;
use crate::definitions::{AgentDefinition, AgentRow, VisibleModels};
use crate::http::extract::path_id;
use crate::{App, parsing};

impl From<AgentRow> for DefinitionView {
    fn from(AgentRow { id, definition }: AgentRow) -> Self {
        Self { id, document: definition.document(), created_at: None, updated_at: None }
    }
}

#[derive(Serialize)]
pub(crate) struct AgentDefinitionList {
    agents: Vec<DefinitionView>,
}

/// `GET /api/admin/agents`: all agents, including the built-in ones without a row.
pub(crate) async fn list(State(app): State<App>, _: Administrator) -> Result<Json<AgentDefinitionList>, ApiError> {
    let rows = app.store.definitions.list(DefinitionKind::Agent).await?;
    let mut built_in = app.catalog.agents.built_in();
    built_in.retain(|agent| rows.iter().all(|row| row.id != agent.id));
    let built_in = built_in.into_iter().map(DefinitionView::from);
    Ok(Json(AgentDefinitionList { agents: built_in.chain(rows.into_iter().map(DefinitionView::from)).collect() }))
}

/// `POST /api/admin/agents`: stores a new agent under a new id.
pub(crate) async fn create(
    State(app): State<App>,
    administrator: Administrator,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<DefinitionView>), ApiError> {
    let definition = parse(&app, &administrator.0, &headers, body).await?;
    let stored = create_row(&app, &new_id(), &definition).await?;
    Ok((StatusCode::CREATED, Json(stored)))
}

/// `GET /api/admin/agents/{id}`: one agent.
pub(crate) async fn get(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<DefinitionView>, ApiError> {
    let id = path_id(path)?;
    let found = app.store.definitions.get(DefinitionKind::Agent, &id).await;
    match (found, app.catalog.agents.built_in().into_iter().find(|agent| agent.id == id)) {
        (Err(DefineError::NotFound), Some(built_in)) => Ok(Json(built_in.into())),
        (found, _) => Ok(Json(found?.into())),
    }
}

/// `PUT /api/admin/agents/{id}`: replaces an agent; this gives a built-in one its row.
pub(crate) async fn replace(
    State(app): State<App>,
    administrator: Administrator,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<DefinitionView>, ApiError> {
    let id = path_id(path)?;
    let definition = parse(&app, &administrator.0, &headers, body).await?;
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let replaced = app.store.definitions.replace(DefinitionKind::Agent, &id, name, &document, now).await;
    app.catalog.agents.invalidate().await;
    match replaced {
        Err(DefineError::NotFound) if app.catalog.agents.is_built_in(&id) => {
            create_row(&app, &id, &definition).await.map(Json)
        }
        replaced => Ok(Json(replaced?.into())),
    }
}

/// `DELETE /api/admin/agents/{id}`: deletes an agent; without its row a built-in agent is as before.
pub(crate) async fn delete(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, ApiError> {
    app.store.definitions.delete(DefinitionKind::Agent, &path_id(path)?).await?;
    app.catalog.agents.invalidate().await;
    Ok(StatusCode::NO_CONTENT)
}

async fn create_row(app: &App, id: &str, definition: &AgentDefinition) -> Result<DefinitionView, ApiError> {
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let stored = app.store.definitions.create(DefinitionKind::Agent, id, name, &document, now).await?;
    app.catalog.agents.invalidate().await;
    Ok(stored.into())
}

/// Parses the definition in a body; every model and tool in it must exist.
async fn parse(app: &App, caller: &Caller, headers: &HeaderMap, body: Body) -> Result<AgentDefinition, ApiError> {
    let body = web::read_json_body(headers, body).await?;
    let definition = parsing::parse(&caller.owner, body.len(), move || AgentDefinition::parse(&body)).await?;
    let error = match definition.model.as_deref().and_then(|name| model_error(app.models_for(&caller.owner), name)) {
        None => tool_error(app, &definition).await?,
        error => error,
    };
    match error {
        Some(message) => Err(ApiError::new(ErrorCode::InvalidRequest, message)),
        None => Ok(definition),
    }
}

/// The error message for a model that an agent cannot have: agents are for all callers, so their models must be, too.
fn model_error(visible: VisibleModels<'_>, name: &str) -> Option<String> {
    match visible.get(name) {
        None => Some(format!("`model` names no model; there are: {}", visible.names())),
        Some(client) if client.config().only_for.is_some() => {
            Some("`model` must be a model for everybody: this one is yours alone".to_owned())
        }
        Some(_) => None,
    }
}

/// The error message for the first unknown tool: each must be built in or defined, enabled or not.
async fn tool_error(app: &App, definition: &AgentDefinition) -> Result<Option<String>, ApiError> {
    let mut bindings = definition.tools.iter().flatten();
    if bindings.all(|binding| app.catalog.built_in.has(&binding.tool)) {
        return Ok(None);
    }
    let mut names: Vec<String> = app.catalog.built_in.names().map(str::to_owned).collect();
    for (at, binding) in definition.tools.iter().flatten().enumerate() {
        if !names.contains(&binding.tool) && !app.catalog.tools.is_known_tool(&binding.tool).await? {
            names.extend(app.catalog.tools.names().await?);
            return Ok(Some(format!("`tools[{at}].tool` names no tool; there are: {}", names.join(", "))));
        }
    }
    Ok(None)
}
