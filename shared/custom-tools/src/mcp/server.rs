use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use domain::Language;
use egress::{Egress, EgressError};
use serde_json::{Value, json};
use store::RateLimiter;
use tokio::time::timeout;
use tools::{OutboundRedactor, Progress, Tool, ToolCallError, ToolError, arguments};
use work::{RefreshPolicy, Refreshed, lock};

use super::exchange::{Connection, Observer};
use super::listing::{ToolListing, list_tools};
use super::tool::McpTool;
use crate::call_error::CallError;
use crate::http::{Credentials, ServerEndpoint, TestCall, ToolDefinition, ToolSecrets};

/// A list of tools is cached, and used for as long as the server does not send another one.
const LIST_POLICY: RefreshPolicy = RefreshPolicy {
    fresh_for: Duration::from_mins(5),
    usable_for: Duration::MAX,
    retry_interval: Duration::from_secs(30),
};

/// Timeout of a list: a turn waits for it.
const LIST_TIMEOUT: Duration = Duration::from_secs(3);

/// A Model Context Protocol server with its last known tools.
pub struct McpServer {
    connection: Arc<Connection>,
    tools: Refreshed<Vec<Arc<dyn Tool>>, ()>,
}

impl McpServer {
    /// Creates the server of a definition; makes no call.
    pub fn new(
        definition: ToolDefinition,
        endpoint: ServerEndpoint,
        egress: Egress,
        secrets: &ToolSecrets,
        limiter: RateLimiter,
    ) -> Self {
        let credentials = Credentials::new(endpoint.auth.clone(), secrets);
        let (mode, ids) = (Mutex::new(None), AtomicU64::new(1));
        let connection = Connection { definition, endpoint, egress, credentials, limiter, mode, ids };
        Self { connection: Arc::new(connection), tools: Refreshed::new(LIST_POLICY).with_expired(Vec::new()) }
    }

    /// Returns the server's tools: cached for 5 minutes, else requested. After a failure it returns the last known
    /// tools and retries after 30 s.
    pub async fn tools(&self, now: SystemTime) -> Vec<Arc<dyn Tool>> {
        self.tools.get(now, async || self.request_tools().await).await.unwrap_or_default()
    }

    async fn request_tools(&self) -> Result<Vec<Arc<dyn Tool>>, ()> {
        let requested = timeout(LIST_TIMEOUT, list_tools(&self.connection, &Observer::default())).await;
        requested.unwrap_or(Err(EgressError::TimedOut.into())).map(|listing| self.build_tools(listing)).map_err(
            |failure| {
                let (server, reason) = (&self.connection.definition.name, failure.kind());
                tracing::warn!(server, reason, "a server of tools did not list them");
                // The server may have been replaced by one with another protocol version.
                *lock(&self.connection.mode) = None;
            },
        )
    }

    fn build_tools(&self, ToolListing { tools, unusable }: ToolListing) -> Vec<Arc<dyn Tool>> {
        if unusable > 0 {
            tracing::warn!(
                server = self.connection.definition.name,
                unusable,
                "a server has tools that cannot be used"
            );
        }
        let tool = |listed| Arc::new(McpTool { connection: Arc::clone(&self.connection), listed }) as _;
        tools.into_iter().map(tool).collect()
    }

    /// Requests the list and calls one tool if one is named, outside of any turn and rate limit but within `time`;
    /// reports the last request and its response.
    pub async fn test_call(
        &self,
        tool: Option<&str>,
        arguments: &Value,
        redactor: &OutboundRedactor,
        time: Duration,
        language: Language,
    ) -> TestCall {
        let observer = Observer { progress: Progress::default(), test_call: Some(Mutex::default()) };
        let timed_out = |_| Err(CallError::from(EgressError::TimedOut).into_tool_error(tool.is_some(), language));
        let outcome = timeout(time, self.run_test_call(tool, arguments, redactor, &observer, language))
            .await
            .unwrap_or_else(timed_out);
        let seen = observer.test_call.map(|report| report.into_inner().unwrap_or_else(PoisonError::into_inner));
        seen.unwrap_or_default().with_outcome(outcome)
    }

    async fn run_test_call(
        &self,
        tool: Option<&str>,
        arguments: &Value,
        redactor: &OutboundRedactor,
        observer: &Observer,
        language: Language,
    ) -> Result<String, ToolError> {
        let listing =
            list_tools(&self.connection, observer).await.map_err(|error| error.into_tool_error(false, language))?;
        let Some(name) = tool else { return Ok(render_listing(&listing)) };
        let named = |listed: &&super::listing::ListedTool| listed.name == name || listed.own_name == name;
        let Some(listed) = listing.tools.iter().find(named).cloned() else {
            return Err(ToolCallError::unknown_tool(
                name,
                listing.tools.iter().map(|listed| listed.name.as_str()),
                language,
            )
            .into());
        };
        let arguments = arguments::coerce(&listed.parameters, arguments, language)?;
        let tool = McpTool { connection: Arc::clone(&self.connection), listed };
        tool.invoke(&arguments, redactor, observer, language).await.map(|content| tool.wrap_result(content))
    }
}

fn render_listing(listing: &ToolListing) -> String {
    let tools = listing
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}));
    json!({"tools": tools.collect::<Vec<_>>(), "unusable": listing.unusable}).to_string()
}
