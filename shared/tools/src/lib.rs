//! What the model may call.

use std::sync::Arc;

use async_trait::async_trait;
use conversation::{Source, ToolCall, ToolFailure, ToolReport, ToolResult, ToolSpec};
use serde_json::Value;
use store::Owner;
use tokio::time::Instant;

/// Something that a model may call; one file each under this crate, and one line in the list.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;
    /// Runs one call whose arguments fit the schema.
    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// What a call may know of the turn it belongs to.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// On whose behalf it runs.
    pub owner: Owner,
    /// When the turn ends.
    pub deadline: Instant,
}

/// What a call gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The text for the model.
    pub content: String,
    /// A few words for a status line.
    pub summary: String,
    /// Pages to cite.
    pub sources: Vec<Source>,
    /// Whether it came from a cache.
    pub cached: bool,
    /// Credits that it cost.
    pub credits: u64,
}

/// Why a call gives nothing back.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Told to the model, and the turn goes on.
    #[error("{}", failure.message)]
    Model {
        /// What the user sees.
        failure: ToolFailure,
        /// What the model reads.
        content: String,
    },
    /// Ends the turn.
    #[error(transparent)]
    Fatal(#[from] anyhow::Error),
}

/// The tools of a deployment.
#[derive(Clone, Default)]
pub struct ToolRegistry;

impl ToolRegistry {
    /// The registry of these tools; a later one of the same name replaces an earlier one.
    pub fn new(_tools: Vec<Arc<dyn Tool>>) -> Self {
        todo!()
    }
    /// What models are told, in order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        todo!()
    }
    /// The state of one turn: its memo of calls.
    pub fn session(&self, _context: ToolContext) -> ToolSession {
        todo!()
    }
}

/// The calls of one turn.
pub struct ToolSession;

/// A call that was dealt with.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// For the user.
    pub report: ToolReport,
    /// For the model.
    pub result: ToolResult,
    /// What it cost.
    pub credits: u64,
}

impl ToolSession {
    /// Runs a call: unknown names, unfit arguments, timeouts and panics are results too; only a fatal error ends the turn.
    pub async fn run(&self, _call: &ToolCall) -> Result<Ran, anyhow::Error> {
        todo!()
    }
}
