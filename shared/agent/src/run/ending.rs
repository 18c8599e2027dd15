use domain::{ErrorCode, Event, Failure, FinishReason};
use llm::{ModelError, ToolMode};

use super::Run;
use crate::failure::{Broken, heals};
use crate::fallback::{self, Silence};

impl Run<'_> {
    /// What follows a reply that broke off: another try by text, with less history or by another model, an answer from
    /// what there is, or the error.
    pub(super) async fn broken(&mut self, broken: Broken) -> Result<Option<FinishReason>, Failure> {
        match broken {
            Broken::ToolsRefused if self.is_native() => {
                self.path = ToolMode::Prompted;
                self.remember().await;
                Ok(None)
            }
            Broken::Model(ModelError::ContextTooLong) if !self.trimmed && self.trim().await => Ok(None),
            Broken::Late(round) => Ok(round.and_then(|round| self.conclude(*round))),
            Broken::Model(ModelError::Deadline) => self.out_of_time(ErrorCode::Deadline.into()).map(Some),
            Broken::Fatal(_) => Err(broken.failure()),
            Broken::Model(ref error) if !heals(error) => Err(broken.failure()),
            Broken::Model(_) | Broken::ToolsRefused => self.go_on(broken.failure()).await,
            Broken::Called(round, error) => {
                if let Some(reason) = self.conclude(*round) {
                    return Ok(Some(reason));
                }
                self.go_on(Broken::Model(error).failure()).await
            }
        }
    }

    /// Has another model go on; where none can and time is short, what was found is the answer.
    async fn go_on(&mut self, failure: Failure) -> Result<Option<FinishReason>, Failure> {
        match self.hand_over(failure).await {
            Ok(()) => Ok(None),
            Err(told) if self.times.are_short() && self.has_sources() => self.out_of_time(told).map(Some),
            Err(told) => Err(told),
        }
    }

    /// The end without an answer of the model's: what was said or found, else the failure.
    fn out_of_time(&self, failure: Failure) -> Result<FinishReason, Failure> {
        if self.said_nothing() {
            if !self.has_sources() {
                return Err(failure);
            }
            self.say_fallback(Silence::OutOfTime);
        }
        Ok(FinishReason::Deadline)
    }

    fn has_sources(&self) -> bool {
        !self.events.draft().sources.is_empty()
    }

    pub(super) fn said_nothing(&self) -> bool {
        self.events.draft().open_round().0.trim().is_empty()
    }

    pub(super) fn say_fallback(&self, silence: Silence) {
        let delta = {
            let draft = self.events.draft();
            format!("{}{}", draft.gap(), fallback::answer(&self.turn.text, &draft.sources, silence))
        };
        self.events.send(Event::Text { delta });
    }
}
