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
    /// Whether the last of these is the one that writes now.
    noted: bool,
}

impl Writers {
    /// Takes note of the next event of the turn.
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

    /// Who wrote, in their order.
    pub fn wrote(&self) -> &[String] {
        &self.wrote
    }

    /// Who wrote, unless it was the first model alone or nobody.
    pub fn unexpected(&self) -> &[String] {
        if self.wrote.iter().all(|model| *model == self.first) { &[] } else { &self.wrote }
    }
}
