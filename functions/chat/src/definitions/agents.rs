use std::sync::Arc;

use domain::ErrorCode;
use store::{Definition, DefinitionKind, Definitions, StoreError};
use web::ApiError;

use super::agent_definition::AgentDefinition;
use super::cache::DefinitionCache;

/// The id of the agent that answers unless a request names one.
pub(crate) const DEFAULT_AGENT: &str = "default";

/// The defined agents of the deployment; clones share one cache.
#[derive(Clone)]
pub(crate) struct Agents(DefinitionCache<AgentRow>);

/// A defined agent.
#[derive(Clone, Debug)]
pub(crate) struct AgentRow {
    pub(crate) id: String,
    pub(crate) definition: AgentDefinition,
}

impl Agents {
    pub(crate) fn new(definitions: Definitions) -> Self {
        Self(DefinitionCache::new(definitions, DefinitionKind::Agent))
    }

    /// The agents that requests may name: the default one first, even without a row.
    pub(crate) async fn all(&self) -> Result<Vec<AgentRow>, ApiError> {
        let rows = self.rows().await?;
        let mut enabled: Vec<AgentRow> = rows.iter().filter(|row| row.definition.enabled).cloned().collect();
        if rows.iter().all(|row| row.id != DEFAULT_AGENT) {
            enabled.push(AgentRow { id: DEFAULT_AGENT.to_owned(), definition: AgentDefinition::built_in() });
        }
        enabled.sort_by_key(|row| row.id != DEFAULT_AGENT);
        Ok(enabled)
    }

    /// The agent of that id, if requests may name it; the default one even without a row.
    pub(crate) async fn find(&self, id: &str) -> Result<AgentDefinition, ApiError> {
        let rows = self.rows().await?;
        match rows.iter().find(|row| row.id == id) {
            Some(row) if row.definition.enabled => Ok(row.definition.clone()),
            None if id == DEFAULT_AGENT => Ok(AgentDefinition::built_in()),
            _ => Err(unknown_agent(&rows)),
        }
    }

    /// Makes the next read go to the store, because this process changed a row.
    pub(crate) async fn invalidate(&self) {
        self.0.invalidate().await;
    }

    async fn rows(&self) -> Result<Arc<Vec<AgentRow>>, StoreError> {
        self.0.all(parse_row).await
    }
}

/// Parses a row; one that cannot be parsed does not affect the others.
fn parse_row(stored: &Definition) -> Option<AgentRow> {
    let definition = AgentDefinition::parse(stored.body.to_string().as_bytes());
    if definition.is_err() {
        tracing::error!(agent = stored.id, "an agent's row cannot be read");
    }
    Some(AgentRow { id: stored.id.clone(), definition: definition.ok()? })
}

fn unknown_agent(rows: &[AgentRow]) -> ApiError {
    let enabled = rows.iter().filter(|row| row.definition.enabled).map(|row| row.id.as_str());
    let with_default = rows.iter().all(|row| row.id != DEFAULT_AGENT).then_some(DEFAULT_AGENT);
    let ids: Vec<&str> = with_default.into_iter().chain(enabled).collect();
    ApiError::new(ErrorCode::InvalidRequest, format!("There is no such agent; there is: {}", ids.join(", ")))
}
