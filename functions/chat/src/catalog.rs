use axum::Json;
use axum::extract::State;
use conversation::ToolSpec;
use model::ToolsMode;
use serde::Serialize;

use crate::App;

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
}

/// The models that a request may name.
pub(crate) async fn models(State(app): State<App>) -> Json<ModelList> {
    let default = app.config.models.default_model().map(|client| client.config().name.clone());
    let row = |client: &model::ModelClient| {
        let config = client.config();
        ModelRow {
            name: config.name.clone(),
            provider: client.provider().to_owned(),
            model: config.model.clone(),
            default: default.as_ref() == Some(&config.name),
            tools: if config.tools == ToolsMode::Native { "native" } else { "prompt" },
            tools_from: if config.tools == ToolsMode::Auto { "table" } else { "settings" },
            demo: config.demo,
        }
    };
    Json(ModelList { models: app.config.models.iter().map(row).collect() })
}

#[derive(Serialize)]
pub(crate) struct ToolList {
    tools: Vec<ToolSpec>,
}

/// What the default agent may call.
pub(crate) async fn tools(State(app): State<App>) -> Json<ToolList> {
    Json(ToolList { tools: app.agent.tools.specs() })
}
