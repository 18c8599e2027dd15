use domain::{Event, Failure, FinishReason, ModelAttribution, Source, ToolCall, Usage};
use serde::Serialize;
use serde_json::Value;

/// The response to a request with `"stream": false`: all events of a turn in one JSON object.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnDocument {
    conversation_id: String,
    message_id: String,
    model: String,
    pub(crate) content: String,
    pub(crate) thinking: String,
    tool_calls: Vec<CallRow>,
    pub(crate) sources: Vec<Source>,
    pub(crate) usage: Usage,
    pub(crate) finish_reason: Option<FinishReason>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<String>,
    /// Calls of client tools. Requests for the native document cannot declare such tools.
    #[serde(skip)]
    pub(crate) client_tool_calls: Vec<ToolCall>,
    #[serde(skip)]
    attribution: ModelAttribution,
    #[serde(skip)]
    failure: Option<Failure>,
}

#[derive(Debug, Serialize)]
struct CallRow {
    id: String,
    name: String,
    arguments: Value,
    ok: bool,
    summary: String,
}

impl TurnDocument {
    /// Adds the next event of the turn.
    pub fn add(&mut self, event: &Event) {
        self.attribution.record(event);
        match event {
            Event::Started(started) => {
                self.conversation_id.clone_from(&started.conversation_id);
                self.message_id.clone_from(&started.message_id);
                self.model.clone_from(&started.model);
            }
            Event::Text { delta } => self.content.push_str(delta),
            Event::Thinking { delta } => self.thinking.push_str(delta),
            Event::ToolCall(call) => self.tool_calls.push(CallRow {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                ok: false,
                summary: String::new(),
            }),
            Event::ToolResult(report) => {
                Source::join(&mut self.sources, &report.sources);
                if let Some(row) = self.tool_calls.iter_mut().find(|row| row.id == report.id) {
                    (row.ok, row.summary) = (report.ok, report.summary.clone());
                }
            }
            Event::Usage(usage) => self.usage = **usage,
            Event::Done { finish_reason } => self.finish_reason = Some(*finish_reason),
            Event::Failed(failure) => self.failure = Some(Failure::clone(failure)),
            Event::ClientToolCall(call) => self.client_tool_calls.push(ToolCall::clone(call)),
            Event::ToolProgress(_) | Event::Title(_) | Event::ModelSwitched { .. } => {}
        }
    }

    /// Returns the complete document.
    ///
    /// # Errors
    /// The failure that ended the turn; `interrupted` if it never ended.
    pub fn finish(mut self) -> Result<Self, Failure> {
        self.models = self.attribution.after_failover().to_vec();
        match (&self.failure, self.finish_reason) {
            (Some(failure), _) => Err(failure.clone()),
            (None, Some(_)) => Ok(self),
            (None, None) => Err(domain::ErrorCode::Interrupted.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{ErrorCode, ToolCall, ToolOutcome, TurnStart};
    use serde_json::json;

    use super::*;

    fn report(id: &str, url: &str) -> Event {
        Event::ToolResult(Box::new(ToolOutcome {
            id: id.into(),
            name: "search_web".into(),
            ok: true,
            cached: true,
            duration_ms: 3,
            summary: "2 results".into(),
            sources: ["https://same.example", url]
                .iter()
                .enumerate()
                .map(|(i, url)| Source { index: i + 1, title: "t".into(), url: (*url).into() })
                .collect(),
            error: None,
        }))
    }

    #[test]
    fn turn_becomes_one_document_without_duplicate_pages() {
        let mut document = TurnDocument::default();
        let call = |id: &str| ToolCall { id: id.into(), name: "search_web".into(), arguments: json!({"query": id}) };
        for event in [
            Event::Started(Box::new(TurnStart {
                conversation_id: "c".into(),
                message_id: "m".into(),
                model: "openai".into(),
            })),
            Event::Text { delta: "a".into() },
            Event::ToolCall(Box::new(call("call_1"))),
            Event::ToolCall(Box::new(call("call_2"))),
            report("call_2", "https://b.example"),
            report("call_1", "https://a.example"),
            Event::Text { delta: "b".into() },
            Event::Done { finish_reason: FinishReason::Stop },
        ] {
            document.add(&event);
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
        assert_eq!(serde_json::to_value(document.finish().unwrap()).unwrap(), expected);
    }

    #[test]
    fn failed_or_unfinished_turn_is_an_error() {
        let mut document = TurnDocument::default();
        document.add(&Event::Failed(Box::new(ErrorCode::UpstreamStalled.into())));
        assert_eq!(document.finish().unwrap_err().code, ErrorCode::UpstreamStalled);
        assert_eq!(TurnDocument::default().finish().unwrap_err().code, ErrorCode::Interrupted);
    }
}
