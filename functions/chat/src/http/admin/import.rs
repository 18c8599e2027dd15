use axum::Json;
use axum::extract::State;
use custom_tools::{ImportedTools, Rules, ToolDefinition, UnusableOperation};
use domain::{ErrorCode, Failure, StrictObject, new_id};
use serde::Serialize;
use serde_json::{Value, json};
use store::DefineError;
use web::{Administrator, ApiError};

use super::Tools;
use super::definitions::create_row;
use crate::http::extract::JsonBody;
use crate::{App, parsing};

/// The result of an import.
#[derive(Serialize)]
pub(crate) struct ImportReport {
    /// The stored tools; for a dry run those that would be stored, without ids.
    tools: Vec<Value>,
    refused: Vec<UnusableOperation>,
}

/// `POST /api/admin/tools/import`: defines a tool for each usable operation of an `OpenAPI` document whose name is free.
pub(crate) async fn import(
    State(app): State<App>,
    administrator: Administrator,
    JsonBody(body): JsonBody,
) -> Result<Json<ImportReport>, ApiError> {
    let (policy, taken) = (app.catalog.tools.policy(), app.catalog.tools.reserved_names().await?);
    let read = parsing::parse_heavy(&administrator.0.owner, move || {
        parse_import(&body, Rules { policy, reserved_names: &taken })
    });
    let (ImportedTools { tools, unusable }, dry_run) = read.await?;
    let mut report = ImportReport { tools: Vec::new(), refused: unusable };
    for definition in &tools {
        if dry_run { report.tools.push(definition.document()) } else { report.add(&app, definition).await? }
    }
    Ok(Json(report))
}

/// The tools of a document, and whether the import is a dry run.
fn parse_import(body: &[u8], rules: Rules<'_>) -> Result<(ImportedTools, bool), Failure> {
    let mut fields = StrictObject::parse(body)?;
    fields.accept_aliases(&[("dry_run", "dryRun")])?;
    let document =
        fields.take_object("document")?.ok_or_else(|| fields.field_error("document", "given: an OpenAPI document"))?;
    let dry_run = fields.take_bool("dryRun")?.unwrap_or(false);
    fields.reject_unknown("`document`, `dryRun`")?;
    let imported = custom_tools::import(Value::Object(document).to_string().as_bytes(), rules);
    let imported = imported.map_err(|message| Failure::new(ErrorCode::InvalidRequest, message))?;
    Ok((imported, dry_run))
}

impl ImportReport {
    async fn add(&mut self, app: &App, definition: &ToolDefinition) -> Result<(), ApiError> {
        match create_row::<Tools>(app, &new_id(), &definition.into()).await {
            Ok(view) => self.tools.push(json!(view)),
            // Another instance stored one of that name first.
            Err(DefineError::Taken) => {
                let (operation, reason) =
                    (definition.name.clone(), format!("Another tool has the name `{}`.", definition.name));
                self.refused.push(UnusableOperation { operation, reason });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
