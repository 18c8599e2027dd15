//! A turn told from its stored answer: the same words, in fewer frames.

use conversation::{ErrorCode, Event, Failure, FinishReason, Source, ToolCall, ToolReport, Writers};
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
        events.push(Event::Usage(Box::new(tally.usage)));
        events.push(match tally.end {
            TurnEnd::Done(finish_reason) => Event::Done { finish_reason },
            TurnEnd::Failed(code) => Event::Failed(Box::new(code.into())),
        });
        Some(events)
    }

    /// What was not yet said of a call. Which pages came from which call is not kept: the first result has them all.
    fn call(&self, call: StoredCall, sources: &mut Vec<Source>) -> Vec<Event> {
        let StoredCall { id, name, arguments, ok, summary } = call;
        let mut events = Vec::new();
        if !self.calls.contains(&id) {
            events.push(Event::ToolCall(Box::new(ToolCall { id: id.clone(), name: name.clone(), arguments })));
        }
        if !self.results.contains(&id) {
            let error =
                (!ok).then(|| conversation::ToolFailure { code: "failed".to_owned(), message: summary.clone() });
            let sources = std::mem::take(sources);
            let report = ToolReport { id, name, ok, cached: true, duration_ms: 0, summary, sources, error };
            events.push(Event::ToolResult(Box::new(report)));
        }
        events
    }
}

/// The end of a turn that broke off.
pub(crate) fn cut(failure: Failure) -> Vec<Event> {
    vec![Event::Usage(Box::default()), Event::Failed(Box::new(failure))]
}

/// The end of a turn whose conversation is gone.
pub(crate) fn gone() -> Vec<Event> {
    vec![Event::Usage(Box::default()), Event::Done { finish_reason: FinishReason::Stopped }]
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

#[cfg(test)]
mod tests {
    use conversation::{Started, Usage};
    use serde_json::json;
    use store::{Role, Status, StoredMessage, Tally};

    use super::*;

    fn text(delta: &str) -> Event {
        Event::Text { delta: delta.to_owned() }
    }

    fn call(id: &str) -> Event {
        Event::ToolCall(Box::new(ToolCall { id: id.to_owned(), name: "search_web".to_owned(), arguments: json!({}) }))
    }

    fn turn(content: &str, tally: Option<Tally>) -> StoredTurn {
        let call = |id: &str| StoredCall {
            id: id.to_owned(),
            name: "search_web".to_owned(),
            arguments: json!({}),
            ok: true,
            summary: "1 result".to_owned(),
        };
        let message = StoredMessage {
            id: "M".to_owned(),
            role: Role::Assistant,
            content: content.to_owned(),
            thinking: "想".to_owned(),
            model: "first".to_owned(),
            tool_calls: vec![call("a"), call("b")],
            sources: Vec::new(),
            models: vec!["first".to_owned(), "second".to_owned()],
            status: Status::Complete,
            finish_reason: None,
            created_at: String::new(),
        };
        StoredTurn { message, tally }
    }

    fn ended() -> Tally {
        let end = TurnEnd::Done(FinishReason::Stop);
        Tally { usage: Usage::default(), end, models: Vec::new() }
    }

    /// Every event that a turn may have been told by, and how what is said of it reads as a whole.
    fn whole(said: &[Event], rest: &[Event]) -> (String, String, usize, usize) {
        let all = || said.iter().chain(rest);
        let text =
            all().filter_map(|event| if let Event::Text { delta } = event { Some(delta.as_str()) } else { None });
        let thinking =
            all().filter_map(|event| if let Event::Thinking { delta } = event { Some(delta.as_str()) } else { None });
        let calls = all().filter(|event| matches!(event, Event::ToolCall(_))).count();
        let results = all().filter(|event| matches!(event, Event::ToolResult(_))).count();
        (text.collect(), thinking.collect(), calls, results)
    }

    #[test]
    fn wherever_a_turn_broke_off_the_rest_completes_it_and_repeats_nothing() {
        let started = Event::Started(Box::new(Started {
            conversation_id: "C".into(),
            message_id: "M".into(),
            model: "first".into(),
        }));
        let over = Event::Handover { model: "second".into() };
        let told =
            [started, Event::Thinking { delta: "想".into() }, text("一"), call("a"), over, text("二"), call("b")];
        for broken in 0..=told.len() {
            let mut said = Said::default();
            told[..broken].iter().for_each(|event| said.note(event));
            let rest = said.rest(turn("一二三", Some(ended()))).unwrap();
            assert_eq!(whole(&told[..broken], &rest), ("一二三".to_owned(), "想".to_owned(), 2, 2), "{broken}");
            let end = &rest[rest.len() - 2..];
            assert_eq!(end, [Event::Usage(Box::default()), Event::Done { finish_reason: FinishReason::Stop }]);
            let mut writers = Writers::default();
            told[..broken].iter().chain(&rest).for_each(|event| writers.note(event));
            assert!(broken == 0 || writers.wrote().last().is_some_and(|last| last == "second"), "{broken}");
        }
    }

    #[test]
    fn what_does_not_go_on_from_what_was_said_is_not_told_and_a_dead_turn_is_interrupted() {
        let mut said = Said::default();
        said.note(&text("一"));
        assert_eq!(said.rest(turn("别的", Some(ended()))), None);
        assert_eq!(said.rest(turn("", None)), Some(cut(ErrorCode::Interrupted.into())));
    }
}
