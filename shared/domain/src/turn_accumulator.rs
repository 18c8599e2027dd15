use crate::{Event, Failure, FinishReason, ModelAttribution, Source, ToolCall, ToolOutcome, TurnStart, Usage};

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
}

impl TurnAccumulator {
    /// Adds the next event of the turn.
    pub fn apply(&mut self, event: &Event) {
        self.attribution.record(event);
        match event {
            Event::Started(start) => self.start = Some(TurnStart::clone(start)),
            Event::Text { delta } => self.content.push_str(delta),
            Event::Thinking { delta } => self.thinking.push_str(delta),
            Event::ToolCall(call) => self.calls.push(CallState { call: ToolCall::clone(call), outcome: None }),
            Event::ToolResult(outcome) => self.add_outcome(outcome),
            Event::EarlierSource(source) => Source::join(&mut self.sources, std::slice::from_ref(source)),
            Event::ClientToolCall(call) => self.client_tool_calls.push(ToolCall::clone(call)),
            Event::Usage(usage) => self.usage = Some(**usage),
            Event::Failed(failure) => self.end = Some(Err(Failure::clone(failure))),
            Event::Done { finish_reason } => self.end = Some(Ok(*finish_reason)),
            Event::ModelSwitched { .. } | Event::ToolProgress(_) | Event::Title(_) => {}
        }
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
        let source = |url: &&str| Source { index: number(url), title: "t".into(), url: (*url).into() };
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
    fn events_add_up_to_the_turn() {
        let start = TurnStart { conversation_id: "C".into(), message_id: "M".into(), model: "first".into() };
        let call = |id: &str| ToolCall { id: id.into(), name: "search_web".into(), arguments: json!({}) };
        let usage = Usage { input_tokens: 7, ..Usage::default() };
        let turn = accumulate([
            Event::Started(Box::new(start.clone())),
            Event::Thinking { delta: "想".into() },
            Event::ToolCall(Box::new(call("a"))),
            Event::ToolCall(Box::new(call("b"))),
            Event::ToolResult(Box::new(outcome("b", &["https://4.example"]))),
            Event::ToolResult(Box::new(outcome("unknown", &["https://9.example", "https://4.example"]))),
            Event::EarlierSource(Box::new(Source { index: 2, title: "t".into(), url: "https://2.example".into() })),
            Event::Text { delta: "一".into() },
            Event::ModelSwitched { model: "second".into() },
            Event::Text { delta: "二".into() },
            Event::ClientToolCall(Box::new(call("c"))),
            Event::Title("茶".into()),
            Event::Usage(Box::new(usage)),
            Event::Done { finish_reason: FinishReason::ToolCalls },
        ]);
        assert_eq!((turn.start.as_ref(), turn.content.as_str(), turn.thinking.as_str()), (Some(&start), "一二", "想"));
        assert_eq!(turn.call("a"), Some(&CallState { call: call("a"), outcome: None }));
        let expected = CallState { call: call("b"), outcome: Some(outcome("b", &["https://4.example"])) };
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
        let turn = accumulate([Event::Failed(Box::new(ErrorCode::UpstreamStalled.into()))]);
        assert_eq!(turn.end.and_then(Result::err).map(|failure| failure.code), Some(ErrorCode::UpstreamStalled));
    }
}
