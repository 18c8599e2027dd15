use axum::Json;
use axum::body::Body;
use axum::extract::State;
use conversation::{ErrorCode, Failure};
use http::HeaderMap;
use protocols::Fields;
use serde::Serialize;
use serde_json::{Value, json};
use store::DefineError;
use tools::http::{Imported, Rules, ToolDefinition, Unusable};
use web::{Administrator, ApiError};

use super::refused;
use super::tools::stored;
use crate::{App, heavy};

/// What became of a document.
#[derive(Serialize)]
pub(crate) struct Made {
    /// The tools that were stored; those that would be for a dry run, without ids.
    tools: Vec<Value>,
    refused: Vec<Unusable>,
}

/// Makes a tool of every operation of an `OpenAPI` document that can be one and whose name is free.
pub(crate) async fn import(
    State(app): State<App>,
    administrator: Administrator,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Made>, ApiError> {
    let body = web::json_body(&headers, body).await?;
    let (policy, taken) = (app.tools.policy(), app.tools.taken().await?);
    let read =
        heavy::read(&administrator.0.owner, body.len(), move || imported(&body, Rules { policy, taken: &taken }));
    let (Imported { tools, unusable }, dry_run) = read.await?;
    let mut made = Made { tools: Vec::new(), refused: unusable };
    for definition in &tools {
        if dry_run { made.tools.push(definition.document()) } else { made.add(&app, definition).await? }
    }
    Ok(Json(made))
}

/// What a document gives, and whether nothing of it is to be stored.
fn imported(body: &[u8], rules: Rules<'_>) -> Result<(Imported, bool), Failure> {
    let mut fields = Fields::parse(body)?;
    let document = fields.object("document")?.ok_or_else(|| fields.wrong("document", "given: an OpenAPI document"))?;
    let dry_run = fields.flag("dryRun")?.unwrap_or(false);
    fields.finish("`document`, `dryRun`")?;
    let imported = tools::http::import(Value::Object(document).to_string().as_bytes(), rules);
    let imported = imported.map_err(|sentence| Failure::new(ErrorCode::InvalidRequest, sentence))?;
    Ok((imported, dry_run))
}

impl Made {
    async fn add(&mut self, app: &App, definition: &ToolDefinition) -> Result<(), ApiError> {
        match stored(app, definition).await {
            Ok(shown) => self.tools.push(json!(shown)),
            // Another process was quicker.
            Err(DefineError::Taken) => {
                let (operation, reason) =
                    (definition.name.clone(), format!("Another tool has the name `{}`.", definition.name));
                self.refused.push(Unusable { operation, reason });
            }
            Err(error) => return Err(refused(error)),
        }
        Ok(())
    }
}
