use domain::{CallState, ErrorCode, Failure, FinishReason, TurnAccumulator, TurnStart};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::frame::without_nulls;

/// The response to a request with `"stream": false`: all events of a turn in one JSON object.
#[derive(Debug)]
pub struct TurnDocument {
    pub(crate) turn: TurnAccumulator,
    pub(crate) finish_reason: FinishReason,
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
        let text = |field: fn(&TurnStart) -> &str| start.as_ref().map_or("", field);
        let models = attribution.after_failover();
        let document = json!({
            "conversationId": text(|start| &start.conversation_id),
            "messageId": text(|start| &start.message_id),
            "model": text(|start| &start.model),
            "continues": start.as_ref().filter(|start| start.continues).map(|_| true),
            "content": content,
            "thinking": thinking,
            "toolCalls": calls.iter().map(call_row).collect::<Vec<_>>(),
            "sources": sources,
            "usage": usage.unwrap_or_default(),
            "finishReason": self.finish_reason,
            "models": Some(models).filter(|models| !models.is_empty()),
        });
        without_nulls(document).serialize(serializer)
    }
}

fn call_row(CallState { call, outcome, .. }: &CallState) -> Value {
    let (ok, summary) = outcome.as_ref().map_or((false, ""), |outcome| (outcome.ok, &outcome.summary));
    json!({ "id": call.id, "name": call.name, "arguments": call.arguments, "ok": ok, "summary": summary })
}

#[cfg(test)]
mod tests {
    use domain::{AnswerDelta, Event, Source, ToolCall, ToolEvent, ToolOutcome, TurnStart};
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
                continues: false,
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
