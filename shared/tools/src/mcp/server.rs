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

/// How long a list is believed.
const FRESH: Duration = Duration::from_mins(5);

/// How long a server that gave none is left alone.
const REST: Duration = Duration::from_secs(30);

/// The longest time that a list may take: a turn waits for it.
const LIST: Duration = Duration::from_secs(3);

/// A server of the Model Context Protocol, with the tools that it was last seen to have.
pub struct McpServer {
    connection: Arc<Connection>,
    known: tokio::sync::Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tools: Vec<Arc<dyn Tool>>,
    /// When the list is to be asked for again, by the wall clock: a frozen process has no other.
    until: Option<SystemTime>,
}

impl McpServer {
    /// The server of a definition; asks nothing.
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

    /// Its tools: as known for five minutes, else asked for. Where that fails they are those that it had, and it is
    /// asked again after half a minute.
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
                    // It may have been replaced by one of the other generation.
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

    /// Asks for the list, and calls one tool if one is named, outside of any turn and limit but within `time`; shows the
    /// last that was sent and what came back.
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
