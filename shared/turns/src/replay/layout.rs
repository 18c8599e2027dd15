//! How the events of a short turn divide its stored answer: with it they can be rebuilt one by one, so that each keeps its
//! number. It takes some bytes of the answer's item and no write of its own.
//!
//! A layout is ASCII text. A letter is the kind of the next events: `h` reasoning and `t` text, each followed by the lengths
//! of the deltas in bytes (`t6,12`), equal ones once with their number (`t3*40`); `c` a call; `r` results, followed by the positions of their calls; `n` the title; `u`
//! the usage; `e` the end. The start has none, because it is always first.

use std::fmt::Write;

use domain::{Event, Source, ToolCall, ToolFailure, ToolOutcome, TurnStart};
use store::{ShortTurn, StoredCall, StoredMessage, StoredTurn};

use super::from_answer::terminal_event;

/// Maximum length of a layout, in bytes; that of a usual short turn has some hundred. A log of its deltas would take twenty
/// times as much, and an item has this space left.
const MAX_BYTES: usize = 32 * 1024;

/// Builds a layout.
#[derive(Default)]
pub(super) struct Layout {
    text: String,
    /// The kind of the last entry.
    kind: char,
    /// The number of the last entry.
    number: Option<usize>,
    /// How many further entries are equal to the last one.
    repeats: usize,
    /// The ids of the calls so far.
    calls: Vec<String>,
    /// Whether an event cannot be rebuilt from the answer.
    is_impossible: bool,
}

impl Layout {
    /// Adds the next event of the turn.
    pub(super) fn push(&mut self, event: &Event) {
        match event {
            Event::Started(_) => {}
            Event::Thinking { delta } => self.add('h', Some(delta.len())),
            Event::Text { delta } => self.add('t', Some(delta.len())),
            Event::ToolCall(call) => {
                self.calls.push(call.id.clone());
                self.add('c', None);
            }
            Event::ToolResult(outcome) => match self.calls.iter().position(|call| *call == outcome.id) {
                Some(position) => self.add('r', Some(position)),
                None => self.is_impossible = true,
            },
            Event::Title(_) => self.add('n', None),
            Event::Usage(_) => self.add('u', None),
            Event::Failed(_) | Event::Done { .. } => self.add('e', None),
            Event::ModelSwitched { .. }
            | Event::TextReclassified { .. }
            | Event::EarlierSource(_)
            | Event::ToolProgress(_)
            | Event::ClientToolCall(_) => {
                self.is_impossible = true;
            }
        }
    }

    /// The layout; `None` if it is too long, or an event cannot be rebuilt from the answer.
    pub(super) fn finish(mut self) -> Option<String> {
        self.write_repeats();
        (!self.is_impossible && self.text.len() <= MAX_BYTES).then_some(self.text)
    }

    fn add(&mut self, kind: char, number: Option<usize>) {
        if self.text.len() > MAX_BYTES {
            return;
        }
        let continues = self.kind == kind && number.is_some();
        if continues && self.number == number && number != Some(0) {
            self.repeats += 1;
            return;
        }
        self.write_repeats();
        self.text.push(if continues { ',' } else { kind });
        (self.kind, self.number) = (kind, number);
        if let Some(number) = number {
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{number}");
        }
    }

    fn write_repeats(&mut self) {
        if self.repeats > 0 {
            // Writing to a String cannot fail.
            let _ = write!(self.text, "*{}", self.repeats + 1);
            self.repeats = 0;
        }
    }
}

