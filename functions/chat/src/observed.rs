//! What those who run the service see of a turn: names, numbers and times, no words.

use std::time::SystemTime;

use agent::Draft;
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

impl Answering<'_> {
    /// Writes down what there is to see of the turn; to be called before the last byte leaves.
    pub(crate) fn tell(&self, ended: &Ended<'_>) {
        let draft = self.events.draft().clone();
        let observed = Observed {
            arrival: ended.arrival,
            conversation_id: ended.conversation_id,
            turn_id: self.turn_id,
            model: self.chosen.models.first().map(|model| model.config().name.as_str()).unwrap_or_default(),
            tools: self.chosen.agent.tools.specs().into_iter().map(|spec| spec.name).collect(),
            attempts: draft.attempts.made(),
            usage: draft.usage(),
            draft: &draft,
            started_at: ended.started_at,
            ended_at: Instant::now(),
            end: ended.end,
        };
        self.app.config.metrics.turn(&observed, SystemTime::now());
    }
}
