//! Rebuilds the events that a client lacks from the stored answer: the same content, in fewer frames.

use domain::{ErrorCode, Event, Failure, FinishReason, Source, ToolCall, ToolOutcome, TurnAccumulator};
use store::{StoredCall, StoredTurn, TurnEnd, TurnOutcome};

/// What a client was sent of a turn so far.
#[derive(Default)]
pub(crate) struct Delivered {
    turn: TurnAccumulator,
    /// The number of frames.
    pub(crate) frames: u64,
}

impl Delivered {
    /// Records the next event of the turn.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.frames += u64::from(client_protocols::has_frame(event));
        self.turn.apply(event);
    }

    /// The remaining events of a turn that has ended or died; `None` if the stored answer does not continue what was sent.
    pub(crate) fn remaining(&self, turn: StoredTurn) -> Option<Vec<Event>> {
        let StoredTurn { message, outcome } = turn;
        let (thinking, content) =
            (message.thinking.strip_prefix(&self.turn.thinking)?, message.content.strip_prefix(&self.turn.content)?);
        let mut events = Vec::new();
        if !thinking.is_empty() {
            events.push(Event::Thinking { delta: thinking.to_owned() });
        }
        let mut sources = message.sources;
        sources.retain(|source| !self.turn.sources.iter().any(|known| known.url == source.url));
        for call in message.tool_calls {
            events.extend(self.call_events(call, &mut sources));
        }
        events.extend(sources.into_iter().map(|source| Event::EarlierSource(Box::new(source))));
        let models = message.models.get(self.turn.attribution.models().len()..).unwrap_or_default();
        events.extend(text_events(content, models));
        events.extend(match outcome {
            Some(outcome) => vec![Event::Usage(Box::new(outcome.usage)), terminal_event(&outcome)],
            None => interrupted_end(ErrorCode::Interrupted.into()),
        });
        Some(events)
    }

    /// The events of a call that were not sent yet. Which pages came from which call is not stored: the first result gets all.
    fn call_events(&self, call: StoredCall, sources: &mut Vec<Source>) -> Vec<Event> {
        let StoredCall { id, name, arguments, ok, summary, error, .. } = call;
        let mut events = Vec::new();
        let known = self.turn.call(&id);
        if known.is_none() {
            events.push(Event::ToolCall(Box::new(ToolCall { id: id.clone(), name: name.clone(), arguments })));
        }
        if known.is_none_or(|known| known.outcome.is_none()) {
            let unknown = || domain::ToolFailure { code: "failed".to_owned(), message: summary.clone() };
            let error = (!ok).then(|| error.unwrap_or_else(unknown));
            let sources = std::mem::take(sources);
            let report = ToolOutcome { id, name, ok, cached: true, duration_ms: 0, summary, sources, error };
            events.push(Event::ToolResult(Box::new(report)));
        }
        events
    }
}

/// The last event of a finished turn.
pub(super) fn terminal_event(outcome: &TurnOutcome) -> Event {
    match outcome.end {
        TurnEnd::Done(finish_reason) => Event::Done { finish_reason },
        TurnEnd::Failed(code) => Event::Failed(Box::new(outcome.failure().unwrap_or_else(|| code.into()))),
    }
}

/// The end of an interrupted turn.
pub(crate) fn interrupted_end(failure: Failure) -> Vec<Event> {
    vec![Event::Usage(Box::default()), Event::Failed(Box::new(failure))]
}

/// The end of a turn whose conversation is deleted.
pub(crate) fn deleted_end() -> Vec<Event> {
    vec![Event::Usage(Box::default()), Event::Done { finish_reason: FinishReason::Stopped }]
}

