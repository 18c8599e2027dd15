use axum::Json;
use axum::extract::State;
use domain::ToolSpec;
use futures_util::future::join_all;
use http::HeaderMap;
use llm::{ToolMode, ToolSupportSource};
use serde::Serialize;
use tools::ToolMetadata;
use web::{ApiError, Caller, SignIn};

use super::extract::agent_id;
use crate::App;
use crate::definitions::{AgentRow as Agent, DEFAULT_AGENT};

#[derive(Serialize)]
pub(crate) struct Health {
    status: &'static str,
    version: &'static str,
}

/// Responds without any other call: a health check costs nothing.
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// How a client authenticates.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Authentication {
    mode: &'static str,
    /// Absent unless users can sign in on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in: Option<SignIn>,
}

/// `GET /api/auth`: how callers authenticate, for a client that has no credential yet.
pub(crate) async fn auth(State(app): State<App>) -> Json<Authentication> {
    let auth = &app.config.auth;
    Json(Authentication { mode: auth.name(), sign_in: auth.sign_in().cloned() })
}

#[derive(Serialize)]
pub(crate) struct ModelList {
    models: Vec<ModelRow>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ModelRow {
    name: String,
    provider: String,
    model: String,
    default: bool,
    tools: &'static str,
    tools_from: &'static str,
    demo: bool,
    /// Absent if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failing: bool,
}

/// The models that the caller may name, each with its current state.
pub(crate) async fn models(State(app): State<App>, Caller { owner, .. }: Caller) -> Json<ModelList> {
    let default = app.config.models.default_model().map(|client| &client.config().name);
    let rows = app.models_for(&owner).iter().map(async |client| {
        let config = client.config();
        let tools = turns::known_tool_support(&app.store, client).await;
        ModelRow {
            name: config.name.clone(),
            provider: client.provider().to_owned(),
            model: config.model.clone(),
            default: default == Some(&config.name),
            tools: tool_mode_name(tools.mode),
            tools_from: tool_source_name(tools.source),
            demo: config.demo,
            failing: client.is_failing(),
        }
    });
    Json(ModelList { models: join_all(rows).await })
}

fn tool_mode_name(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Native => "native",
        ToolMode::Prompted => "prompt",
    }
}

fn tool_source_name(source: ToolSupportSource) -> &'static str {
    match source {
        ToolSupportSource::Settings => "settings",
        ToolSupportSource::Table => "table",
        ToolSupportSource::Provider => "provider",
        ToolSupportSource::Rejection => "learned",
    }
}

#[derive(Serialize)]
pub(crate) struct ToolList {
    tools: Vec<ToolRow>,
}

#[derive(Serialize)]
struct ToolRow {
    #[serde(flatten)]
    spec: ToolSpec,
    #[serde(flatten)]
    metadata: ToolMetadata,
}

/// What the agent of the request may call.
pub(crate) async fn tools(State(app): State<App>, headers: HeaderMap) -> Result<Json<ToolList>, ApiError> {
    let id = agent_id(&headers)?.unwrap_or(DEFAULT_AGENT);
    let agent = app.catalog.assemble(&app.catalog.agents.find(id).await?.definition).await?;
    let language = app.catalog.locale.language.unwrap_or_default();
    let specs = agent.tools.specs(language).iter().cloned();
    let tools = specs.zip(agent.tools.metadata()).map(|(spec, metadata)| ToolRow { spec, metadata });
    Ok(Json(ToolList { tools: tools.collect() }))
}

#[derive(Serialize)]
pub(crate) struct AgentList {
    agents: Vec<AgentRow>,
}

#[derive(Serialize)]
struct AgentRow {
    id: String,
    name: String,
    description: String,
    default: bool,
}

/// The agents that a request may name, the default one first.
pub(crate) async fn agents(State(app): State<App>) -> Result<Json<AgentList>, ApiError> {
    let rows = app.catalog.agents.all().await?;
    let agents = rows.into_iter().map(|Agent { id, definition }| AgentRow {
        default: id == DEFAULT_AGENT,
        id,
        name: definition.name,
        description: definition.description,
    });
    Ok(Json(AgentList { agents: agents.collect() }))
}
