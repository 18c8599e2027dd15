//! Rebuilds the events that a log lacks from the stored answer: the same content, in fewer pieces.

use domain::{
    AnswerDelta, ErrorCode, Event, Failure, FinishReason, Note, Source, ToolEvent, ToolFailure, ToolOutcome,
    TurnAccumulator, TurnStart, text_pieces,
};
use store::{Status, StoredCall, StoredMessage, StoredTurn, TurnEnd, TurnOutcome};

/// Maximum length of a delta, in bytes. Some protocols have an event for each four characters, sixty times that size.
const MAX_DELTA_BYTES: usize = 2 * 1024;

/// The events of a turn that has ended or died after those that the log holds; `None` if the answer does not continue these.
///
/// The answer holds neither when a result arrived nor which pages it found: each follows its call, and the first one has all
/// pages.
pub(super) fn remaining(logged: &TurnAccumulator, turn: StoredTurn) -> Option<Vec<Event>> {
    let StoredTurn { message, outcome, title, .. } = turn;
    if outcome.as_ref().is_some_and(|outcome| outcome.reclassified != logged.reclassified) {
        return None;
    }
    let models = message.models.get(logged.attribution.models().len()..).unwrap_or_default();
    let mut rest = Rest {
        events: Vec::new(),
        thinking: Remaining::after(&logged.thinking, &message.thinking)?,
        content: Remaining::after(&logged.content, &message.content)?,
        models: models.iter(),
    };
    let mut sources = message.sources;
    sources.retain(|source| !logged.sources.iter().any(|known| known.url == source.url));
    rest.switch_model();
    let (client_calls, calls): (Vec<_>, Vec<_>) = message.tool_calls.into_iter().partition(|call| call.client);
    for call in calls {
        let known = logged.call(&call.id);
        let position = call.position.unwrap_or_default();
        // The turns of earlier releases have no positions: their calls follow the reasoning.
        rest.push_texts(call.position.map_or(usize::MAX, |_| position.thinking), position.text);
        if known.is_none() {
            rest.events.push(Event::Tool(ToolEvent::Call(Box::new(call.call()))));
        }
        if known.is_none_or(|known| known.outcome.is_none()) {
            rest.events
                .push(Event::Tool(ToolEvent::Result(Box::new(tool_outcome(call, std::mem::take(&mut sources))))));
        }
    }
    rest.events.extend(sources.into_iter().map(|source| Event::Note(Note::EarlierSource(Box::new(source)))));
    rest.push_texts(usize::MAX, usize::MAX);
    let mut events = rest.events;
    let known_calls = logged.client_tool_calls.len();
    let client_calls = client_calls.iter().skip(known_calls).map(|call| ToolEvent::ClientCall(Box::new(call.call())));
    events.extend(client_calls.map(Event::Tool));
    match outcome {
        Some(outcome) => {
            events.extend(title.map(|title| Event::Note(Note::Title(title.into()))));
            events.extend([Event::Note(Note::Usage(Box::new(outcome.usage))), terminal_event(&outcome)]);
        }
        None => events.extend(interrupted_end(ErrorCode::Interrupted.into())),
    }
    Some(events)
}

/// The events of a whole answer that has ended, also of one that several turns have written.
pub fn events_of_answer(conversation_id: &str, message: StoredMessage) -> Vec<Event> {
    let start = TurnStart {
        conversation_id: conversation_id.to_owned(),
        message_id: message.id.clone(),
        model: message.model.clone(),
        continues: false,
    };
    let end = match (message.status, &message.error) {
        (_, Some(error)) => Some(TurnEnd::Failed(error.code)),
        (Status::Complete, None) => Some(TurnEnd::Done(message.finish_reason.unwrap_or(FinishReason::Stop))),
        _ => None,
    };
    let outcome = end.map(|end| TurnOutcome {
        usage: message.usage.unwrap_or_default(),
        end,
        models: Vec::new(),
        thinking_ms: None,
        error_message: message.error.as_ref().map(|error| error.message.clone()),
        reclassified: 0,
    });
    let turn = StoredTurn { message, before: Default::default(), outcome, continues: false, title: None };
    let mut events = vec![Event::Started(Box::new(start))];
    events.extend(remaining(&TurnAccumulator::default(), turn).unwrap_or_default());
    events
}