/// The text, attributed to the models that wrote it. Where one model took over is not stored: each model but the last gets
/// one character.
fn text_events(content: &str, models: &[String]) -> Vec<Event> {
    let (mut events, mut rest) = (Vec::new(), content);
    for (index, model) in models.iter().enumerate() {
        if index > 0 {
            let (first, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            events.push(Event::Text { delta: first.to_owned() });
            rest = others;
        }
        events.push(Event::ModelSwitched { model: model.clone() });
    }
    events.extend((!rest.is_empty()).then(|| Event::Text { delta: rest.to_owned() }));
    events
}

#[cfg(test)]
mod tests {
    use domain::{ModelAttribution, TurnStart, Usage};
    use serde_json::json;
    use store::{Role, Status, StoredMessage};

    use super::*;

    fn text(delta: &str) -> Event {
        Event::Text { delta: delta.to_owned() }
    }

    fn call(id: &str) -> Event {
        Event::ToolCall(Box::new(ToolCall { id: id.to_owned(), name: "search_web".to_owned(), arguments: json!({}) }))
    }

    fn turn(content: &str, tally: Option<TurnOutcome>) -> StoredTurn {
        let call = |id: &str| StoredCall {
            id: id.to_owned(),
            name: "search_web".to_owned(),
            arguments: json!({}),
            ok: true,
            summary: "1 result".to_owned(),
            position: None,
            duration_ms: None,
            cached: false,
            error: None,
        };
        let message = StoredMessage {
            id: "M".to_owned(),
            role: Role::Assistant,
            content: content.to_owned(),
            thinking: "想".to_owned(),
            thinking_ms: None,
            usage: None,
            model: "first".to_owned(),
            tool_calls: vec![call("a"), call("b")],
            sources: Vec::new(),
            models: vec!["first".to_owned(), "second".to_owned()],
            status: Status::Complete,
            finish_reason: None,
            error: None,
            created_at: String::new(),
        };
        StoredTurn { message, outcome: tally }
    }

    fn ended() -> TurnOutcome {
        let end = TurnEnd::Done(FinishReason::Stop);
        TurnOutcome { usage: Usage::default(), end, models: Vec::new(), thinking_ms: None, error_message: None }
    }

    /// What a client has read once the rest has arrived.
    fn total(sent: &[Event], rest: &[Event]) -> (String, String, usize, usize) {
        let all = || sent.iter().chain(rest);
        let text =
            all().filter_map(|event| if let Event::Text { delta } = event { Some(delta.as_str()) } else { None });
        let thinking =
            all().filter_map(|event| if let Event::Thinking { delta } = event { Some(delta.as_str()) } else { None });
        let calls = all().filter(|event| matches!(event, Event::ToolCall(_))).count();
        let results = all().filter(|event| matches!(event, Event::ToolResult(_))).count();
        (text.collect(), thinking.collect(), calls, results)
    }

    #[test]
    fn rest_completes_a_turn_cut_anywhere() {
        let started = Event::Started(Box::new(TurnStart {
            conversation_id: "C".into(),
            message_id: "M".into(),
            model: "first".into(),
        }));
        let over = Event::ModelSwitched { model: "second".into() };
        let sent =
            [started, Event::Thinking { delta: "想".into() }, text("一"), call("a"), over, text("二"), call("b")];
        for cut in 0..=sent.len() {
            let mut delivered = Delivered::default();
            sent[..cut].iter().for_each(|event| delivered.apply(event));
            let rest = delivered.remaining(turn("一二三", Some(ended()))).unwrap();
            assert_eq!(total(&sent[..cut], &rest), ("一二三".to_owned(), "想".to_owned(), 2, 2), "{cut}");
            let end = &rest[rest.len() - 2..];
            assert_eq!(end, [Event::Usage(Box::default()), Event::Done { finish_reason: FinishReason::Stop }]);
            let mut writers = ModelAttribution::default();
            sent[..cut].iter().chain(&rest).for_each(|event| writers.record(event));
            assert!(cut == 0 || writers.models().last().is_some_and(|last| last == "second"), "{cut}");
        }
    }

    #[test]
    fn other_answer_is_not_appended() {
        let mut delivered = Delivered::default();
        delivered.apply(&text("一"));
        for outcome in [Some(ended()), None] {
            assert_eq!(delivered.remaining(turn("别的", outcome)), None);
        }
    }

    #[test]
    fn crash_interrupts_after_the_recovered_text() {
        let mut delivered = Delivered::default();
        delivered.apply(&text("一"));
        let rest = delivered.remaining(turn("一二", None)).unwrap();
        assert_eq!(total(&[text("一")], &rest), ("一二".to_owned(), "想".to_owned(), 2, 2));
        assert_eq!(rest[rest.len() - 2..], interrupted_end(ErrorCode::Interrupted.into()));
    }
}
