use serde::{Deserialize, Serialize};

use crate::{
    AnswerDelta, Event, Failure, FinishReason, MAX_THINKING_BYTES, Note, Source, ToolCall, ToolEvent, ToolOutcome,
    TurnStart, Usage,
};

/// The sum of a turn's events so far: its answer, its calls and how it ended.
#[derive(Clone, Debug, Default)]
pub struct TurnAccumulator {
    /// `None` before the first event.
    pub start: Option<TurnStart>,
    /// All text.
    pub content: String,
    /// All reasoning.
    pub thinking: String,
    /// The calls in the order in which the model made them.
    pub calls: Vec<CallState>,
    /// The calls of client tools, in the same order.
    pub client_tool_calls: Vec<ToolCall>,
    /// The pages of all results, and those of earlier turns that the text cites: each URL once.
    pub sources: Vec<Source>,
    /// How often text became reasoning.
    pub reclassified: usize,
    /// Which models wrote the answer.
    pub attribution: ModelAttribution,
    /// `None` before the turn reports its usage.
    pub usage: Option<Usage>,
    /// `None` while the turn runs.
    pub end: Option<Result<FinishReason, Failure>>,
}

/// A call and, once it has finished, its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct CallState {
    /// As the model made it.
    pub call: ToolCall,
    /// `None` while it runs.
    pub outcome: Option<ToolOutcome>,
    /// What the turn had written before it.
    pub position: CallPosition,
}

/// What a turn had written before a call; lengths are in characters (Unicode code points).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallPosition {
    /// The length of the text.
    pub text: usize,
    /// The length of the reasoning.
    pub thinking: usize,
    /// The time spent on the reasoning, in milliseconds; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_ms: Option<u64>,
}

/// Divides a text between characters into pieces of at most `max_bytes`, which is at least four.
pub fn text_pieces(text: &str, max_bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(max_bytes));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Removes this many characters from the end of a text and returns them.
pub fn split_last_characters(text: &mut String, characters: usize) -> String {
    let last = characters.checked_sub(1).and_then(|back| text.char_indices().nth_back(back));
    let start = if characters == 0 { text.len() } else { last.map_or(0, |(start, _)| start) };
    text.split_off(start)
}

impl TurnAccumulator {
    /// Adds the next event of the turn.
    pub fn apply(&mut self, event: &Event) {
        self.attribution.record(event);
        match event {
            Event::Started(start) => self.start = Some(TurnStart::clone(start)),
            Event::Delta(AnswerDelta::Text(delta)) => self.content.push_str(delta),
            Event::Delta(AnswerDelta::Thinking(delta)) => self.thinking.push_str(delta),
            Event::Delta(AnswerDelta::Reclassified(characters)) => {
                self.reclassified += 1;
                let reasoning = split_last_characters(&mut self.content, *characters);
                let fits = MAX_THINKING_BYTES.saturating_sub(self.thinking.len()).min(reasoning.len());
                self.thinking.push_str(&reasoning[..reasoning.floor_char_boundary(fits)]);
            }
            Event::Tool(ToolEvent::Call(call)) => self.add_call(ToolCall::clone(call)),
            Event::Tool(ToolEvent::Result(outcome)) => self.add_outcome(outcome),
            Event::Note(Note::EarlierSource(source)) => Source::join(&mut self.sources, std::slice::from_ref(source)),
            Event::Tool(ToolEvent::ClientCall(call)) => self.client_tool_calls.push(ToolCall::clone(call)),
            Event::Note(Note::Usage(usage)) => self.usage = Some(**usage),
            Event::End(Err(failure)) => self.end = Some(Err(Failure::clone(failure))),
            Event::End(Ok(finish_reason)) => self.end = Some(Ok(*finish_reason)),
            Event::Tool(ToolEvent::Progress(_)) | Event::Note(Note::ModelSwitched(_) | Note::Title(_)) => {}
        }
    }

    fn add_call(&mut self, call: ToolCall) {
        let (text, thinking) = (self.content.chars().count(), self.thinking.chars().count());
        self.calls.push(CallState {
            call,
            outcome: None,
            position: CallPosition { text, thinking, thinking_ms: None },
        });
    }

    fn add_outcome(&mut self, outcome: &ToolOutcome) {
        Source::join(&mut self.sources, &outcome.sources);
        if let Some(known) = self.calls.iter_mut().find(|known| known.call.id == outcome.id) {
            known.outcome = Some(outcome.clone());
        }
    }

