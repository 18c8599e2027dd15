use llm::{Finish, ModelError};
use tools::ToolRun;

use super::ReplyState;
use super::text::log_dropped;
use crate::round::{Round, RoundError};

impl ReplyState {
    /// The outcome of a reply that was not read to its end.
    pub(in crate::reply) fn give_up(&mut self, results: Vec<ToolRun>) -> RoundError {
        let round = Round { finish: Finish::Stop, usage: None, ..self.take_round(results) };
        RoundError::GaveUp((!round.calls.is_empty()).then(|| Box::new(round)))
    }

    /// The outcome of a reply that was read to its end, or to `error`.
    pub(in crate::reply) fn close(
        &mut self,
        results: Vec<ToolRun>,
        error: Option<ModelError>,
        has_fallback: bool,
    ) -> Result<Round, RoundError> {
        if self.is_over && self.finish.is_none() {
            // The rest was not read, and with it the provider's token counts.
            (self.finish, self.usage) = (Some(Finish::Stop), None);
        }
        // Every wire format ends a reply with a finish or an error; without either, the connection was lost.
        let error = error.or(self.finish.is_none().then_some(ModelError::Disconnected));
        if error.is_some() {
            self.show_possible_reasoning();
        }
        let round = self.take_round(results);
        match error {
            None => Ok(round),
            // Usage that was counted before the end is incomplete.
            Some(error) if has_fallback && !round.calls.is_empty() => {
                Err(RoundError::AfterCalls(Box::new(Round { usage: None, ..round }), error))
            }
            Some(error) => Err(RoundError::Model(error)),
        }
    }

    /// Takes the round out of the state.
    fn take_round(&mut self, results: Vec<ToolRun>) -> Round {
        if !self.calls.is_empty() {
            // The other calls of the reply have run: it is not repeated for a malformed one.
            self.correction.iter().for_each(log_dropped);
        }
        Round {
            calls: std::mem::take(&mut self.calls),
            results,
            client_calls: std::mem::take(&mut self.client_calls),
            correction: self.correction.take(),
            finish: self.finish.unwrap_or(Finish::Stop),
            usage: self.usage.take(),
            provider_data: Some(Box::new(std::mem::take(&mut self.provider_data))),
        }
    }
}
