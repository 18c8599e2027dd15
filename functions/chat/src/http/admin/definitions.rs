//! The administration of agents and tools: documents whose parsed form the catalog caches.

use std::time::SystemTime;

use axum::body::Bytes;
use axum::extract::State;
use axum::{Extension, Json};
use custom_tools::ToolDefinition;
use domain::new_id;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use store::{DefineError, Definition, DefinitionKind};
use web::{Administrator, ApiError, Caller};

use crate::definitions::{AgentDefinition, AgentRow, VisibleModels};
use crate::http::audit::Changed;
use crate::http::extract::{Administered, JsonBody};
use crate::{App, Result, parsing};

pub(crate) trait DefinedKind: 'static {
    const KIND: DefinitionKind;
    /// The field of the list with all of them.
    const LIST: &'static str;

    /// Parses a body; every name in it must exist.
    fn parse(app: &App, caller: &Caller, body: Bytes) -> impl Future<Output = Result<ParsedDefinition>> + Send;

    /// Makes the next read of the catalog go to the store.
    fn invalidate(app: &App);

    /// The definitions that exist without a row; a row of the same id replaces one.
    fn built_in(_: &App) -> Vec<DefinitionView> {
        Vec::new()
    }
}

pub(crate) struct ParsedDefinition {
    pub(super) name: String,
    pub(super) document: Value,
}

/// An agent or a tool, as the admin routes return it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionView {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) document: Value,
    /// Absent for a built-in definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<String>,
}

impl From<Definition> for DefinitionView {
    fn from(stored: Definition) -> Self {
        let (created_at, updated_at) = (Some(stored.created_at), Some(stored.updated_at));
        Self { id: stored.id, document: stored.body, created_at, updated_at }
    }
}

/// `GET /api/admin/…`: all of the kind, including the built-in ones without a row.
pub(crate) async fn list<K: DefinedKind>(State(app): State<App>, _: Administrator) -> Result<Json<Value>> {
    let rows = app.store.definitions.list(K::KIND).await?;
    let mut all = K::built_in(&app);
    all.retain(|built_in| rows.iter().all(|row| row.id != built_in.id));
    all.extend(rows.into_iter().map(DefinitionView::from));
    Ok(Json(json!({ K::LIST: all })))
}

/// `POST /api/admin/…`: stores a new definition under a new id.
pub(crate) async fn create<K: DefinedKind>(
    State(app): State<App>,
    administrator: Administrator,
    JsonBody(body): JsonBody,
) -> Result<(StatusCode, Extension<Changed>, Json<DefinitionView>)> {
    let new = K::parse(&app, &administrator.0, body).await?;
    let created = create_row::<K>(&app, &new_id(), &new).await?;
    Ok((StatusCode::CREATED, Extension(Changed(created.id.clone())), Json(created)))
}

/// `GET /api/admin/…/{id}`: one definition.
pub(crate) async fn get<K: DefinedKind>(Administered { app, id, .. }: Administered) -> Result<Json<DefinitionView>> {
    let found = app.store.definitions.get(K::KIND, &id).await;
    match (found, K::built_in(&app).into_iter().find(|built_in| built_in.id == id)) {
        (Err(DefineError::NotFound), Some(built_in)) => Ok(Json(built_in)),
        (found, _) => Ok(Json(found?.into())),
    }
}

/// `PUT /api/admin/…/{id}`: replaces a definition; this gives a built-in one its row.
pub(crate) async fn replace<K: DefinedKind>(
    Administered { app, administrator, id }: Administered,
    JsonBody(body): JsonBody,
) -> Result<Json<DefinitionView>> {
    let new = K::parse(&app, &administrator, body).await?;
    let change = app.store.definitions.replace(K::KIND, &id, &new.name, &new.document, SystemTime::now());
    match change_rows::<K, _>(&app, change).await {
        Err(DefineError::NotFound) if K::built_in(&app).iter().any(|built_in| built_in.id == id) => {
            Ok(Json(create_row::<K>(&app, &id, &new).await?))
        }
        replaced => Ok(Json(replaced?.into())),
    }
}

/// `DELETE /api/admin/…/{id}`: without its row a built-in definition is as before; agents that name a deleted tool continue
/// without it.
pub(crate) async fn delete<K: DefinedKind>(Administered { app, id, .. }: Administered) -> Result<StatusCode> {
    change_rows::<K, _>(&app, app.store.definitions.delete(K::KIND, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn create_row<K: DefinedKind>(
    app: &App,
    id: &str,
    new: &ParsedDefinition,
) -> Result<DefinitionView, DefineError> {
    let change = app.store.definitions.create(K::KIND, id, &new.name, &new.document, SystemTime::now());
    Ok(change_rows::<K, _>(app, change).await?.into())
}

/// Changes rows and drops their cached form, also after a failure: the change may have been stored although its response
/// was lost.
async fn change_rows<K: DefinedKind, T>(
    app: &App,
    change: impl Future<Output = Result<T, DefineError>>,
) -> Result<T, DefineError> {
    let outcome = change.await;
    K::invalidate(app);
    outcome
}

/// The tools that administrators define.
pub(crate) struct Tools;

impl DefinedKind for Tools {
    const KIND: DefinitionKind = DefinitionKind::Tool;
    const LIST: &'static str = "tools";

    async fn parse(app: &App, caller: &Caller, body: Bytes) -> Result<ParsedDefinition> {
        Ok((&app.catalog.tools.parse(&caller.owner, body).await?).into())
    }

    fn invalidate(app: &App) {
        app.catalog.tools.invalidate();
    }
}

impl From<&ToolDefinition> for ParsedDefinition {
    fn from(definition: &ToolDefinition) -> Self {
        Self { name: definition.name.clone(), document: definition.document() }
    }
}

pub(crate) struct Agents;

impl From<AgentRow> for DefinitionView {
    fn from(AgentRow { id, definition }: AgentRow) -> Self {
        Self { id, document: definition.document(), created_at: None, updated_at: None }
    }
}

impl DefinedKind for Agents {
    const KIND: DefinitionKind = DefinitionKind::Agent;
    const LIST: &'static str = "agents";

    async fn parse(app: &App, caller: &Caller, body: Bytes) -> Result<ParsedDefinition> {
        let definition = parsing::parse(&caller.owner, body.len(), move || AgentDefinition::parse(&body)).await?;
        let error = match definition.model.as_deref().and_then(|name| model_error(app.models_for(caller), name)) {
            None => tool_error(app, &definition).await?,
            error => error,
        };
        match error {
            Some(message) => Err(ApiError::invalid_request(message)),
            None => Ok(ParsedDefinition { document: definition.document(), name: definition.name }),
        }
    }

    fn invalidate(app: &App) {
        app.catalog.agents.invalidate();
    }

    fn built_in(app: &App) -> Vec<DefinitionView> {
        app.catalog.agents.built_in().into_iter().map(DefinitionView::from).collect()
    }
}

/// The error message for a model that an agent cannot have: agents are for several callers, so their models must be, too.
fn model_error(visible: VisibleModels<'_>, name: &str) -> Option<String> {
    match visible.get(name) {
        None => Some(format!("`model` names no model; there are: {}", visible.names())),
        Some(client) if !client.config().is_shared() => {
            Some("`model` must be a model for everybody: this one is yours alone".to_owned())
        }
        Some(_) => None,
    }
}

/// The error message for the first unknown tool: each must be built in or defined, enabled or not.
async fn tool_error(app: &App, definition: &AgentDefinition) -> Result<Option<String>> {
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