/// The events of a short turn, from the first on; `None` if its layout does not fit its answer.
///
/// The answer does not hold how long a call took, and which pages came from which call: the first result has all.
pub(super) fn rebuild(conversation_id: &str, turn: ShortTurn) -> Option<Vec<Event>> {
    let ShortTurn { turn: StoredTurn { message, outcome }, layout, title } = turn;
    let (outcome, mut rest) = (outcome?, Remaining::new(&message));
    let mut events = vec![start(conversation_id, &message)];
    for (kind, number, count) in entries(&layout)? {
        for _ in 0..count {
            events.push(match (kind, number) {
                ('h', Some(bytes)) => Event::Thinking { delta: take(&mut rest.thinking, bytes)? },
                ('t', Some(bytes)) => Event::Text { delta: take(&mut rest.content, bytes)? },
                ('c', None) => Event::ToolCall(Box::new(call(rest.calls.next()?))),
                ('r', Some(position)) => Event::ToolResult(Box::new(rest.result(message.tool_calls.get(position)?))),
                ('n', None) => Event::Title(title.clone()),
                ('u', None) => Event::Usage(Box::new(outcome.usage)),
                ('e', None) => terminal_event(&outcome),
                _ => return None,
            });
        }
    }
    let is_whole = rest.content.is_empty() && rest.thinking.is_empty() && events.last().is_some_and(Event::is_end);
    is_whole.then_some(events)
}

/// What of an answer is not in an event yet.
struct Remaining<'a> {
    thinking: &'a str,
    content: &'a str,
    calls: std::slice::Iter<'a, StoredCall>,
    sources: Vec<Source>,
}

impl<'a> Remaining<'a> {
    fn new(message: &'a StoredMessage) -> Self {
        let (calls, sources) = (message.tool_calls.iter(), message.sources.clone());
        Self { thinking: &message.thinking, content: &message.content, calls, sources }
    }

    fn result(&mut self, call: &StoredCall) -> ToolOutcome {
        let StoredCall { id, name, ok, summary, error, .. } = call.clone();
        let unknown = || ToolFailure { code: "failed".to_owned(), message: summary.clone() };
        let error = (!ok).then(|| error.unwrap_or_else(unknown));
        let sources = std::mem::take(&mut self.sources);
        ToolOutcome { id, name, ok, cached: true, duration_ms: 0, summary, sources, error }
    }
}

/// The entries of a layout, each a kind, for some kinds a number, and how often it occurs; `None` if it is malformed.
fn entries(layout: &str) -> Option<Vec<(char, Option<usize>, usize)>> {
    let (mut entries, mut rest) = (Vec::new(), layout.chars());
    while let Some(kind) = rest.next() {
        let text = rest.as_str();
        let numbers = text.split(|letter: char| letter.is_ascii_alphabetic()).next().unwrap_or_default();
        if numbers.is_empty() {
            entries.push((kind, None, 1));
            continue;
        }
        for number in numbers.split(',') {
            let (number, count) = number.split_once('*').unwrap_or((number, "1"));
            let (number, count) = (number.parse().ok()?, count.parse().ok()?);
            // Only a delta that takes something may repeat: the answer's end bounds it.
            let is_bounded = count == 1 || number > 0;
            entries.push(is_bounded.then_some((kind, Some(number), count))?);
        }
        rest = text[numbers.len()..].chars();
    }
    Some(entries)
}

/// Takes so many bytes from the front; `None` if they are not there, or end within a character.
fn take(rest: &mut &str, bytes: usize) -> Option<String> {
    let (front, others) = rest.split_at_checked(bytes)?;
    *rest = others;
    Some(front.to_owned())
}

fn start(conversation_id: &str, message: &StoredMessage) -> Event {
    let (message_id, model) = (message.id.clone(), message.model.clone());
    Event::Started(Box::new(TurnStart { conversation_id: conversation_id.to_owned(), message_id, model }))
}

fn call(stored: &StoredCall) -> ToolCall {
    ToolCall { id: stored.id.clone(), name: stored.name.clone(), arguments: stored.arguments.clone() }
}

#[cfg(test)]
mod tests {
    use domain::{ErrorCode, FinishReason, Usage};
    use serde_json::json;
    use store::{Role, Status, TurnEnd, TurnOutcome};

    use super::*;

    fn text(delta: &str) -> Event {
        Event::Text { delta: delta.to_owned() }
    }

