use axum::body::Bytes;
use domain::{ErrorCode, Owner};
use store::DefinitionKind;
use web::ApiError;

use super::definitions::{DefinedKind, DefinitionView, ParsedDefinition};
use crate::definitions::{AgentDefinition, AgentRow, VisibleModels};
use crate::{App, parsing};

pub(crate) struct Agents;

impl From<AgentRow> for DefinitionView {
    fn from(AgentRow { id, definition }: AgentRow) -> Self {
        Self { id, document: definition.document(), created_at: None, updated_at: None }
    }
}

impl DefinedKind for Agents {
    const KIND: DefinitionKind = DefinitionKind::Agent;
    const LIST: &'static str = "agents";

    async fn parse(app: &App, owner: &Owner, body: Bytes) -> Result<ParsedDefinition, ApiError> {
        let definition = parsing::parse(owner, body.len(), move || AgentDefinition::parse(&body)).await?;
        let error = match definition.model.as_deref().and_then(|name| model_error(app.models_for(owner), name)) {
            None => tool_error(app, &definition).await?,
            error => error,
        };
        match error {
            Some(message) => Err(ApiError::new(ErrorCode::InvalidRequest, message)),
            None => Ok(ParsedDefinition { document: definition.document(), name: definition.name }),
        }
    }

    fn invalidate(app: &App) {
        app.catalog.agents.invalidate();
    }

    fn built_in(app: &App) -> Vec<DefinitionView> {
        app.catalog.agents.built_in().into_iter().map(DefinitionView::from).collect()
    }
}

/// The error message for a model that an agent cannot have: agents are for all callers, so their models must be, too.
fn model_error(visible: VisibleModels<'_>, name: &str) -> Option<String> {
    match visible.get(name) {
        None => Some(format!("`model` names no model; there are: {}", visible.names())),
        Some(client) if client.config().only_for.is_some() => {
            Some("`model` must be a model for everybody: this one is yours alone".to_owned())
        }
        Some(_) => None,
    }
}

/// The error message for the first unknown tool: each must be built in or defined, enabled or not.
async fn tool_error(app: &App, definition: &AgentDefinition) -> Result<Option<String>, ApiError> {
    let mut bindings = definition.tools.iter().flatten();
    if bindings.all(|binding| app.catalog.built_in.has(&binding.tool)) {
        return Ok(None);
    }
    let mut names: Vec<String> = app.catalog.built_in.names().map(str::to_owned).collect();
    for (at, binding) in definition.tools.iter().flatten().enumerate() {
        if !names.contains(&binding.tool) && !app.catalog.tools.is_known_tool(&binding.tool).await? {
            names.extend(app.catalog.tools.names().await?);
            return Ok(Some(format!("`tools[{at}].tool` names no tool; there are: {}", names.join(", "))));
        }
    }
    Ok(None)
}
