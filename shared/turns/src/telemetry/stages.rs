//! The stages of a turn as lines of the log: names from the settings, counts and times, never text of users, models or
//! tools. Nothing is computed for them while their target is disabled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent::{Agent, Turn, TurnRecorder, TurnRecorderFactory};
use domain::{AnswerDelta, Event, ToolCall, ToolEvent, ToolOutcome};
use llm::{ModelClient, ResponseRecorder, ToolMode};
use tokio::time::Instant;
use tools::{ToolRegistry, ToolRun};
use tracing::{Level, Span, enabled, info};
use work::lock;

use super::report::{TurnReport, label_of_tool, millis};
use crate::request::ResolvedAgent;

/// The target of the lines, by which a filter of the log selects them.
pub const STAGES: &str = "stages";

/// Logs that a turn was accepted, and which model answers first.
pub(crate) fn log_accepted(agent: &ResolvedAgent) {
    let (model, tools) = (agent.model_name(), agent.agent.tools.names().count());
    info!(target: STAGES, model, tools, "turn accepted");
}

/// Logs that the answer is stored.
pub(crate) fn log_stored(started_at: Instant) {
    info!(target: STAGES, ms = millis(started_at.elapsed()), "turn stored");
}

pub(crate) fn log_end(report: &TurnReport<'_>) {
    info!(
        target: STAGES,
        ms = millis(report.ended_at.saturating_duration_since(report.started_at)),
        end = report.outcome_label(),
        replies = report.state.replies,
        calls = report.state.answer.calls.len(),
        inputTokens = report.usage.input_tokens,
        outputTokens = report.usage.output_tokens,
        searchCredits = report.usage.search_credits,
        "turn ended"
    );
}

/// Logs what the agent does in a turn, in order, and has the turn recorded as well if there is a recorder.
pub(crate) struct StageLog<'a> {
    pub(crate) started_at: Instant,
    pub(crate) recorder: Option<&'a dyn TurnRecorderFactory>,
}

impl TurnRecorderFactory for StageLog<'_> {
    fn begin(&self, agent: &Agent, turn: &Turn<'_>) -> Option<Arc<dyn TurnRecorder>> {
        let recorder = self.recorder.and_then(|factory| factory.begin(agent, turn));
        if !enabled!(target: STAGES, Level::INFO) {
            return recorder;
        }
        let (tools, span) = (agent.tools.clone(), Span::current());
        Some(Arc::new(AgentStages { started_at: self.started_at, tools, span, seen: Mutex::default(), recorder }))
    }
}

/// Logs one turn of the agent.
struct AgentStages {
    started_at: Instant,
    tools: ToolRegistry,
    /// The span of the turn: some events come from another task.
    span: Span,
    seen: Mutex<SeenStages>,
    recorder: Option<Arc<dyn TurnRecorder>>,
}

#[derive(Default)]
struct SeenStages {
    has_delta: bool,
    model_calls: usize,
    /// The positions of the calls by their ids, which a model may choose.
    calls: HashMap<String, usize>,
}

impl TurnRecorder for AgentStages {
    fn on_event(&self, event: &Event) {
        if let Some(recorder) = &self.recorder {
            recorder.on_event(event);
        }
        match event {
            Event::Delta(AnswerDelta::Text(_) | AnswerDelta::Thinking(_)) => self.log_delta(),
            Event::Tool(ToolEvent::Call(call)) => self.log_call(call),
            Event::Tool(ToolEvent::Result(outcome)) => self.log_result(outcome),
            Event::Started(_)
            | Event::Delta(AnswerDelta::Reclassified(_))
            | Event::Tool(ToolEvent::Progress(_) | ToolEvent::ClientCall(_))
            | Event::Note(_)
            | Event::End(_) => {}
        }
    }

    fn on_model_call(&self, model: &ModelClient, tool_mode: ToolMode) -> Option<Arc<dyn ResponseRecorder>> {
        let number = {
            let mut seen = lock(&self.seen);
            seen.model_calls += 1;
            seen.model_calls
        };
        let (ms, model_name) = (self.elapsed(), model.config().name.as_str());
        self.span.in_scope(|| info!(target: STAGES, ms, call = number, model = model_name, "model called"));
        self.recorder.as_ref()?.on_model_call(model, tool_mode)
    }

    fn on_tool_result(&self, call: &ToolCall, run: Option<&ToolRun>) {
        if let Some(recorder) = &self.recorder {
            recorder.on_tool_result(call, run);
        }
    }
}

impl AgentStages {
    fn log_delta(&self) {
        if !std::mem::replace(&mut lock(&self.seen).has_delta, true) {
            self.span.in_scope(|| info!(target: STAGES, ms = self.elapsed(), "first delta"));
        }
    }

    fn log_call(&self, call: &ToolCall) {
        let position = {
            let mut seen = lock(&self.seen);
            let position = seen.calls.len() + 1;
            *seen.calls.entry(call.id.clone()).or_insert(position)
        };
        let (ms, tool) = (self.elapsed(), self.label(&call.name));
        self.span.in_scope(|| info!(target: STAGES, ms, call = position, tool, "tool called"));
    }

    fn log_result(&self, outcome: &ToolOutcome) {
        let position = lock(&self.seen).calls.get(&outcome.id).copied();
        let (ms, tool) = (self.elapsed(), self.label(&outcome.name));
        let code = outcome.error.as_ref().map(|error| error.code.as_str());
        let (ok, cached, sources) = (outcome.ok, outcome.cached, outcome.sources.len());
        self.span.in_scope(|| {
            info!(
                target: STAGES, ms, call = position, tool, ok, cached, toolMs = outcome.duration_ms, sources, code,
                "tool finished"
            );
        });
    }

    fn label<'b>(&self, name: &'b str) -> &'b str {
        label_of_tool(name, self.tools.has(name))
    }

    fn elapsed(&self) -> u64 {
        millis(self.started_at.elapsed())
    }
}