    fn tool_call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: "search_web".to_owned(), arguments: json!({ "query": "茶" }) }
    }

    fn result(id: &str, sources: Vec<Source>) -> Event {
        Event::ToolResult(Box::new(ToolOutcome {
            id: id.to_owned(),
            name: "search_web".to_owned(),
            ok: true,
            cached: true,
            duration_ms: 0,
            summary: "1 result".to_owned(),
            sources,
            error: None,
        }))
    }

    fn source() -> Source {
        Source { index: 1, title: "茶".to_owned(), url: "https://a.example".to_owned(), excerpt: String::new() }
    }

    /// The events of a turn with two calls, whose results arrive in the other order.
    fn events() -> Vec<Event> {
        let message = answer(String::new());
        vec![
            start("C", &message.turn.message),
            Event::Thinking { delta: "想".to_owned() },
            Event::Thinking { delta: "一想".to_owned() },
            text("好"),
            Event::ToolCall(Box::new(tool_call("a"))),
            Event::ToolCall(Box::new(tool_call("b"))),
            result("b", vec![source()]),
            result("a", Vec::new()),
            text("的。"),
            text(""),
            text(""),
            text("a"),
            text("b"),
            Event::Title("茶".to_owned()),
            Event::Usage(Box::default()),
            Event::Done { finish_reason: FinishReason::Stop },
        ]
    }

    fn answer(layout: String) -> ShortTurn {
        let stored = |id| {
            let Event::ToolResult(outcome) = result(id, Vec::new()) else { unreachable!() };
            StoredCall::new(&tool_call(id), Some(&outcome), None)
        };
        let message = StoredMessage {
            id: "M".to_owned(),
            role: Role::Assistant,
            content: "好的。ab".to_owned(),
            thinking: "想一想".to_owned(),
            thinking_ms: None,
            usage: None,
            model: "first".to_owned(),
            tool_calls: vec![stored("a"), stored("b")],
            sources: vec![source()],
            models: Vec::new(),
            status: Status::Complete,
            finish_reason: None,
            error: None,
            created_at: String::new(),
        };
        let end = TurnEnd::Done(FinishReason::Stop);
        let outcome =
            TurnOutcome { usage: Usage::default(), end, models: Vec::new(), thinking_ms: None, error_message: None };
        ShortTurn { turn: StoredTurn { message, outcome: Some(outcome) }, layout, title: "茶".to_owned() }
    }

    fn layout_of(events: &[Event]) -> Option<String> {
        let mut layout = Layout::default();
        for event in events {
            layout.push(event);
        }
        layout.finish()
    }

    #[test]
    fn rebuilt_events_are_those_of_the_turn() {
        let layout = layout_of(&events()).unwrap();
        assert_eq!(layout, "h3,6t3ccr1,0t6,0,0,1*2nue");
        assert_eq!(rebuild("C", answer(layout)), Some(events()));
    }

    #[test]
    fn layout_of_another_answer_is_rejected() {
        for layout in [
            "",
            "e",
            "t9e",
            "h9t11",
            "h9t4,7e",
            "h9t11ccce",
            "h9t11r2e",
            "h9t11xe",
            "h9t11,e",
            "h9t11,99e",
            "9",
            "h9t11*2e",
            "h9t11*e",
            "h9t*11e",
        ] {
            assert_eq!(rebuild("C", answer(layout.to_owned())), None, "{layout}");
        }
        assert!(rebuild("C", answer("h9t11e".to_owned())).is_some());
        let running = ShortTurn {
            turn: StoredTurn { outcome: None, ..answer(String::new()).turn },
            ..answer("h9t11e".to_owned())
        };
        assert_eq!(rebuild("C", running), None);
    }

    #[test]
    fn long_or_impossible_turn_has_no_layout() {
        let alternating = |count| vec![[text("a"), text("bc")]; count].concat();
        assert_eq!(layout_of(&alternating(8_200)), None);
        assert!(layout_of(&alternating(8_000)).is_some_and(|layout| layout.len() <= MAX_BYTES));
        assert_eq!(layout_of(&vec![text("a"); 10_000]).as_deref(), Some("t1*10000"));
        assert_eq!(layout_of(&[Event::ModelSwitched { model: "m".to_owned() }]), None);
        assert_eq!(layout_of(&[result("unknown", Vec::new())]), None);
        let failed = Event::Failed(Box::new(ErrorCode::Interrupted.into()));
        assert_eq!(layout_of(&[failed]).as_deref(), Some("e"));
    }
}
