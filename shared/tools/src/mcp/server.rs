use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use conversation::ToolFailure;
use egress::{Egress, EgressError};
use serde_json::{Value, json};
use store::RateLimiter;
use tokio::time::timeout;

use super::connection::Connection;
use super::exchange::Audience;
use super::failure::McpFailure;
use super::listing::{Listing, list};
use super::tool::McpTool;
use crate::http::{Credentials, ServerEndpoint, ToolDefinition, ToolSecrets, Trial};
use crate::refusal::Refusal;
use crate::{Outgoing, Progress, Tool, ToolError, arguments};

/// How long a list of tools is cached.
const FRESH: Duration = Duration::from_mins(5);

/// Delay before the list is requested again after a failure.
const REST: Duration = Duration::from_secs(30);

/// Timeout of a list: a turn waits for it.
const LIST: Duration = Duration::from_secs(3);

/// A Model Context Protocol server with its last known tools.
pub struct McpServer {
    connection: Arc<Connection>,
    known: tokio::sync::Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tools: Vec<Arc<dyn Tool>>,
    /// When the list expires, by the wall clock: a frozen process has no other clock.
    until: Option<SystemTime>,
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
        let (peer, ids) = (Mutex::new(None), AtomicU64::new(1));
        let connection = Connection { definition, endpoint, egress, credentials, limiter, peer, ids };
        Self { connection: Arc::new(connection), known: tokio::sync::Mutex::default() }
    }

    /// Returns the server's tools: cached for 5 minutes, else requested. After a failure it returns the last known
    /// tools and retries after 30 s.
    pub async fn tools(&self, now: SystemTime) -> Vec<Arc<dyn Tool>> {
        let mut known = self.known.lock().await;
        let rests = known.until.and_then(|until| until.duration_since(now).ok()).is_some_and(|left| left <= FRESH);
        if !rests {
            let asked = timeout(LIST, list(&self.connection, &Audience::default())).await;
            match asked.unwrap_or(Err(EgressError::TimedOut.into())) {
                Ok(listing) => *known = Known { tools: self.all(listing), until: Some(now + FRESH) },
                Err(failure) => {
                    let (server, reason) = (&self.connection.definition.name, failure.kind());
                    tracing::warn!(server, reason, "a server of tools did not say which it has");
                    // The server may have been replaced by one with another protocol version.
                    self.connection.forget_peer();
                    known.until = Some(now + REST);
                }
            }
        }
        known.tools.clone()
    }

    fn all(&self, Listing { tools, unusable }: Listing) -> Vec<Arc<dyn Tool>> {
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
    pub async fn test_call(&self, tool: Option<&str>, arguments: &Value, outgoing: &Outgoing, time: Duration) -> Trial {
        let empty = Trial { request: None, response: None, content: String::new(), error: None };
        let audience = Audience { progress: Progress::default(), trial: Some(Mutex::new(empty.clone())) };
        let over = |_| Err(McpFailure::from(EgressError::TimedOut).told(tool.is_some()));
        let tried = timeout(time, self.tried(tool, arguments, outgoing, &audience)).await.unwrap_or_else(over);
        let seen = audience.trial.map(|trial| trial.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut trial = seen.unwrap_or(empty);
        match tried {
            Ok(content) => trial.content = content,
            Err(ToolError::Model { failure, content }) => (trial.error, trial.content) = (Some(failure), content),
            Err(ToolError::Fatal(_)) => {
                let message = "The tool failed.".to_owned();
                trial.error = Some(ToolFailure { code: "failed".to_owned(), message });
            }
        }
        trial
    }

    async fn tried(
        &self,
        tool: Option<&str>,
        arguments: &Value,
        outgoing: &Outgoing,
        audience: &Audience,
    ) -> Result<String, ToolError> {
        let listing = list(&self.connection, audience).await.map_err(|failure: McpFailure| failure.told(false))?;
        let Some(name) = tool else { return Ok(shown(&listing)) };
        let named = |listed: &&super::listing::Listed| listed.name == name || listed.own_name == name;
        let Some(listed) = listing.tools.iter().find(named).cloned() else {
            return Err(Refusal::unknown_tool(name, listing.tools.iter().map(|listed| listed.name.as_str())).into());
        };
        let arguments =
            arguments::checked(&listed.parameters, arguments).map_err(|reason| Refusal::invalid_arguments(&reason))?;
        let tool = McpTool { connection: Arc::clone(&self.connection), listed };
        tool.ask(&arguments, outgoing, audience).await.map(|content| tool.framed(content))
    }
}

fn shown(listing: &Listing) -> String {
    let tools = listing
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}));
    json!({"tools": tools.collect::<Vec<_>>(), "unusable": listing.unusable}).to_string()
}
