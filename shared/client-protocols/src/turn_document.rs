use domain::{CallState, ErrorCode, Failure, FinishReason, Source, TurnAccumulator, Usage};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The response to a request with `"stream": false`: all events of a turn in one JSON object.
#[derive(Debug)]
pub struct TurnDocument {
    pub(crate) turn: TurnAccumulator,
    pub(crate) finish_reason: FinishReason,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DocumentBody<'a> {
    conversation_id: &'a str,
    message_id: &'a str,
    model: &'a str,
    content: &'a str,
    thinking: &'a str,
    tool_calls: Vec<CallRow<'a>>,
    sources: &'a [Source],
    usage: Usage,
    finish_reason: FinishReason,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    models: &'a [String],
}

#[derive(Serialize)]
struct CallRow<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a Value,
    ok: bool,
    summary: &'a str,
}

impl TurnDocument {
    /// The document of a finished turn.
    ///
    /// # Errors
    /// The failure that ended the turn; `interrupted` if it never ended.
    pub fn new(turn: TurnAccumulator) -> Result<Self, Failure> {
        let finish_reason = turn.end.clone().unwrap_or_else(|| Err(ErrorCode::Interrupted.into()))?;
        Ok(Self { turn, finish_reason })
    }
}

impl Serialize for TurnDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TurnAccumulator { start, content, thinking, calls, sources, attribution, usage, .. } = &self.turn;
        let start = start.as_ref();
        let body = DocumentBody {
            conversation_id: start.map_or("", |start| &start.conversation_id),
            message_id: start.map_or("", |start| &start.message_id),
            model: start.map_or("", |start| &start.model),
            content,
            thinking,
            tool_calls: calls.iter().map(CallRow::new).collect(),
            sources,
            usage: usage.unwrap_or_default(),
            finish_reason: self.finish_reason,
            models: attribution.after_failover(),
        };
        body.serialize(serializer)
    }
}

impl<'a> CallRow<'a> {
    fn new(CallState { call, outcome, .. }: &'a CallState) -> Self {
        let (ok, summary) = outcome.as_ref().map_or((false, ""), |outcome| (outcome.ok, &outcome.summary));
        Self { id: &call.id, name: &call.name, arguments: &call.arguments, ok, summary }
    }
}

#[cfg(test)]
mod tests {
    use domain::{AnswerDelta, Event, ToolCall, ToolEvent, ToolOutcome, TurnStart};
    use serde_json::json;

    use super::*;

    fn report(id: &str, index: usize, url: &str) -> Event {
        Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
            id: id.into(),
            name: "search_web".into(),
            ok: true,
            cached: true,
            duration_ms: 3,
            summary: "2 results".into(),
            sources: [(1, "https://same.example"), (index, url)]
                .map(|(index, url)| Source { index, title: "t".into(), url: url.into(), excerpt: String::new() })
                .to_vec(),
            error: None,
        })))
    }

    #[test]
    fn turn_becomes_one_document_without_duplicate_pages() {
        let mut turn = TurnAccumulator::default();
        let call = |id: &str| ToolCall { id: id.into(), name: "search_web".into(), arguments: json!({"query": id}) };
        for event in [
            Event::Started(Box::new(TurnStart {
                conversation_id: "c".into(),
                message_id: "m".into(),
                model: "openai".into(),
            })),
            Event::Delta(AnswerDelta::Text("a".into())),
            Event::Tool(ToolEvent::Call(Box::new(call("call_1")))),
            Event::Tool(ToolEvent::Call(Box::new(call("call_2")))),
            report("call_2", 2, "https://b.example"),
            report("call_1", 3, "https://a.example"),
            Event::Delta(AnswerDelta::Text("b".into())),
            Event::End(Ok(FinishReason::Stop)),
        ] {
            turn.apply(&event);
        }
        let expected = json!({
            "conversationId": "c", "messageId": "m", "model": "openai", "content": "ab", "thinking": "",
            "toolCalls": [
                {"id": "call_1", "name": "search_web", "arguments": {"query": "call_1"}, "ok": true, "summary": "2 results"},
                {"id": "call_2", "name": "search_web", "arguments": {"query": "call_2"}, "ok": true, "summary": "2 results"},
            ],
            "sources": [
                {"index": 1, "title": "t", "url": "https://same.example"},
                {"index": 2, "title": "t", "url": "https://b.example"},
                {"index": 3, "title": "t", "url": "https://a.example"},
            ],
            "usage": {"inputTokens": 0, "outputTokens": 0, "searchCredits": 0, "estimated": false},
            "finishReason": "stop",
        });
        assert_eq!(serde_json::to_value(TurnDocument::new(turn).unwrap()).unwrap(), expected);
    }

    #[test]
    fn failed_or_unfinished_turn_is_an_error() {
        let mut turn = TurnAccumulator::default();
        turn.apply(&Event::End(Err(Box::new(ErrorCode::UpstreamStalled.into()))));
        assert_eq!(TurnDocument::new(turn).unwrap_err().code, ErrorCode::UpstreamStalled);
        assert_eq!(TurnDocument::new(TurnAccumulator::default()).unwrap_err().code, ErrorCode::Interrupted);
    }
}
