//! Tools that administrators define as rows: requests to hosts, which agents use that name them.

use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Bytes;
use egress::{Egress, Policy, SystemNetwork};
use futures_util::future::join_all;
use store::{Definition, Kind, Owner, RateLimiter, Store, StoreError};
use tools::http::{Defined, Endpoint, HttpTool, Rules, ToolDefinition, ToolSecrets, defined};
use tools::{Tool, ToolBinding, ToolRegistry};
use web::ApiError;

use crate::chat::storage;
use crate::heavy;
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

/// A row that can be read.
#[derive(Clone)]
struct Row {
    name: String,
    enabled: bool,
    defined: Defined,
}

/// What an agent's bindings stand for, with each server in the place of its tools.
pub(crate) struct Bound {
    pub(crate) tools: ToolRegistry,
    pub(crate) bindings: Vec<ToolBinding>,
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
    pub(crate) async fn parse(&self, owner: &Owner, body: Bytes) -> Result<ToolDefinition, ApiError> {
        let (policy, taken) = (self.egress.policy(), Arc::clone(&self.reserved));
        heavy::read(owner, body.len(), move || ToolDefinition::parse(&body, Rules { policy, taken: &taken })).await
    }

    /// What definitions are held to beside these names.
    pub(crate) fn policy(&self) -> Policy {
        self.egress.policy()
    }

    /// The names that no new row may have.
    pub(crate) async fn taken(&self) -> Result<Vec<String>, ApiError> {
        Ok(self.names().await?.into_iter().chain(self.reserved.iter().cloned()).collect())
    }

    /// Whether an agent may name it: a row, or perhaps a tool of a server, of which only the server knows.
    pub(crate) async fn may_be_named(&self, name: &str) -> Result<bool, ApiError> {
        let rows = self.all().await.map_err(|error| storage(&error))?;
        let named = |row: &Row| match row.defined {
            Defined::Tool(_) => row.name == name,
            Defined::Server(_) => is_within(name, &row.name),
        };
        Ok(rows.iter().any(named))
    }

    /// The names of all rows.
    pub(crate) async fn names(&self) -> Result<Vec<String>, ApiError> {
        let rows = self.all().await.map_err(|error| storage(&error))?;
        Ok(rows.iter().map(|row| row.name.clone()).collect())
    }

    /// The tools of the product, the defined ones that are switched on, and those of the servers that a binding names,
    /// if any binding names another tool than the product's.
    pub(crate) async fn beside(&self, built_in: &ToolRegistry, bindings: Vec<ToolBinding>) -> Result<Bound, ApiError> {
        if bindings.iter().all(|binding| built_in.has(&binding.name)) {
            return Ok(Bound { tools: built_in.clone(), bindings });
        }
        let rows = self.all().await.map_err(|error| storage(&error))?;
        let enabled = || rows.iter().filter(|row| row.enabled);
        let servers = enabled().filter_map(|row| match &row.defined {
            Defined::Server(server) if row.is_named_by(&bindings) => Some((row.name.as_str(), server)),
            _ => None,
        });
        let now = SystemTime::now();
        let found = join_all(servers.map(async |(name, server)| (name, unreserved(server.tools(now).await)))).await;
        // Of the same name the later one holds: a row comes before a server's tool, the first server before another.
        let remote = found.iter().rev().flat_map(|(_, tools)| tools.iter().map(Arc::clone));
        let plain = enabled().filter_map(|row| match &row.defined {
            Defined::Tool(tool) => Some(Arc::clone(tool)),
            Defined::Server(_) => None,
        });
        let tools = built_in.beside(remote.chain(plain).collect());
        Ok(Bound { tools, bindings: bindings.into_iter().flat_map(|one| written_out(one, &found)).collect() })
    }

    /// What a definition stands for, whether or not it is switched on.
    pub(crate) fn defined(&self, definition: ToolDefinition) -> Defined {
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
        Some(Row { name, enabled, defined: self.defined(definition) })
    }
}

impl Row {
    /// Whether a binding names this server or, as far as its name tells, one of its tools.
    fn is_named_by(&self, bindings: &[ToolBinding]) -> bool {
        bindings.iter().any(|binding| is_within(&binding.name, &self.name))
    }
}

/// Whether `name` is a server's or could be that of one of its tools.
fn is_within(name: &str, server: &str) -> bool {
    name.strip_prefix(server).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// A server's tools without those that would take the name of one of the product's.
fn unreserved(tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
    tools.into_iter().filter(|tool| !RESERVED.contains(&tool.spec().name.as_str())).collect()
}

/// A binding of a server as bindings of its tools; any other as it is.
fn written_out(binding: ToolBinding, servers: &[(&str, Vec<Arc<dyn Tool>>)]) -> Vec<ToolBinding> {
    match servers.iter().find(|(name, _)| *name == binding.name) {
        None => vec![binding],
        Some((_, tools)) => {
            let one = |tool: &Arc<dyn Tool>| ToolBinding { name: tool.spec().name, ..binding.clone() };
            tools.iter().map(one).collect()
        }
    }
}
