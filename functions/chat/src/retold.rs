//! A turn told from its stored answer: the same words, in fewer frames.

use conversation::{ErrorCode, Event, Failure, FinishReason, Source, ToolCall, ToolReport, Usage, Writers};
use store::{StoredCall, StoredTurn, TurnEnd};

/// What a reader was told of a turn so far.
#[derive(Default)]
pub(crate) struct Said {
    content: String,
    thinking: String,
    calls: Vec<String>,
    results: Vec<String>,
    sources: Vec<Source>,
    writers: Writers,
    /// How many frames it was.
    pub(crate) frames: u64,
}

impl Said {
    /// Takes note of the next event of the turn.
    pub(crate) fn note(&mut self, event: &Event) {
        self.writers.note(event);
        self.frames += u64::from(protocols::has_frame(event));
        match event {
            Event::Text { delta } => self.content.push_str(delta),
            Event::Thinking { delta } => self.thinking.push_str(delta),
            Event::ToolCall(call) => self.calls.push(call.id.clone()),
            Event::ToolResult(report) => {
                self.results.push(report.id.clone());
                Source::join(&mut self.sources, &report.sources);
            }
            _ => {}
        }
    }

    /// The rest of a turn that has ended; `None` when what is stored does not go on from what was said.
    pub(crate) fn rest(&self, turn: StoredTurn) -> Option<Vec<Event>> {
        let StoredTurn { message, tally } = turn;
        let Some(tally) = tally else { return Some(cut(ErrorCode::Interrupted.into())) };
        let (thinking, content) =
            (message.thinking.strip_prefix(&self.thinking)?, message.content.strip_prefix(&self.content)?);
        let mut events = Vec::new();
        if !thinking.is_empty() {
            events.push(Event::Thinking { delta: thinking.to_owned() });
        }
        let mut sources = message.sources;
        sources.retain(|source| !self.sources.iter().any(|known| known.url == source.url));
        for call in message.tool_calls {
            events.extend(self.call(call, &mut sources));
        }
        let writers = message.models.get(self.writers.wrote().len()..).unwrap_or_default();
        events.extend(words(content, writers));
        events.push(Event::Usage(tally.usage));
        events.push(match tally.end {
            TurnEnd::Done(finish_reason) => Event::Done { finish_reason },
            TurnEnd::Failed(code) => Event::Failed(code.into()),
        });
        Some(events)
    }

    /// What was not yet said of a call. Which pages came from which call is not kept: the first result has them all.
    fn call(&self, call: StoredCall, sources: &mut Vec<Source>) -> Vec<Event> {
        let StoredCall { id, name, arguments, ok, summary } = call;
        let mut events = Vec::new();
        if !self.calls.contains(&id) {
            events.push(Event::ToolCall(ToolCall { id: id.clone(), name: name.clone(), arguments }));
        }
        if !self.results.contains(&id) {
            let error =
                (!ok).then(|| conversation::ToolFailure { code: "failed".to_owned(), message: summary.clone() });
            let sources = std::mem::take(sources);
            let report = ToolReport { id, name, ok, cached: true, duration_ms: 0, summary, sources, error };
            events.push(Event::ToolResult(report));
        }
        events
    }
}

/// The end of a turn that broke off.
pub(crate) fn cut(failure: Failure) -> Vec<Event> {
    vec![Event::Usage(Usage::default()), Event::Failed(failure)]
}

/// The end of a turn whose conversation is gone.
pub(crate) fn gone() -> Vec<Event> {
    vec![Event::Usage(Usage::default()), Event::Done { finish_reason: FinishReason::Stopped }]
}

/// The words of the models that wrote them. Where one took over from another is not kept: each but the last gets a
/// character.
fn words(content: &str, models: &[String]) -> Vec<Event> {
    let (mut events, mut rest) = (Vec::new(), content);
    for (place, model) in models.iter().enumerate() {
        if place > 0 {
            let (one, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            events.push(Event::Text { delta: one.to_owned() });
            rest = others;
        }
        events.push(Event::Handover { model: model.clone() });
    }
    events.extend((!rest.is_empty()).then(|| Event::Text { delta: rest.to_owned() }));
    events
}
