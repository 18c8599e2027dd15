use std::sync::Arc;

use store::{Definition, DefinitionKind, Definitions, StoreError};
use web::{ApiError, Caller};

use super::agent_definition::{AgentDefinition, Purpose};
use super::cache::DefinitionCache;
use crate::Result;

/// The id of the agent that answers unless a request names one.
pub(crate) const DEFAULT_AGENT: &str = "default";

/// The id of the agent that answers from documents, if the deployment has any.
const DOCUMENTS_AGENT: &str = "documents";

/// The defined agents of the deployment; clones share one cache.
#[derive(Clone)]
pub(crate) struct Agents {
    rows: DefinitionCache<AgentRow>,
    has_documents: bool,
    /// Whether articles are searched by their meaning.
    has_semantic_search: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct AgentRow {
    pub(crate) id: String,
    pub(crate) definition: AgentDefinition,
}

impl Agents {
    pub(crate) fn new(definitions: Definitions, has_documents: bool, has_semantic_search: bool) -> Self {
        Self { rows: DefinitionCache::new(definitions, DefinitionKind::Agent), has_documents, has_semantic_search }
    }

    /// The agents that exist without a row, the default one first.
    pub(crate) fn built_in(&self) -> Vec<AgentRow> {
        let row = |id: &str, definition| AgentRow { id: id.to_owned(), definition };
        let documents = || row(DOCUMENTS_AGENT, AgentDefinition::documents(self.has_semantic_search));
        let documents = self.has_documents.then(documents);
        [row(DEFAULT_AGENT, AgentDefinition::built_in())].into_iter().chain(documents).collect()
    }

    /// The agents that requests of a caller may name, also those without a row; the default one is first.
    pub(crate) async fn all(&self, caller: &Caller) -> Result<Vec<AgentRow>> {
        let rows = self.rows().await?;
        let mut all = self.built_in();
        all.retain(|agent| rows.iter().all(|row| row.id != agent.id));
        all.extend(rows.iter().filter(|row| row.is_for(caller)).cloned());
        if let Some(at) = all.iter().position(|row| row.id == DEFAULT_AGENT) {
            all[..=at].rotate_right(1);
        }
        Ok(all)
    }

    /// The agent of that id, if requests of the caller may name it; a built-in one also without a row.
    pub(crate) async fn find(&self, id: &str, caller: &Caller) -> Result<AgentRow> {
        let rows = self.rows().await?;
        let found = match rows.iter().find(|row| row.id == id) {
            Some(row) => Some(row.clone()).filter(|row| row.is_for(caller)),
            None => self.built_in().into_iter().find(|row| row.id == id),
        };
        match found {
            Some(row) => Ok(row),
            None => Err(unknown_agent(&self.all(caller).await?)),
        }
    }

    /// Makes the next read go to the store, because this process changed a row.
    pub(crate) fn invalidate(&self) {
        self.rows.invalidate();
    }

    /// Parses a row; one that cannot be parsed does not affect the others.
    fn parse_row(&self, stored: &Definition) -> Option<AgentRow> {
        let definition = AgentDefinition::parse(stored.body.to_string().as_bytes());
        if definition.is_err() {
            tracing::error!(agent = stored.id, "an agent's row cannot be read");
        }
        let is_for_documents = self.has_documents && stored.id == DOCUMENTS_AGENT;
        let purpose = if is_for_documents { Purpose::Documents } else { Purpose::General };
        Some(AgentRow { id: stored.id.clone(), definition: AgentDefinition { purpose, ..definition.ok()? } })
    }

    async fn rows(&self) -> Result<Arc<Vec<AgentRow>>, StoreError> {
        self.rows.all(|stored| self.parse_row(stored)).await
    }
}

impl AgentRow {
    /// Whether it is enabled, and the caller in one of its groups.
    fn is_for(&self, caller: &Caller) -> bool {
        self.definition.enabled && caller.membership.may_use(&self.definition.groups)
    }
}

fn unknown_agent(usable: &[AgentRow]) -> ApiError {
    let ids: Vec<&str> = usable.iter().map(|row| row.id.as_str()).collect();
    ApiError::invalid_request(format!("There is no such agent; there is: {}", ids.join(", ")))
}
