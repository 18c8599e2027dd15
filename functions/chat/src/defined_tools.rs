//! Tools that administrators define as rows: requests to hosts, which agents use that name them.

use std::sync::Arc;

use conversation::Failure;
use egress::{Egress, Policy, SystemNetwork};
use store::{Definition, Kind, RateLimiter, Store, StoreError};
use tools::http::{Endpoint, HttpTool, Rules, ToolDefinition, ToolSecrets, defined};
use tools::{Tool, ToolBinding, ToolRegistry};
use web::ApiError;

use crate::chat::storage;
use crate::rows::Rows;

/// The names of the tools that come with the product: nobody's rows may have them, whether or not they are configured.
pub(crate) const RESERVED: [&str; 4] = ["search_web", "read_url", "calculator", "current_time"];

/// The defined tools of the deployment; clones share what was read.
#[derive(Clone)]
pub(crate) struct DefinedTools {
    rows: Rows<Row>,
    egress: Egress,
    secrets: ToolSecrets,
    limiter: RateLimiter,
    reserved: Arc<[String]>,
}

/// A tool that was defined.
#[derive(Clone)]
struct Row {
    name: String,
    enabled: bool,
    tool: Arc<dyn Tool>,
}

impl DefinedTools {
    pub(crate) fn new(store: &Store, policy: Policy, secrets: ToolSecrets) -> Self {
        Self {
            rows: Rows::new(store.definitions.clone(), Kind::Tool),
            egress: Egress::new(policy, SystemNetwork),
            secrets,
            limiter: store.rate_limiter.clone(),
            reserved: RESERVED.map(str::to_owned).into(),
        }
    }

    /// Reads what an administrator sent.
    pub(crate) fn parse(&self, body: &[u8]) -> Result<ToolDefinition, Failure> {
        ToolDefinition::parse(body, Rules { policy: self.egress.policy(), taken: &self.reserved })
    }

    /// What definitions are held to beside these names.
    pub(crate) fn policy(&self) -> Policy {
        self.egress.policy()
    }

    /// The names that no new row may have.
    pub(crate) async fn taken(&self) -> Result<Vec<String>, ApiError> {
        Ok(self.names().await?.into_iter().chain(self.reserved.iter().cloned()).collect())
    }

    /// The names of all rows.
    pub(crate) async fn names(&self) -> Result<Vec<String>, ApiError> {
        let rows = self.all().await.map_err(|error| storage(&error))?;
        Ok(rows.iter().map(|row| row.name.clone()).collect())
    }

    /// The tools of the product, and the defined ones that are switched on if a binding names any other.
    pub(crate) async fn beside(
        &self,
        built_in: &ToolRegistry,
        bindings: &[ToolBinding],
    ) -> Result<ToolRegistry, ApiError> {
        if bindings.iter().all(|binding| built_in.has(&binding.name)) {
            return Ok(built_in.clone());
        }
        let rows = self.all().await.map_err(|error| storage(&error))?;
        let enabled = rows.iter().filter(|row| row.enabled).map(|row| Arc::clone(&row.tool));
        Ok(built_in.beside(enabled.collect()))
    }

    /// The tool of a definition, whether or not it is switched on.
    pub(crate) fn tool(&self, definition: ToolDefinition) -> Arc<dyn Tool> {
        defined(definition, &self.egress, &self.secrets, &self.limiter)
    }

    /// The same, if it asks a host.
    pub(crate) fn http_tool(&self, definition: &ToolDefinition) -> Option<HttpTool> {
        let Endpoint::Web(endpoint) = definition.endpoint.clone() else { return None };
        let (egress, limiter) = (self.egress.clone(), self.limiter.clone());
        Some(HttpTool::new(definition.clone(), endpoint, egress, &self.secrets, limiter))
    }

    /// The definition that a row holds; one that cannot be read hides no other.
    pub(crate) fn definition(&self, stored: &Definition) -> Option<ToolDefinition> {
        // Where requests may go is decided when they are sent: a row of other times is refused there, and says so.
        let policy = Policy::public().with_http().with_any_port().with_loopback();
        let rules = Rules { policy, taken: &self.reserved };
        let definition = ToolDefinition::parse(stored.body.to_string().as_bytes(), rules);
        if definition.is_err() {
            tracing::error!(tool = stored.id, "a tool's row cannot be read");
        }
        definition.ok()
    }

    /// Reads the rows again at the next look: this process changed them.
    pub(crate) async fn forget(&self) {
        self.rows.forget().await;
    }

    async fn all(&self) -> Result<Arc<Vec<Row>>, StoreError> {
        self.rows.all(|stored| self.row(stored)).await
    }

    fn row(&self, stored: &Definition) -> Option<Row> {
        let definition = self.definition(stored)?;
        let (name, enabled) = (definition.name.clone(), definition.enabled);
        Some(Row { name, enabled, tool: self.tool(definition) })
    }
}
