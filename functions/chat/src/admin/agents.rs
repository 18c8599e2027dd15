use std::time::SystemTime;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use conversation::{ErrorCode, new_id};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use store::{DefineError, Kind};
use web::{Administrator, ApiError, Caller};

use super::shown::Shown;
use super::{id, refused};
use crate::agents::{AgentDefinition, DEFAULT};
use crate::models::Offered;
use crate::{App, heavy};

impl Shown {
    fn built_in() -> Self {
        let document = AgentDefinition::built_in().document();
        Self { id: DEFAULT.to_owned(), document, created_at: None, updated_at: None }
    }
}

#[derive(Serialize)]
pub(crate) struct List {
    agents: Vec<Shown>,
}

/// All agents; the default one also without a row.
pub(crate) async fn list(State(app): State<App>, _: Administrator) -> Result<Json<List>, ApiError> {
    let rows = app.store.definitions.list(Kind::Agent).await.map_err(|error| crate::chat::storage(&error))?;
    let built_in = rows.iter().all(|row| row.id != DEFAULT).then(Shown::built_in);
    Ok(Json(List { agents: built_in.into_iter().chain(rows.into_iter().map(Shown::from)).collect() }))
}

/// Stores a new agent under an id of its own.
pub(crate) async fn create(
    State(app): State<App>,
    administrator: Administrator,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Shown>), ApiError> {
    let definition = read(&app, &administrator.0, &headers, body).await?;
    let stored = stored(&app, &new_id(), &definition).await?;
    Ok((StatusCode::CREATED, Json(stored)))
}

/// One agent.
pub(crate) async fn get(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Shown>, ApiError> {
    let id = id(path)?;
    match app.store.definitions.get(Kind::Agent, &id).await {
        Err(DefineError::NotFound) if id == DEFAULT => Ok(Json(Shown::built_in())),
        found => Ok(Json(found.map_err(refused)?.into())),
    }
}

/// Replaces an agent; the default one gets its row by this.
pub(crate) async fn replace(
    State(app): State<App>,
    administrator: Administrator,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Shown>, ApiError> {
    let id = id(path)?;
    let definition = read(&app, &administrator.0, &headers, body).await?;
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let replaced = app.store.definitions.replace(Kind::Agent, &id, name, &document, now).await;
    app.agents.forget().await;
    match replaced {
        Err(DefineError::NotFound) if id == DEFAULT => stored(&app, &id, &definition).await.map(Json),
        replaced => Ok(Json(replaced.map_err(refused)?.into())),
    }
}

/// Deletes an agent; without its row the default one is the built-in one again.
pub(crate) async fn delete(
    State(app): State<App>,
    _: Administrator,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, ApiError> {
    app.store.definitions.delete(Kind::Agent, &id(path)?).await.map_err(refused)?;
    app.agents.forget().await;
    Ok(StatusCode::NO_CONTENT)
}

async fn stored(app: &App, id: &str, definition: &AgentDefinition) -> Result<Shown, ApiError> {
    let (name, document, now) = (&definition.name, definition.document(), SystemTime::now());
    let stored = app.store.definitions.create(Kind::Agent, id, name, &document, now).await.map_err(refused)?;
    app.agents.forget().await;
    Ok(stored.into())
}

/// The definition in a body, every name of which must exist.
async fn read(app: &App, caller: &Caller, headers: &HeaderMap, body: Body) -> Result<AgentDefinition, ApiError> {
    let body = web::json_body(headers, body).await?;
    let definition = heavy::read(&caller.owner, body.len(), move || AgentDefinition::parse(&body)).await?;
    let wrong = match definition.model.as_deref().and_then(|name| wrong_model(app.models_for(&caller.owner), name)) {
        None => unknown_tool(app, &definition).await?,
        wrong => wrong,
    };
    match wrong {
        Some(sentence) => Err(ApiError::new(ErrorCode::InvalidRequest, sentence)),
        None => Ok(definition),
    }
}

/// What is wrong with the model of an agent, which is for everybody: so must be the model.
fn wrong_model(offered: Offered<'_>, name: &str) -> Option<String> {
    match offered.get(name) {
        None => Some(format!("`model` names no model; there are: {}", offered.names())),
        Some(client) if client.config().only_for.is_some() => {
            Some("`model` must be a model for everybody: this one is yours alone".to_owned())
        }
        Some(_) => None,
    }
}

/// What is wrong with the tools of an agent: each must be one of the product or a defined one, switched on or not.
async fn unknown_tool(app: &App, definition: &AgentDefinition) -> Result<Option<String>, ApiError> {
    let mut bindings = definition.tools.iter().flatten();
    if bindings.all(|binding| app.agent.tools.has(&binding.tool)) {
        return Ok(None);
    }
    let mut names: Vec<String> = app.agent.tools.names().map(str::to_owned).collect();
    for (at, binding) in definition.tools.iter().flatten().enumerate() {
        if !names.contains(&binding.tool) && !app.tools.may_be_named(&binding.tool).await? {
            names.extend(app.tools.names().await?);
            return Ok(Some(format!("`tools[{at}].tool` names no tool; there are: {}", names.join(", "))));
        }
    }
    Ok(None)
}