    /// The state of the call with this id, if the model made one.
    pub fn call(&self, id: &str) -> Option<&CallState> {
        self.calls.iter().find(|known| known.call.id == id)
    }
}

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ErrorCode;

    /// The number of the page `https://N.example`.
    fn number(url: &str) -> usize {
        url.trim_start_matches("https://").split('.').next().unwrap().parse().unwrap()
    }

    fn outcome(id: &str, urls: &[&str]) -> ToolOutcome {
        let source =
            |url: &&str| Source { index: number(url), title: "t".into(), url: (*url).into(), excerpt: String::new() };
        ToolOutcome {
            id: id.into(),
            name: "search_web".into(),
            ok: true,
            cached: false,
            duration_ms: 3,
            summary: "1 result".into(),
            sources: urls.iter().map(source).collect(),
            error: None,
        }
    }

    fn accumulate(events: impl IntoIterator<Item = Event>) -> TurnAccumulator {
        let mut turn = TurnAccumulator::default();
        events.into_iter().for_each(|event| turn.apply(&event));
        turn
    }

    #[test]
    fn reclassified_text_moves_to_the_reasoning() {
        let text = |delta: &str| Event::Delta(AnswerDelta::Text(delta.into()));
        let turn = accumulate([text("好。想一想"), Event::Delta(AnswerDelta::Reclassified(3)), text("答")]);
        assert_eq!((turn.content.as_str(), turn.thinking.as_str()), ("好。答", "想一想"));
        let turn = accumulate([text("想"), Event::Delta(AnswerDelta::Reclassified(9))]);
        assert_eq!((turn.content.as_str(), turn.thinking.as_str()), ("", "想"));
    }

    #[test]
    fn events_add_up_to_the_turn() {
        let start =
            TurnStart { continues: false, conversation_id: "C".into(), message_id: "M".into(), model: "first".into() };
        let call = |id: &str| ToolCall { id: id.into(), name: "search_web".into(), arguments: json!({}) };
        let usage = Usage { input_tokens: 7, ..Usage::default() };
        let turn = accumulate([
            Event::Started(Box::new(start.clone())),
            Event::Delta(AnswerDelta::Thinking("想".into())),
            Event::Delta(AnswerDelta::Text("〇🍵".into())),
            Event::Tool(ToolEvent::Call(Box::new(call("a")))),
            Event::Tool(ToolEvent::Call(Box::new(call("b")))),
            Event::Tool(ToolEvent::Result(Box::new(outcome("b", &["https://4.example"])))),
            Event::Tool(ToolEvent::Result(Box::new(outcome("unknown", &["https://9.example", "https://4.example"])))),
            Event::Note(Note::EarlierSource(Box::new(Source {
                index: 2,
                title: "t".into(),
                url: "https://2.example".into(),
                excerpt: String::new(),
            }))),
            Event::Delta(AnswerDelta::Text("一".into())),
            Event::Note(Note::ModelSwitched("second".into())),
            Event::Delta(AnswerDelta::Text("二".into())),
            Event::Tool(ToolEvent::ClientCall(Box::new(call("c")))),
            Event::Note(Note::Title("茶".into())),
            Event::Note(Note::Usage(Box::new(usage))),
            Event::End(Ok(FinishReason::ToolCalls)),
        ]);
        assert_eq!(
            (turn.start.as_ref(), turn.content.as_str(), turn.thinking.as_str()),
            (Some(&start), "〇🍵一二", "想")
        );
        let position = CallPosition { text: 2, thinking: 1, thinking_ms: None };
        assert_eq!(turn.call("a"), Some(&CallState { call: call("a"), outcome: None, position }));
        let expected = CallState { call: call("b"), outcome: Some(outcome("b", &["https://4.example"])), position };
        assert_eq!((turn.calls.len(), turn.call("b")), (2, Some(&expected)));
        let urls: Vec<(usize, &str)> = turn.sources.iter().map(|source| (source.index, source.url.as_str())).collect();
        assert_eq!(urls, [(4, "https://4.example"), (9, "https://9.example"), (2, "https://2.example")]);
        assert_eq!(turn.attribution.after_failover(), ["first", "second"]);
        assert_eq!((turn.client_tool_calls, turn.usage), (vec![call("c")], Some(usage)));
        assert_eq!(turn.end.map(Result::ok), Some(Some(FinishReason::ToolCalls)));
    }

    #[test]
    fn failure_ends_the_turn() {
        assert!(accumulate([]).end.is_none());
        let turn = accumulate([Event::End(Err(Box::new(ErrorCode::UpstreamStalled.into())))]);
        assert_eq!(turn.end.and_then(Result::err).map(|failure| failure.code), Some(ErrorCode::UpstreamStalled));
    }
}