/// The events that are rebuilt so far, and the texts that no event holds yet.
struct Rest<'a> {
    events: Vec<Event>,
    thinking: Remaining<'a>,
    content: Remaining<'a>,
    /// The models that wrote it. Where one took over is not stored: each but the last gets one character.
    models: std::slice::Iter<'a, String>,
}

impl Rest<'_> {
    /// Adds the reasoning and then the text up to these lengths, in characters.
    fn push_texts(&mut self, thinking: usize, content: usize) {
        let delta = pieces(self.thinking.take_to(thinking));
        self.events.extend(delta.map(|piece| Event::Delta(AnswerDelta::Thinking(piece))));
        let mut delta = self.content.take_to(content);
        while let (Some(first), false) = (delta.chars().next(), self.models.as_slice().is_empty()) {
            let (first, others) = delta.split_at(first.len_utf8());
            self.events.push(Event::Delta(AnswerDelta::Text(first.to_owned())));
            self.switch_model();
            delta = others;
        }
        self.events.extend(pieces(delta).map(|piece| Event::Delta(AnswerDelta::Text(piece))));
    }

    fn switch_model(&mut self) {
        self.events.extend(self.models.next().map(|model| Event::Note(Note::ModelSwitched(model.as_str().into()))));
    }
}

/// A text in deltas that are each rendered at once: other clients are served between two of them.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    text_pieces(text, MAX_DELTA_BYTES).map(str::to_owned)
}

struct Remaining<'a> {
    rest: &'a str,
    /// The number of characters before it.
    before: usize,
}

impl<'a> Remaining<'a> {
    fn after(known: &str, whole: &'a str) -> Option<Self> {
        Some(Self { rest: whole.strip_prefix(known)?, before: known.chars().count() })
    }

    /// Takes what precedes a position, in characters of the whole text.
    fn take_to(&mut self, position: usize) -> &'a str {
        let characters = position.saturating_sub(self.before);
        let end = self.rest.char_indices().nth(characters).map_or(self.rest.len(), |(end, _)| end);
        let (taken, rest) = self.rest.split_at(end);
        (self.rest, self.before) = (rest, self.before + characters);
        taken
    }
}

fn tool_outcome(call: StoredCall, sources: Vec<Source>) -> ToolOutcome {
    let StoredCall { id, name, ok, summary, error, .. } = call;
    let unknown = || ToolFailure { code: "failed".to_owned(), message: summary.clone() };
    let error = (!ok).then(|| error.unwrap_or_else(unknown));
    ToolOutcome { id, name, ok, cached: true, duration_ms: 0, summary, sources, error }
}

/// The last event of a finished turn.
fn terminal_event(outcome: &TurnOutcome) -> Event {
    match outcome.end {
        TurnEnd::Done(finish_reason) => Event::End(Ok(finish_reason)),
        TurnEnd::Failed(code) => Event::End(Err(Box::new(outcome.failure().unwrap_or_else(|| code.into())))),
    }
}

/// The end of an interrupted turn.
pub(crate) fn interrupted_end(failure: Failure) -> Vec<Event> {
    vec![Event::Note(Note::Usage(Box::default())), Event::End(Err(Box::new(failure)))]
}

/// The end of a turn whose conversation is deleted.
pub(crate) fn deleted_end() -> Vec<Event> {
    vec![Event::Note(Note::Usage(Box::default())), Event::End(Ok(FinishReason::Stopped))]
}

#[cfg(test)]
mod tests;
