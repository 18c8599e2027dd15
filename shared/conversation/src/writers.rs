use crate::Event;

/// Tracks from a turn's events which models wrote its answer.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    /// The model that started the turn.
    first: String,
    /// The model that writes now.
    now: String,
    /// The models that wrote something, in order.
    wrote: Vec<String>,
    /// Whether the last entry of `models` is the current model.
    noted: bool,
}

impl Writers {
    /// Records the next event of the turn.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                self.first.clone_from(&started.model);
                self.writes(&started.model);
            }
            Event::Handover { model } => self.writes(model),
            Event::Text { .. } | Event::Thinking { .. } | Event::ToolCall(_) if !self.noted => {
                self.wrote.push(self.now.clone());
                self.noted = true;
            }
            _ => {}
        }
    }

    fn writes(&mut self, model: &str) {
        model.clone_into(&mut self.now);
        self.noted = self.wrote.last() == Some(&self.now);
    }

    /// The models that wrote something, in order.
    pub fn wrote(&self) -> &[String] {
        &self.wrote
    }

    /// The models that wrote something; empty if only the first model did, or none.
    pub fn unexpected(&self) -> &[String] {
        if self.wrote.iter().all(|model| *model == self.first) { &[] } else { &self.wrote }
    }
}
