//! Which model is asked when one fails, and what is told when all did.

use std::cmp::Reverse;
use std::time::SystemTime;

use domain::{ErrorCode, Event, Failure, Message};
use llm::ModelClient;

use super::Run;
use crate::prompt;

/// The place of the model to ask: the first that is worth asking, else the first.
pub(super) fn choose(models: &[ModelClient]) -> usize {
    let now = SystemTime::now();
    models.iter().position(|model| model.is_available(now)).unwrap_or_default()
}

impl Run<'_> {
    /// Has the next model of the chain go on from what was said so far, or ends the turn.
    pub(super) async fn hand_over(&mut self, failure: Failure) -> Result<(), Failure> {
        let told = match self.failure.take() {
            Some(before) => more_useful(before, failure),
            None => failure,
        };
        let rest = self.turn.models.get(self.at + 1..).unwrap_or_default();
        if rest.is_empty() {
            return Err(told);
        }
        self.failure = Some(told);
        self.ask_from(self.at + 1 + choose(rest)).await;
        Ok(())
    }

    /// Asks the model at this place from here on.
    pub(super) async fn ask_from(&mut self, at: usize) {
        self.at = at;
        self.path = self.turn.paths.path(self.model()).await;
        // The next model has a window of its own, and may find less to be too much.
        (self.most, self.trimmed) = (None, false);
        self.remember().await;
        let model = self.model().config().name.clone();
        tracing::warn!(%model, "another model is asked");
        self.events.send(Event::ModelSwitched { model });
    }

    /// What was shown of the reply that is being written; a model that goes on from there has to know it.
    pub(super) fn said(&self) -> String {
        self.events.draft().content[self.spoken..].to_owned()
    }

    /// The running turn's messages for the next prompt; `said` was said in answer to them by a model that could not go on.
    pub(super) fn asked_to_go_on(&self, said: &str) -> Vec<Message> {
        let mut messages = self.messages.clone();
        if !said.trim().is_empty() {
            messages.push(Message::Assistant { text: said.to_owned(), thinking: String::new(), calls: Vec::new() });
            messages.push(prompt::go_on());
        }
        messages
    }
}

/// The one that helps its reader more: what passes before what does not, the shorter wait, else the earlier one.
fn more_useful(before: Failure, now: Failure) -> Failure {
    let limited = |failure: &Failure| failure.code == ErrorCode::RateLimited;
    let better = if limited(&before) && limited(&now) {
        // A wait that is known is of more use than none.
        now.retry_after_seconds.map(Reverse) > before.retry_after_seconds.map(Reverse)
    } else {
        now.code.is_retryable() && !before.code.is_retryable()
    };
    if better { now } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_and_the_shortest_wait() {
        let wait = |seconds| Failure::from(ErrorCode::RateLimited).with_retry_after(seconds);
        let of = Failure::from;
        let cases = [
            (of(ErrorCode::UpstreamUnavailable), of(ErrorCode::UpstreamStalled), 0),
            (of(ErrorCode::UpstreamUnavailable), of(ErrorCode::UpstreamAuth), 0),
            (of(ErrorCode::UpstreamAuth), of(ErrorCode::UpstreamUnavailable), 1),
            (of(ErrorCode::UpstreamAuth), of(ErrorCode::QuotaExhausted), 0),
            (wait(5), wait(30), 0),
            (wait(30), wait(5), 1),
            (of(ErrorCode::RateLimited), wait(5), 1),
            (wait(5), of(ErrorCode::RateLimited), 0),
            (of(ErrorCode::UpstreamStalled), wait(5), 0),
        ];
        for (before, now, told) in cases {
            let expected = [&before, &now][told].clone();
            assert_eq!(more_useful(before, now), expected);
        }
    }
}
