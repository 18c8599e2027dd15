use conversation::{ErrorCode, Event, Failure, FinishReason};
use model::{ModelError, ToolPath};

use super::{Run, direct};
use crate::failure::{Broken, heals};
use crate::fallback;

impl Run<'_> {
    /// What follows a reply that broke off: another try by text, with less history or by another model, an answer from
    /// what there is, or the error.
    pub(super) async fn broken(&mut self, broken: Broken) -> Result<Option<FinishReason>, Failure> {
        match broken {
            Broken::ToolsRefused if self.is_native() => {
                self.path = ToolPath::Text;
                self.remember().await;
                Ok(None)
            }
            Broken::Model(ModelError::ContextTooLong) if !self.trimmed && self.trim().await => Ok(None),
            Broken::Model(ModelError::Deadline) => self.out_of_time().map(Some),
            Broken::Fatal(_) => Err(broken.failure()),
            Broken::Model(ref error) if !heals(error) => Err(broken.failure()),
            Broken::Model(_) | Broken::ToolsRefused => self.hand_over(broken.failure()).await.map(|()| None),
            Broken::Called(round, error) => {
                let answer = direct::answer(&round);
                self.keep(*round);
                if let Some(answer) = answer {
                    return Ok(Some(self.say_directly(&answer)));
                }
                self.hand_over(Broken::Model(error).failure()).await.map(|()| None)
            }
        }
    }

    fn out_of_time(&self) -> Result<FinishReason, Failure> {
        if self.said_nothing() {
            if self.events.draft().sources.is_empty() {
                return Err(ErrorCode::Deadline.into());
            }
            self.say_fallback();
        }
        Ok(FinishReason::Deadline)
    }

    pub(super) fn said_nothing(&self) -> bool {
        self.events.draft().open_round().0.trim().is_empty()
    }

    pub(super) fn say_fallback(&self) {
        let delta = fallback::answer(&self.turn.text, &self.events.draft().sources);
        self.events.send(Event::Text { delta });
    }
}
