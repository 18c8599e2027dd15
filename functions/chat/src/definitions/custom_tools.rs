use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Bytes;
use custom_tools::{CustomTool, Endpoint, HttpTool, Rules, ToolDefinition, ToolSecrets};
use domain::{Language, Owner};
use egress::{Egress, Policy, SystemNetwork};
use futures_util::future::join_all;
use store::{Definition, DefinitionKind, RateLimiter, Store, StoreError};
use tools::{Tool, ToolBinding, ToolRegistry};

use super::cache::DefinitionCache;
use crate::Result;
use crate::document_root::DOCUMENT_TOOLS;
use crate::parsing;

/// The names of built-in tools that no row may have, whether or not they are configured. `search_articles` is reserved
/// only where it is on: rows of that name are older than it. No new row may have the name of a document tool either, but
/// rows that already have one are kept.
pub(crate) const RESERVED_NAMES: [&str; 4] = ["search_web", "read_url", "calculator", "current_time"];

/// The tools that administrators define; clones share one cache.
#[derive(Clone)]
pub(crate) struct CustomTools {
    rows: DefinitionCache<Row>,
    pub(crate) egress: Egress,
    secrets: ToolSecrets,
    limiter: RateLimiter,
    reserved: Arc<[String]>,
    /// Those that no new row may have.
    reserved_for_new: Arc<[String]>,
}

#[derive(Clone)]
struct Row {
    name: String,
    enabled: bool,
    tool: CustomTool,
}

/// The tools of an agent's bindings, with each binding of a server expanded to the server's tools.
pub(crate) struct BoundTools {
    pub(crate) tools: ToolRegistry,
    pub(crate) bindings: Vec<ToolBinding>,
}

impl CustomTools {
    pub(crate) fn new(store: &Store, policy: Policy, secrets: ToolSecrets, built_in: &ToolRegistry) -> Self {
        let others = built_in.names().filter(|name| !RESERVED_NAMES.contains(name));
        let names: Vec<String> = RESERVED_NAMES.into_iter().chain(others).map(str::to_owned).collect();
        Self {
            rows: DefinitionCache::new(store.definitions.clone(), DefinitionKind::Tool),
            egress: Egress::new(policy, SystemNetwork),
            secrets,
            limiter: store.rate_limiter.clone(),
            reserved_for_new: names.iter().cloned().chain(DOCUMENT_TOOLS.map(str::to_owned)).collect(),
            reserved: names.into(),
        }
    }

    pub(crate) async fn parse(&self, owner: &Owner, body: Bytes) -> Result<ToolDefinition> {
        let (policy, taken) = (self.egress.policy(), Arc::clone(&self.reserved_for_new));
        parsing::parse(owner, body.len(), move || {
            ToolDefinition::parse(&body, Rules { policy, reserved_names: &taken, is_stored: false })
        })
        .await
    }

    pub(crate) async fn reserved_names(&self) -> Result<Vec<String>> {
        Ok(self.names().await?.into_iter().chain(self.reserved_for_new.iter().cloned()).collect())
    }

    /// Whether agents may name this tool: it is a row, or by its name it may be a tool of a server.
    pub(crate) async fn is_known_tool(&self, name: &str) -> Result<bool> {
        let rows = self.all().await?;
        let matches = |row: &Row| match row.tool {
            CustomTool::Tool(_) => row.name == name,
            CustomTool::Server(_) => is_within(name, &row.name),
        };
        Ok(rows.iter().any(matches))
    }

    pub(crate) async fn names(&self) -> Result<Vec<String>> {
        let rows = self.all().await?;
        Ok(rows.iter().map(|row| row.name.clone()).collect())
    }

