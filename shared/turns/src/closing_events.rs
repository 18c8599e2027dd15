use agent::{CallRecord, EventLog};
use domain::{Event, Failure, FinishReason, Note, ToolEvent, ToolFailure, ToolOutcome};

/// The events that end a turn: the results of calls that it did not wait for, the title, the usage and the outcome.
pub(crate) fn closing_events(
    events: &EventLog,
    title: Option<String>,
    outcome: Result<FinishReason, Failure>,
) -> Vec<Event> {
    let state = events.turn_state();
    let unfinished = state.calls().filter(|record| record.outcome.is_none()).map(unfinished_result);
    let title = title.map(|title| Event::Note(Note::Title(title.into())));
    let usage = Event::Note(Note::Usage(Box::new(state.usage())));
    unfinished.chain(title).chain([usage, Event::End(outcome.map_err(Box::new))]).collect()
}

fn unfinished_result(record: CallRecord<'_>) -> Event {
    let (code, message) = ("failed".to_owned(), "The turn ended before this call.".to_owned());
    Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
        id: record.call.id.clone(),
        name: record.call.name.clone(),
        ok: false,
        cached: false,
        duration_ms: u64::try_from(record.called_at.elapsed().as_millis()).unwrap_or(u64::MAX),
        summary: "not finished".to_owned(),
        sources: Vec::new(),
        error: Some(ToolFailure { code, message }),
    })))
}
