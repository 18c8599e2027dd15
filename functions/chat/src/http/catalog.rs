use axum::Json;
use axum::extract::State;
use client_protocols::without_nulls;
use domain::ToolSpec;
use futures_util::future::join_all;
use http::HeaderMap;
use llm::{ToolMode, ToolSupportSource};
use serde::Serialize;
use serde_json::{Value, json};
use tools::ToolMetadata;
use tools::url_allowlist::SEARCH_WEB;
use web::{Caller, Platform};

use super::extract::agent_id;
use crate::definitions::{AgentRow, DEFAULT_AGENT};
use crate::{App, Result};

/// Responds without any other call: a health check costs nothing.
pub(crate) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION"), "commit": env!("LAMBDA_CHAT_COMMIT") }))
}

/// `GET /api/auth`: how callers authenticate, and where the server runs, for a client that has no credential yet.
///
/// `signIn` is absent unless users can sign in on the page, and `onLambda` if it is false.
pub(crate) async fn auth(State(app): State<App>) -> Json<Value> {
    let auth = &app.config.auth;
    let on_lambda = (app.config.platform == Platform::Lambda).then_some(true);
    Json(without_nulls(json!({ "mode": auth.name(), "signIn": auth.sign_in(), "onLambda": on_lambda })))
}

/// The models that the caller may name, each with its current state; `failing` is absent if it is false, and `attachments` where
/// messages have no files.
pub(crate) async fn models(State(app): State<App>, caller: Caller) -> Json<Value> {
    let visible = app.models_for(&caller);
    let default = visible.default_model().map(|client| &client.config().name);
    let rows = visible.iter().map(async |client| {
        let config = client.config();
        let tools = turns::known_tool_support(&app.store, client).await;
        // Where it is not known, it is tried.
        let images = turns::known_image_support(&app.store, client).await.unwrap_or(true);
        without_nulls(json!({
            "name": config.name,
            "provider": client.provider(),
            "model": config.model,
            "default": default == Some(&config.name),
            "tools": if tools.mode == ToolMode::Native { "native" } else { "prompt" },
            "toolsFrom": tool_source_name(tools.source),
            "images": images,
            "demo": config.demo,
            "failing": client.is_failing().then_some(true),
        }))
    });
    let rows = join_all(rows).await;
    let attachments = (app.turns.attachments.is_some() && !rows.is_empty()).then_some(true);
    Json(without_nulls(json!({ "models": rows, "attachments": attachments })))
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
struct ToolRow {
    #[serde(flatten)]
    spec: ToolSpec,
    #[serde(flatten)]
    metadata: ToolMetadata,
}

/// What the agent of the request may call.
pub(crate) async fn tools(State(app): State<App>, caller: Caller, headers: HeaderMap) -> Result<Json<Value>> {
    let id = agent_id(&headers)?.unwrap_or(DEFAULT_AGENT);
    let agent = app.catalog.assemble(&app.catalog.agents.find(id, &caller).await?.definition).await?;
    let language = app.catalog.locale.language.unwrap_or_default();
    let specs = agent.tools.specs(language).iter().cloned();
    let tools = specs.zip(agent.tools.metadata()).map(|(spec, metadata)| ToolRow { spec, metadata });
    Ok(Json(json!({ "tools": tools.collect::<Vec<_>>() })))
}

/// The agents that the caller may name, the default one first.
pub(crate) async fn agents(State(app): State<App>, caller: Caller) -> Result<Json<Value>> {
    let rows = app.catalog.agents.all(&caller).await?;
    let row = |AgentRow { id, definition }: &AgentRow| {
        let (name, description) = (&definition.name, &definition.description);
        let mut row = json!({ "id": id, "name": name, "description": description, "default": id == DEFAULT_AGENT });
        if definition.follow_ups {
            row["followUps"] = true.into();
        }
        if !app.catalog.built_in_tools(definition).has(SEARCH_WEB) {
            row["searches"] = false.into();
        }
        row
    };
    Ok(Json(json!({ "agents": rows.iter().map(row).collect::<Vec<_>>() })))
}
