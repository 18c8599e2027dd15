use conversation::{ErrorCode, Event, Failure, FinishReason, Message};
use model::{ModelError, ToolPath};

use super::Run;
use crate::failure::Broken;
use crate::fallback;

impl Run<'_> {
    /// What follows a reply that broke off: another try by text or with less history, an answer from what there is, or the error.
    pub(super) fn broken(&mut self, broken: &Broken) -> Result<Option<FinishReason>, Failure> {
        match broken {
            Broken::ToolsRefused if self.is_native() => {
                self.path = ToolPath::Text;
                Ok(None)
            }
            Broken::Model(ModelError::ContextTooLong) if !self.trimmed && self.trim() => Ok(None),
            Broken::Model(ModelError::Deadline) => self.out_of_time().map(Some),
            other => Err(other.failure()),
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

    /// Drops the older half of the history at the border of a turn; false when there is none to drop.
    fn trim(&mut self) -> bool {
        self.trimmed = true;
        let half = self.history.div_ceil(2);
        let border = (half..=self.history).find(|at| matches!(self.messages[*at], Message::User { .. }));
        let Some(border) = border.filter(|border| *border > 0) else { return false };
        self.messages.drain(..border);
        self.history -= border;
        true
    }

    pub(super) fn said_nothing(&self) -> bool {
        self.events.draft().open_round().0.trim().is_empty()
    }

    pub(super) fn say_fallback(&self) {
        let delta = fallback::answer(&self.turn.text, &self.events.draft().sources);
        self.events.send(Event::Text { delta });
    }
}
