use std::time::Duration;

use async_trait::async_trait;
use conversation::{Source, ToolFailure, ToolSpec};
use serde_json::Value;
use store::Owner;
use tokio::time::Instant;

use crate::{CalculationBudget, KnownPages, Outgoing, Progress};

/// Something that a model may call; one file each under this crate, and one line in the list.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// Runs one call whose arguments fit the schema.
    ///
    /// The future is dropped when the turn ends, when the time is over, or never; it must not leave work behind. That
    /// is the one signal to stop: a token would say the same a second time, and what computes without yielding needs a
    /// guard that stops it on drop either way (see the calculator).
    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;

    /// What arguments ask for: calls that mean the same are one within a turn, however they are worded.
    fn meaning(&self, arguments: &Value) -> Value {
        arguments.clone()
    }

    /// The most credits that a call is listed to cost.
    fn price(&self, _arguments: &Value) -> u64 {
        0
    }

    /// The longest time that one call may take; the turn's own end comes before it.
    fn timeout(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// The content of a result as the model reads it, after it was cut to what a result may hold; as it is unless a tool
    /// wants a form of its own around it.
    fn framed(&self, content: String) -> String {
        content
    }

    /// How the model reads that a call of this tool failed for `reason`, a short sentence in the prompt's language.
    fn failure_text(&self, reason: &str) -> String {
        format!("工具调用失败：{reason}")
    }
}

/// What a call may know of the turn it belongs to.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// On whose behalf it runs.
    pub owner: Owner,
    /// When the turn ends.
    pub deadline: Instant,
    /// The pages that have come up, from those of the history on; the session adds those of its results.
    pub pages: KnownPages,
    /// Where the call tells how far it is; the session gives each call its own.
    pub progress: Progress,
    /// Replaces personal data in what a call sends to a host.
    pub outgoing: Outgoing,
    /// The work that the calculations of the turn may take together.
    pub calculations: CalculationBudget,
}

/// What a call gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The text for the model.
    pub content: String,
    /// What a user reads of it, in Markdown, where that differs; blank where it gives a user nothing to read.
    pub shown: Option<String>,
    /// A few words for a status line.
    pub summary: String,
    /// Pages to cite.
    pub sources: Vec<Source>,
    /// Whether it came from a cache that this caller's own earlier call had filled.
    pub cached: bool,
    /// Credits that it cost this caller, or the other one who had it fetched.
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
