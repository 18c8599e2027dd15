//! What those who run the service see of a turn: names, numbers and times, no words.

use std::time::SystemTime;

use agent::{CallRecord, Draft};
use conversation::{ErrorCode, FinishReason, Usage};
use model::AttemptMade;
use tokio::time::Instant;
use web::Arrival;

use crate::answering::Answering;

/// How a turn came to its end, as far as only the one who drove it knows.
pub(crate) struct Ended<'a> {
    pub(crate) arrival: &'a Arrival,
    /// Empty where the caller keeps the conversation.
    pub(crate) conversation_id: &'a str,
    /// When its first event was on its way.
    pub(crate) started_at: Instant,
    pub(crate) end: Result<FinishReason, ErrorCode>,
}

/// A turn at its end.
pub(crate) struct Observed<'a> {
    pub(crate) arrival: &'a Arrival,
    pub(crate) conversation_id: &'a str,
    pub(crate) turn_id: &'a str,
    /// The name of the model that was asked first.
    pub(crate) model: &'a str,
    /// The names of the tools that there were.
    pub(crate) tools: Vec<String>,
    pub(crate) draft: &'a Draft,
    pub(crate) attempts: Vec<AttemptMade>,
    pub(crate) usage: Usage,
    pub(crate) started_at: Instant,
    pub(crate) ended_at: Instant,
    pub(crate) end: Result<FinishReason, ErrorCode>,
}

impl Observed<'_> {
    /// How the turn ended, as one word: the code of its failure, or that there is an answer.
    pub(crate) fn end_word(&self) -> &'static str {
        self.end.map_or_else(ErrorCode::as_str, |_| "answered")
    }

    /// The name of the tool that was called; what a model made up is no name of a tool.
    pub(crate) fn tool<'a>(&self, call: &'a CallRecord) -> &'a str {
        if self.tools.contains(&call.call.name) { &call.call.name } else { "unknown" }
    }
}

/// How a call went: `ok`, the code of its failure, or `unfinished` when the turn ended before it.
pub(crate) fn outcome(call: &CallRecord) -> &str {
    match call.report.as_ref().map(|report| (report.ok, report.error.as_ref())) {
        None => "unfinished",
        Some((true, _)) => "ok",
        Some((false, error)) => error.map_or("failed", |failure| failure.code.as_str()),
    }
}

impl Answering<'_> {
    /// Writes down what there is to see of the turn; to be called before the last byte leaves.
    pub(crate) fn tell(&self, ended: &Ended<'_>) {
        let draft = self.events.draft().clone();
        let observed = Observed {
            arrival: ended.arrival,
            conversation_id: ended.conversation_id,
            turn_id: self.turn_id,
            model: self.chosen.models.first().map(|model| model.config().name.as_str()).unwrap_or_default(),
            tools: self.chosen.agent.tools.names().map(str::to_owned).collect(),
            attempts: draft.attempts.made(),
            usage: draft.usage(),
            draft: &draft,
            started_at: ended.started_at,
            ended_at: Instant::now(),
            end: ended.end,
        };
        let now = SystemTime::now();
        self.app.config.metrics.turn(&observed, now);
        self.app.config.traces.turn(&observed, now);
    }
}
