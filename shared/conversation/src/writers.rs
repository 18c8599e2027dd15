use crate::Event;

/// The models that write an answer, as its events tell.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    /// The one that was asked first.
    first: String,
    /// The one that writes now.
    now: String,
    /// Those that wrote something, in their order.
    wrote: Vec<String>,
}

impl Writers {
    /// Takes note of the next event of the turn.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Started { model, .. } => (self.first, self.now) = (model.clone(), model.clone()),
            Event::Handover { model } => self.now.clone_from(model),
            Event::Text { .. } | Event::Thinking { .. } | Event::ToolCall(_)
                if self.wrote.last() != Some(&self.now) =>
            {
                self.wrote.push(self.now.clone());
            }
            _ => {}
        }
    }

    /// Who wrote, in their order.
    pub fn wrote(&self) -> &[String] {
        &self.wrote
    }

    /// Who wrote, unless it was the first model alone or nobody.
    pub fn unexpected(&self) -> &[String] {
        if self.wrote.iter().all(|model| *model == self.first) { &[] } else { &self.wrote }
    }
}
