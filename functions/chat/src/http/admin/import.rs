use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use custom_tools::{ImportedTools, Rules, UnusableOperation};
use domain::{ErrorCode, Failure, StrictObject, new_id};
use serde_json::{Value, json};
use store::DefineError;
use web::{Administrator, ApiError};

use super::Tools;
use super::definitions::create_row;
use crate::http::audit::Changed;
use crate::http::extract::JsonBody;
use crate::{App, Result, parsing};

/// `POST /api/admin/tools/import`: defines a tool for each usable operation of an `OpenAPI` document whose name is free.
///
/// Returns the stored tools, for a dry run those that would be stored, without ids; and the operations without a tool.
pub(crate) async fn import(
    State(app): State<App>,
    administrator: Administrator,
    JsonBody(body): JsonBody,
) -> Result<Response> {
    let (policy, taken) = (app.catalog.tools.egress.policy(), app.catalog.tools.reserved_names().await?);
    let read = parsing::parse(&administrator.0.owner, parsing::HEAVY, move || {
        parse_import(&body, Rules { policy, reserved_names: &taken, is_stored: false })
    });
    let (ImportedTools { tools, unusable }, dry_run) = read.await?;
    let (mut stored, mut refused, mut failed) = (Vec::new(), unusable, None);
    for definition in &tools {
        if dry_run {
            stored.push(definition.document());
            continue;
        }
        match create_row::<Tools>(&app, &new_id(), &definition.into()).await {
            Ok(view) => stored.push(json!(view)),
            // Another instance stored one of that name first.
            Err(DefineError::Taken) => {
                let operation = definition.name.clone();
                let reason = format!("Another tool has the name `{operation}`.");
                refused.push(UnusableOperation { operation, reason });
            }
            Err(error) => {
                failed = Some(ApiError::from(error));
                break;
            }
        }
    }
    // Also of an import that failed: the tools before it are stored.
    let ids: Vec<&str> = stored.iter().filter_map(|tool| tool["id"].as_str()).collect();
    let changed = Extension(Changed(ids.join(" ")));
    Ok(match failed {
        Some(error) => (changed, error).into_response(),
        None => (changed, Json(json!({ "tools": stored, "refused": refused }))).into_response(),
    })
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
