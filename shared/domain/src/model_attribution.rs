use crate::{AnswerDelta, Event, Note, ToolEvent};

/// Tracks from a turn's events which models wrote its answer.
///
/// A part of [`TurnAccumulator`](crate::TurnAccumulator), and used alone by streams that keep no text.
#[derive(Clone, Debug, Default)]
pub struct ModelAttribution {
    /// The model that started the turn.
    first: String,
    /// The model that writes now.
    current: String,
    /// The models that wrote something, in order.
    models: Vec<String>,
    /// Whether the last entry of `models` is the current model.
    current_is_recorded: bool,
}

impl ModelAttribution {
    /// Records the next event of the turn.
    pub fn record(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                self.first.clone_from(&started.model);
                self.set_current(&started.model);
            }
            Event::Note(Note::ModelSwitched(model)) => self.set_current(model),
            Event::Delta(AnswerDelta::Text(_) | AnswerDelta::Thinking(_)) | Event::Tool(ToolEvent::Call(_)) => {
                self.record_current();
            }
            Event::Delta(AnswerDelta::Reclassified(_))
            | Event::Tool(ToolEvent::Progress(_) | ToolEvent::Result(_) | ToolEvent::ClientCall(_))
            | Event::Note(Note::EarlierSource(_) | Note::Title(_) | Note::Usage(_))
            | Event::End(_) => {}
        }
    }

    fn record_current(&mut self) {
        if !self.current_is_recorded {
            self.models.push(self.current.clone());
            self.current_is_recorded = true;
        }
    }

    fn set_current(&mut self, model: &str) {
        model.clone_into(&mut self.current);
        self.current_is_recorded = self.models.last() == Some(&self.current);
    }

    /// The models that wrote something, in order.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// The models that wrote something; empty if only the first model did, or none.
    pub fn after_failover(&self) -> &[String] {
        if self.models.iter().all(|model| *model == self.first) { &[] } else { &self.models }
    }
}
