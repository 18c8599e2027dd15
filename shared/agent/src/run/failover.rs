//! Which model is called after one failed, and which failure is returned after all failed.

use std::cmp::Reverse;
use std::time::SystemTime;

use domain::{Attachment, AttachmentKind, ErrorCode, Event, Failure, Message, Note};
use llm::ModelClient;

use super::Run;
use crate::prompt;

/// The index of the first available model that is not known to refuse a picture of the question, else of the first that is
/// not, else of the first available one, else 0.
pub(super) fn first_able(models: &[ModelClient], question: &[Attachment]) -> usize {
    let now = SystemTime::now();
    let able = |model: &&ModelClient| takes_pictures(model, question, now);
    let position = |is_wanted: &dyn Fn(&&ModelClient) -> bool| models.iter().position(|model| is_wanted(&model));
    position(&|model| able(model) && model.is_available(now))
        .or_else(|| position(&able))
        .or_else(|| position(&|model| model.is_available(now)))
        .unwrap_or_default()
}

/// Whether a model is not known to refuse a picture of the question.
fn takes_pictures(model: &ModelClient, question: &[Attachment], now: SystemTime) -> bool {
    let mut pictures = question.iter().filter(|file| file.kind == AttachmentKind::Image);
    pictures.all(|file| model.takes_images(now) != Some(false) && model.takes_picture(&file.media_type, file.bytes))
}

impl Run<'_> {
    /// Switches to the next model, which continues from the partial answer.
    ///
    /// # Errors
    /// There is no other model. The result is the more useful failure of all (`more_useful`).
    pub(super) async fn fail_over(&mut self, failure: Failure) -> Result<(), Failure> {
        let failure = match self.failure.take() {
            Some(before) => more_useful(before, failure),
            None => failure,
        };
        let rest = self.turn.models.get(self.model_index + 1..).unwrap_or_default();
        let (now, question) = (SystemTime::now(), &self.turn.attachments);
        let needs_pictures = failure.code == ErrorCode::ImagesUnsupported;
        if rest.is_empty() || needs_pictures && !rest.iter().any(|model| takes_pictures(model, question, now)) {
            return Err(failure);
        }
        let index = self.model_index + 1 + first_able(rest, question);
        self.failure = Some(failure);
        self.switch_model(index).await;
        Ok(())
    }

    pub(super) async fn switch_model(&mut self, index: usize) {
        self.model_index = index;
        self.tool_mode = self.turn.tool_modes.tool_mode(self.model()).await;
        self.invalid_rounds = 0;
        // The next model has its own context window, and may reject a shorter prompt.
        (self.max_prompt_tokens, self.has_trimmed) = (None, false);
        self.select_history().await;
        let model = self.model().config().name.clone();
        tracing::warn!(%model, "the turn continues with another model");
        self.events.send(Event::Note(Note::ModelSwitched(model.into())));
    }

    /// The text of the reply that is being written. A model that continues it must know it.
    pub(super) fn partial_text(&self) -> String {
        // Line breaks between two rounds serve clients, which read both as one answer.
        self.events.turn_state().answer.content[self.text_in_messages..].trim_start_matches('\n').to_owned()
    }

    /// The messages of this turn for the next prompt; `partial_text` is the interrupted answer to them.
    pub(super) fn messages_to_continue(&self, partial_text: &str) -> Vec<Message> {
        let mut messages = self.messages.clone();
        if !partial_text.trim().is_empty() {
            let (text, thinking, calls) = (partial_text.to_owned(), String::new(), Vec::new());
            messages.push(Message::Assistant { text, thinking, calls, provider_data: None });
            messages.push(prompt::continuation(self.texts));
        }
        messages
    }
}

/// The failure that is more useful to the client: a retryable one, the shorter retry delay, else the earlier one.
fn more_useful(before: Failure, now: Failure) -> Failure {
    let is_rate_limit = |failure: &Failure| failure.code == ErrorCode::RateLimited;
    let is_better = if is_rate_limit(&before) && is_rate_limit(&now) {
        // A known delay is more useful than an unknown one.
        now.retry_after_seconds.map(Reverse) > before.retry_after_seconds.map(Reverse)
    } else {
        now.code.is_retryable() && !before.code.is_retryable()
    };
    if is_better { now } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retryable_failure_with_shortest_delay_is_returned() {
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
        for (before, now, index) in cases {
            let expected = [&before, &now][index].clone();
            assert_eq!(more_useful(before, now), expected);
        }
    }
}
