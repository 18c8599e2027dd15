use axum::Json;
use axum::extract::State;
use conversation::ToolSpec;
use futures_util::future::join_all;
use http::HeaderMap;
use model::{ToolPath, ToolsFrom};
use serde::Serialize;
use web::{ApiError, Caller};

use crate::{App, agents, capabilities};

#[derive(Serialize)]
pub(crate) struct Health {
    status: &'static str,
    version: &'static str,
}

/// Answers without asking anything else: a health check costs nothing.
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
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
    /// Only said when it is so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failing: bool,
}

/// The models that the caller may name, each with what is known of it now.
pub(crate) async fn models(State(app): State<App>, Caller { owner, .. }: Caller) -> Json<ModelList> {
    let default = app.config.models.default_model().map(|client| &client.config().name);
    let rows = app.models_for(&owner).iter().map(async |client| {
        let config = client.config();
        let tools = capabilities::known(&app.store, client).await;
        ModelRow {
            name: config.name.clone(),
            provider: client.provider().to_owned(),
            model: config.model.clone(),
            default: default == Some(&config.name),
            tools: path(tools.path),
            tools_from: source(tools.from),
            demo: config.demo,
            failing: client.is_failing(),
        }
    });
    Json(ModelList { models: join_all(rows).await })
}

fn path(path: ToolPath) -> &'static str {
    match path {
        ToolPath::Native => "native",
        ToolPath::Text => "prompt",
    }
}

fn source(from: ToolsFrom) -> &'static str {
    match from {
        ToolsFrom::Settings => "settings",
        ToolsFrom::Table => "table",
        ToolsFrom::Provider => "provider",
        ToolsFrom::Learned => "learned",
    }
}

#[derive(Serialize)]
pub(crate) struct ToolList {
    tools: Vec<ToolSpec>,
}

/// What the agent of the request may call.
pub(crate) async fn tools(State(app): State<App>, headers: HeaderMap) -> Result<Json<ToolList>, ApiError> {
    let id = agents::named_by(&headers)?.unwrap_or(agents::DEFAULT);
    let agent = app.agents.find(id).await?.assemble(&app).await?;
    Ok(Json(ToolList { tools: agent.tools.specs().to_vec() }))
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
    let rows = app.agents.all().await?;
    let agents = rows.into_iter().map(|agents::Row { id, definition }| AgentRow {
        default: id == agents::DEFAULT,
        id,
        name: definition.name,
        description: definition.description,
    });
    Ok(Json(AgentList { agents: agents.collect() }))
}