    /// The built-in tools; if a binding names another tool, also the enabled custom tools and those of the servers that a
    /// binding names.
    pub(crate) async fn with_custom_tools(
        &self,
        built_in: &ToolRegistry,
        bindings: Vec<ToolBinding>,
    ) -> Result<BoundTools> {
        if bindings.iter().all(|binding| built_in.has(&binding.name)) {
            return Ok(BoundTools { tools: built_in.clone(), bindings });
        }
        let rows = self.all().await?;
        let enabled = || rows.iter().filter(|row| row.enabled);
        let servers = enabled().filter_map(|row| match &row.tool {
            CustomTool::Server(server) if row.is_named_by(&bindings) => Some((row.name.as_str(), server)),
            _ => None,
        });
        let now = SystemTime::now();
        let found = join_all(servers.map(async |(name, server)| (name, unreserved(server.tools(now).await)))).await;
        // The last tool of a name wins: a row over a server's tool, the first server over another.
        let remote = found.iter().rev().flat_map(|(_, tools)| tools.iter().map(Arc::clone));
        let plain = enabled().filter_map(|row| match &row.tool {
            CustomTool::Tool(tool) => Some(Arc::clone(tool)),
            CustomTool::Server(_) => None,
        });
        let tools = built_in.extended_with(remote.chain(plain).collect());
        Ok(BoundTools { tools, bindings: bindings.into_iter().flat_map(|one| expand_binding(one, &found)).collect() })
    }

    /// The tool or the server of a definition, enabled or not.
    pub(crate) fn build(&self, definition: ToolDefinition) -> CustomTool {
        custom_tools::build(definition, &self.egress, &self.secrets, &self.limiter)
    }

    pub(crate) fn http_tool(&self, definition: &ToolDefinition) -> Option<HttpTool> {
        let Endpoint::Web(endpoint) = definition.endpoint.clone() else { return None };
        let (egress, limiter) = (self.egress.clone(), self.limiter.clone());
        Some(HttpTool::new(definition.clone(), endpoint, egress, &self.secrets, limiter))
    }

    /// Parses a row; one that cannot be parsed does not affect the others.
    pub(crate) fn definition(&self, stored: &Definition) -> Option<ToolDefinition> {
        // The policy is enforced when a request is sent: an older row that violates it fails there, with a clear error.
        let policy = Policy::public().with_http().with_any_port().with_loopback();
        let rules = Rules { policy, reserved_names: &self.reserved, is_stored: true };
        let definition = ToolDefinition::parse(stored.body.to_string().as_bytes(), rules);
        if definition.is_err() {
            tracing::error!(tool = stored.id, "a tool's row cannot be read");
        }
        definition.ok()
    }

    /// Makes the next read go to the store, because this process changed a row.
    pub(crate) fn invalidate(&self) {
        self.rows.invalidate();
    }

    async fn all(&self) -> Result<Arc<Vec<Row>>, StoreError> {
        self.rows.all(|stored| self.parse_row(stored)).await
    }

    fn parse_row(&self, stored: &Definition) -> Option<Row> {
        let definition = self.definition(stored)?;
        let (name, enabled) = (definition.name.clone(), definition.enabled);
        Some(Row { name, enabled, tool: self.build(definition) })
    }
}

impl Row {
    /// Whether a binding names this server or, by its prefix, one of its tools.
    fn is_named_by(&self, bindings: &[ToolBinding]) -> bool {
        bindings.iter().any(|binding| is_within(&binding.name, &self.name))
    }
}

/// Whether `name` is a server's or may be that of one of its tools.
fn is_within(name: &str, server: &str) -> bool {
    name.strip_prefix(server).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// A server's tools without those that have the name of a built-in tool.
fn unreserved(tools: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
    tools.into_iter().filter(|tool| !RESERVED_NAMES.contains(&tool.spec(Language::default()).name.as_str())).collect()
}

/// Expands a binding of a server to bindings of its tools; any other binding is unchanged.
fn expand_binding(binding: ToolBinding, servers: &[(&str, Vec<Arc<dyn Tool>>)]) -> Vec<ToolBinding> {
    match servers.iter().find(|(name, _)| *name == binding.name) {
        None => vec![binding],
        Some((_, tools)) => {
            let one =
                |tool: &Arc<dyn Tool>| ToolBinding { name: tool.spec(Language::default()).name, ..binding.clone() };
            tools.iter().map(one).collect()
        }
    }
}
