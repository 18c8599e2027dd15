use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use conversation::{ErrorCode, ToolCall, new_id};
use http::HeaderMap;
use protocols::Fields;
use serde_json::Value;
use store::{Kind, Owner};
use tokio::time::Instant;
use tools::http::{ToolDefinition, Trial};
use tools::{KnownPages, Progress, ToolContext, ToolRegistry};
use web::{Administrator, ApiError};

use super::{id, refused};
use crate::App;

/// Makes one call of a defined tool, switched on or not, and shows what was sent and what came back.
pub(crate) async fn run(
    State(app): State<App>,
    administrator: Administrator,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Trial>, ApiError> {
    let id = id(path)?;
    let mut fields = Fields::parse(&web::json_body(&headers, body).await?)?;
    let arguments = Value::Object(fields.object("arguments")?.unwrap_or_default());
    fields.finish("`arguments`")?;
    let stored = app.store.definitions.get(Kind::Tool, &id).await.map_err(refused)?;
    let definition = app.tools.definition(&stored).ok_or(ErrorCode::Internal)?;
    let trial = match app.tools.http_tool(&definition) {
        Some(tool) => tool.test_call(&arguments).await,
        None => of_the_product(&app, administrator.0.owner, definition, arguments).await?,
    };
    Ok(Json(trial))
}

/// A tool of the product under another name asks nobody: there is nothing to show but what it gives.
async fn of_the_product(
    app: &App,
    owner: Owner,
    definition: ToolDefinition,
    arguments: Value,
) -> Result<Trial, ApiError> {
    let context = ToolContext {
        owner,
        deadline: Instant::now() + app.config.turn,
        pages: KnownPages::default(),
        progress: Progress::default(),
    };
    let call = ToolCall { id: new_id(), name: definition.name.clone(), arguments };
    let session = ToolRegistry::new(vec![app.tools.tool(definition)]).session(context);
    let ran = session.run(&call).await.map_err(|_| ErrorCode::Internal)?;
    Ok(Trial { request: None, response: None, content: ran.result.content, error: ran.report.error })
}
