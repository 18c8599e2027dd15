use std::time::Duration;

use agent::{CallRecord, TurnState};
use domain::{ErrorCode, FinishReason, Owner, RequestOrigin, Usage};
use llm::{AttemptRecord, ModelClient};
use redaction::Redactor;
use tokio::time::Instant;

/// A finished turn, as metrics and traces describe it.
pub(crate) struct TurnReport<'a> {
    pub(crate) request: &'a RequestOrigin,
    pub(crate) owner: &'a Owner,
    /// The agent's id.
    pub(crate) agent: &'a str,
    /// Empty for a stateless turn.
    pub(crate) conversation_id: &'a str,
    pub(crate) turn_id: &'a str,
    /// The name of the model that was called first.
    pub(crate) model: &'a str,
    /// The models that may have been called.
    pub(crate) models: &'a [ModelClient],
    /// The names of the agent's tools.
    pub(crate) tools: Vec<String>,
    pub(crate) state: &'a TurnState,
    pub(crate) attempts: Vec<AttemptRecord>,
    pub(crate) usage: Usage,
    /// When its first event was ready.
    pub(crate) started_at: Instant,
    pub(crate) ended_at: Instant,
    pub(crate) outcome: Result<FinishReason, ErrorCode>,
    /// `None` unless the operator has text captured.
    pub(crate) content: Option<TurnContent<'a>>,
}

/// What traces need for the text of a turn.
pub(crate) struct TurnContent<'a> {
    /// The user message; empty if the turn ended before it was known.
    pub(crate) question: &'a str,
    pub(crate) redactor: &'a Redactor,
}

impl TurnReport<'_> {
    /// The outcome as a label: the code of the failure, or `answered`.
    pub(crate) fn outcome_label(&self) -> &'static str {
        self.outcome.map_or_else(ErrorCode::as_str, |_| "answered")
    }

    /// The name of the called tool as a label; a name that a model invented is `unknown`.
    pub(crate) fn tool_label<'a>(&'a self, call: &CallRecord<'a>) -> &'a str {
        label_of_tool(&call.call.name, self.tools.contains(&call.call.name))
    }
}

/// The name of a called tool as a label; a name that a model invented is `unknown`.
pub(crate) fn label_of_tool(name: &str, is_tool: bool) -> &str {
    if is_tool { name } else { "unknown" }
}

/// The outcome of a call as a label: `ok`, the code of its failure, or `unfinished` when the turn ended first.
pub(crate) fn call_outcome<'a>(call: &CallRecord<'a>) -> &'a str {
    match call.outcome.map(|outcome| (outcome.ok, outcome.error.as_ref())) {
        None => "unfinished",
        Some((true, _)) => "ok",
        Some((false, error)) => error.map_or("failed", |failure| failure.code.as_str()),
    }
}

/// A duration in whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
