//! Agents: who answers, with which words, model and tools.
//!
//! Administrators define them as rows; `default` answers where nobody names one, and exists without any row.

mod definition;

use std::sync::Arc;

use agent::{Agent, Measured};
use conversation::{ErrorCode, ToolChoice};
use http::HeaderMap;
use store::{Definition, Definitions, Kind, StoreError};
use web::ApiError;

pub(crate) use definition::AgentDefinition;

use crate::App;
use crate::chat::storage;
use crate::defined_tools::Bound;
use crate::rows::Rows;

/// The id of the agent that answers where nobody names one.
pub(crate) const DEFAULT: &str = "default";

/// The agents of the deployment, as this process knows them; clones share what was read.
#[derive(Clone)]
pub(crate) struct Agents(Rows<Row>);

/// An agent that was defined.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) definition: AgentDefinition,
}

impl Agents {
    pub(crate) fn new(definitions: Definitions) -> Self {
        Self(Rows::new(definitions, Kind::Agent))
    }

    /// All rows that can be read, by their ids.
    async fn rows(&self) -> Result<Arc<Vec<Row>>, StoreError> {
        self.0.all(row).await
    }

    /// The agents that requests may name, the default one first and also without a row.
    pub(crate) async fn all(&self) -> Result<Vec<Row>, ApiError> {
        let rows = self.rows().await.map_err(|error| storage(&error))?;
        let mut enabled: Vec<Row> = rows.iter().filter(|row| row.definition.enabled).cloned().collect();
        if rows.iter().all(|row| row.id != DEFAULT) {
            enabled.push(Row { id: DEFAULT.to_owned(), definition: AgentDefinition::built_in() });
        }
        enabled.sort_by_key(|row| row.id != DEFAULT);
        Ok(enabled)
    }

    /// The agent of that id, if a request may name it; the default one also without a row.
    pub(crate) async fn find(&self, id: &str) -> Result<AgentDefinition, ApiError> {
        let rows = match self.rows().await {
            Ok(rows) => rows,
            Err(error) => return Err(storage(&error)),
        };
        match rows.iter().find(|row| row.id == id) {
            Some(row) if row.definition.enabled => Ok(row.definition.clone()),
            None if id == DEFAULT => Ok(AgentDefinition::built_in()),
            _ => Err(unknown(&rows)),
        }
    }

    /// Reads the rows again at the next look: this process changed them.
    pub(crate) async fn forget(&self) {
        self.0.forget().await;
    }
}

/// The agent that a request names, in its body or its header.
///
/// # Errors
/// `invalid_request` for a header that is no text.
pub(crate) fn named<'a>(in_body: Option<&'a str>, headers: &'a HeaderMap) -> Result<Option<&'a str>, ApiError> {
    match in_body {
        Some(id) => Ok(Some(id)),
        None => named_by(headers),
    }
}

/// The agent that the headers of a request name.
///
/// # Errors
/// `invalid_request` for a header that is no text.
pub(crate) fn named_by(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(id) = headers.get("x-agent-id") else { return Ok(None) };
    let sentence = "`X-Agent-ID` must be visible ASCII";
    id.to_str().map(Some).map_err(|_| ApiError::new(ErrorCode::InvalidRequest, sentence))
}

/// A row; one that cannot be read hides no other.
fn row(stored: &Definition) -> Option<Row> {
    let definition = AgentDefinition::parse(stored.body.to_string().as_bytes());
    if definition.is_err() {
        tracing::error!(agent = stored.id, "an agent's row cannot be read");
    }
    Some(Row { id: stored.id.clone(), definition: definition.ok()? })
}

fn unknown(rows: &[Row]) -> ApiError {
    let enabled = rows.iter().filter(|row| row.definition.enabled).map(|row| row.id.as_str());
    let with_default = rows.iter().all(|row| row.id != DEFAULT).then_some(DEFAULT);
    let ids: Vec<&str> = with_default.into_iter().chain(enabled).collect();
    ApiError::new(ErrorCode::InvalidRequest, format!("There is no such agent; there is: {}", ids.join(", ")))
}

impl AgentDefinition {
    /// This agent over what the deployment has.
    pub(crate) async fn assemble(&self, app: &App) -> Result<Agent, ApiError> {
        let deployment = &app.agent;
        let bindings = self.bindings();
        Ok(Agent {
            measured: if bindings.is_some() { Measured::default() } else { deployment.measured.clone() },
            system_prompt: self.system_prompt.clone().or_else(|| deployment.system_prompt.clone()),
            tools: match bindings {
                Some(bindings) => {
                    let Bound { tools, bindings } = app.tools.beside(&deployment.tools, bindings).await?;
                    tools.bound(&bindings)
                }
                None => deployment.tools.clone(),
            },
            max_rounds: self.max_rounds.or(deployment.max_rounds),
            history_tokens: deployment.history_tokens,
            summarise: self.summarise.unwrap_or(deployment.summarise),
            pre_search: self.pre_search,
        })
    }

    /// What it does about tools in the first round; a tool that it no longer has cannot be demanded.
    pub(crate) fn choice(&self, agent: &Agent) -> ToolChoice {
        match &self.tool_choice {
            ToolChoice::Tool(name) if agent.tools.names().all(|known| known != name) => ToolChoice::Auto,
            choice => choice.clone(),
        }
    }
}
