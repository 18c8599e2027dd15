use std::sync::Arc;

use axum::Json;
use custom_tools::{CustomTool, TestCall};
use domain::{ErrorCode, Language, StrictObject, ToolCall, new_id};
use serde_json::Value;
use store::DefinitionKind;
use tokio::time::Instant;
use tools::{
    CalculationBudget, OutboundRedactor, Progress, ResultBudget, Tool, ToolContext, ToolRegistry, UrlAllowlist,
};
use web::{ApiError, Caller};

use crate::http::extract::{Administered, JsonBody};
use crate::{App, Result, parsing};

/// The error message for a request that names a tool of a definition that is not a server.
const TOOL_NOT_ACCEPTED: &str = "`tool` must be left out: only a server has tools to choose from";

/// `POST /api/admin/tools/{id}/test`: calls a defined tool once, enabled or not, and returns what was sent and received.
pub(crate) async fn run(
    Administered { app, administrator, id }: Administered,
    JsonBody(body): JsonBody,
) -> Result<Json<TestCall>> {
    let mut fields = parsing::parse(&administrator.owner, body.len(), move || StrictObject::parse(&body)).await?;
    let arguments = Value::Object(fields.take_object("arguments")?.unwrap_or_default());
    let tool_name = fields.take_non_blank("tool", 128)?;
    fields.reject_unknown("`arguments`, `tool`")?;
    let stored = app.store.definitions.get(DefinitionKind::Tool, &id).await?;
    let definition = app.catalog.tools.definition(&stored).ok_or(ErrorCode::Internal)?;
    let outgoing = OutboundRedactor::new(app.config.redactor.clone());
    let language = app.catalog.locale.language.unwrap_or_default();
    let test_call = match (app.catalog.tools.http_tool(&definition), app.catalog.tools.build(definition), &tool_name) {
        (_, CustomTool::Server(server), tool_name) => {
            server.test_call(tool_name.as_deref(), &arguments, &outgoing, app.turns.limits.max_duration, language).await
        }
        (_, CustomTool::Tool(_), Some(_)) => return Err(ApiError::invalid_request(TOOL_NOT_ACCEPTED)),
        (Some(tool), CustomTool::Tool(_), None) => {
            tool.test_call(&administrator.owner, &arguments, &outgoing, language).await
        }
        (None, CustomTool::Tool(tool), None) => run_built_in(&app, administrator, tool, arguments, language).await?,
    };
    Ok(Json(test_call))
}

/// Calls a built-in tool that is defined under another name. It sends no HTTP request, so only its result is returned.
async fn run_built_in(
    app: &App,
    caller: Caller,
    tool: Arc<dyn Tool>,
    arguments: Value,
    language: Language,
) -> Result<TestCall> {
    let context = ToolContext {
        language,
        time_zone: app.catalog.locale.time_zone.clone(),
        owner: caller.owner,
        membership: caller.membership,
        deadline: Instant::now() + app.turns.limits.max_duration,
        allowed_urls: UrlAllowlist::default(),
        sources: tools::SourceNumbers::default(),
        progress: Progress::default(),
        redactor: OutboundRedactor::new(app.config.redactor.clone()),
        calculation_budget: CalculationBudget::default(),
        result_budget: ResultBudget::default(),
    };
    let call = ToolCall { id: new_id(), name: tool.spec(language).name, arguments };
    let session = ToolRegistry::new(vec![tool]).session(context);
    let outcome = session.run(&call).await.map_err(|_| ErrorCode::Internal)?;
    Ok(TestCall { request: None, response: None, content: outcome.result.content, error: outcome.report.error })
}
