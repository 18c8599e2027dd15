use domain::{AnswerDelta, AttachmentKind, ErrorCode, Event, Failure, FinishReason};
use llm::{ModelError, ToolMode};
use prompts::AgentTexts;

use super::{Pictures, Run};
use crate::fallback;
use crate::round::{RoundError, allows_failover};

impl Run<'_> {
    /// Handles a failed round: retries it with prompted tools, less history or another model, answers from the results so
    /// far, or fails.
    pub(super) async fn handle_error(&mut self, error: RoundError) -> Result<Option<FinishReason>, Failure> {
        match error {
            RoundError::ToolsRejected if self.is_native() => {
                self.tool_mode = ToolMode::Prompted;
                self.select_history().await;
                Ok(None)
            }
            RoundError::Model(ModelError::ContextTooLong) if !self.has_trimmed && self.trim().await => Ok(None),
            RoundError::Model(ModelError::ImagesUnsupported)
                if self.pictures == Pictures::Sent && !self.question_has_pictures() =>
            {
                self.pictures = Pictures::Named;
                Ok(None)
            }
            RoundError::GaveUp(round) => Ok(round.and_then(|round| self.end_after_calls(*round))),
            RoundError::Model(ModelError::Deadline) => self.finish_late(ErrorCode::Deadline.into()).map(Some),
            RoundError::Fatal(_) => Err(error.failure()),
            RoundError::Model(ref model_error) if !allows_failover(model_error) => Err(error.failure()),
            RoundError::Model(_) | RoundError::ToolsRejected => self.fail_over_or_finish(error.failure()).await,
            RoundError::AfterCalls(round, error) => {
                if let Some(reason) = self.end_after_calls(*round) {
                    return Ok(Some(reason));
                }
                self.fail_over_or_finish(RoundError::Model(error).failure()).await
            }
        }
    }

    /// Continues with another model. If there is none and time is short, the sources become the answer.
    async fn fail_over_or_finish(&mut self, failure: Failure) -> Result<Option<FinishReason>, Failure> {
        match self.fail_over(failure).await {
            Ok(()) => Ok(None),
            Err(failure) if self.deadlines.is_closing() && self.has_sources() => self.finish_late(failure).map(Some),
            Err(failure) => Err(failure),
        }
    }

    /// Ends the turn without an answer of the model: with its text so far, else with the sources, else with the failure.
    fn finish_late(&self, failure: Failure) -> Result<FinishReason, Failure> {
        self.events.append_held();
        if self.has_no_text() {
            if !self.has_sources() {
                return Err(failure);
            }
            self.emit_fallback(|texts| texts.out_of_time);
        }
        Ok(FinishReason::Deadline)
    }

    /// Whether the new message has pictures, not only earlier ones.
    fn question_has_pictures(&self) -> bool {
        self.turn.attachments.iter().any(|file| file.kind == AttachmentKind::Image)
    }

    fn has_sources(&self) -> bool {
        !self.events.turn_state().answer.sources.is_empty()
    }

    /// Whether the open round has no text.
    pub(super) fn has_no_text(&self) -> bool {
        self.events.turn_state().current_round().0.trim().is_empty()
    }

    pub(super) fn emit_fallback(&self, reason: fn(&AgentTexts) -> &str) {
        self.events.discard_held();
        let delta = fallback::answer(&self.turn.text, &fallback::pages(&self.events.turn_state().answer), reason);
        self.events.append(Event::Delta(AnswerDelta::Text(delta)));
        self.events.append_held();
        self.events.notify();
    }
}
