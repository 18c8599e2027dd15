use axum::body::Bytes;
use custom_tools::ToolDefinition;
use domain::Owner;
use store::DefinitionKind;
use web::ApiError;

use super::definitions::{DefinedKind, ParsedDefinition};
use crate::App;

/// The tools that administrators define.
pub(crate) struct Tools;

impl DefinedKind for Tools {
    const KIND: DefinitionKind = DefinitionKind::Tool;
    const LIST: &'static str = "tools";

    async fn parse(app: &App, owner: &Owner, body: Bytes) -> Result<ParsedDefinition, ApiError> {
        Ok((&app.catalog.tools.parse(owner, body).await?).into())
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
