use domain::{AnswerDelta, Event, FinishReason, ToolCall, ToolEvent, TurnAccumulator};
use serde::Serialize;
use serde_json::Value;

use super::annotations::{annotate, link_definitions};
use super::error::error_document;
use super::{CompletionMeta, call_object, finish_reason_name, token_usage};
use crate::Protocol;
use crate::frame::{END_MARKER, write_json_frame};

/// A streamed answer: `chat.completion.chunk` objects, then `data: [DONE]`.
///
/// A failure is an object with `error`, which clients raise; the end marker follows it too.
pub struct CompletionChunks {
    head: CompletionMeta,
    include_usage: bool,
    /// The turn so far, for the last chunks: sources and usage.
    turn: TurnAccumulator,
    call_count: usize,
}

#[derive(Serialize)]
struct CompletionChunk<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [ChunkChoice<'a>],
    /// Present if requested; `null` in all chunks but the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
}

#[derive(Default, Serialize)]
struct ChunkChoice<'a> {
    index: u32,
    delta: Delta<'a>,
    logprobs: Option<()>,
    finish_reason: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<Value>,
}

impl CompletionChunks {
    /// Every chunk starts with `head`; the last one reports the usage if requested.
    pub fn new(head: CompletionMeta, include_usage: bool) -> Self {
        Self { head, include_usage, turn: TurnAccumulator::default(), call_count: 0 }
    }

    fn write_delta(&self, delta: Delta<'_>, out: &mut String) {
        self.write_chunk(&[ChunkChoice { delta, ..ChunkChoice::default() }], Value::Null, out);
    }

    fn write_call(&mut self, call: &ToolCall, out: &mut String) {
        let tool_calls = vec![call_object(Some(self.call_count), call)];
        self.write_delta(Delta { tool_calls, ..Delta::default() }, out);
        self.call_count += 1;
    }

    fn write_done(&self, reason: FinishReason, out: &mut String) {
        let links = if self.head.citation_links { link_definitions(&self.turn) } else { String::new() };
        if !links.is_empty() {
            self.write_delta(Delta { content: Some(&links), ..Delta::default() }, out);
        }
        let annotations = annotate(&self.turn.content, &self.turn.sources);
        if !annotations.is_empty() {
            self.write_delta(Delta { annotations, ..Delta::default() }, out);
        }
        let finish_reason = Some(finish_reason_name(reason));
        self.write_chunk(&[ChunkChoice { finish_reason, ..ChunkChoice::default() }], Value::Null, out);
        if self.include_usage {
            self.write_chunk(&[], token_usage(&self.turn.usage.unwrap_or_default()), out);
        }
        out.push_str(END_MARKER);
    }

    fn write_chunk(&self, choices: &[ChunkChoice<'_>], usage: Value, out: &mut String) {
        let CompletionMeta { id, created, model, .. } = &self.head;
        let usage = self.include_usage.then_some(usage);
        let chunk = CompletionChunk { id, object: "chat.completion.chunk", created: *created, model, choices, usage };
        write_json_frame(&chunk, out);
    }
}

impl Protocol for CompletionChunks {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        self.turn.apply(event);
        match event {
            Event::Started(_) => {
                self.write_delta(Delta { role: Some("assistant"), content: Some(""), ..Delta::default() }, out);
            }
            Event::Delta(AnswerDelta::Text(delta)) => {
                self.write_delta(Delta { content: Some(delta), ..Delta::default() }, out);
            }
            Event::Delta(AnswerDelta::Thinking(delta)) => {
                self.write_delta(Delta { reasoning_content: Some(delta), ..Delta::default() }, out);
            }
            Event::Tool(ToolEvent::ClientCall(call)) => self.write_call(call, out),
            Event::End(Ok(finish_reason)) => self.write_done(*finish_reason, out),
            Event::End(Err(failure)) => {
                write_json_frame(&error_document(failure), out);
                out.push_str(END_MARKER);
            }
            // No chunk takes text back.
            Event::Delta(AnswerDelta::Reclassified(_))
            | Event::Tool(ToolEvent::Call(_) | ToolEvent::Progress(_) | ToolEvent::Result(_))
            | Event::Note(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{ErrorCode, Failure, TurnStart};
    use serde_json::json;

    use super::*;

    fn frames(include_usage: bool, events: &[Event]) -> String {
        let head =
            CompletionMeta { id: "chatcmpl-1".into(), created: 7, model: "volcano".into(), citation_links: false };
        let mut protocol = CompletionChunks::new(head, include_usage);
        let mut out = String::new();
        for event in events {
            protocol.write_frames(event, &mut out);
        }
        out
    }

    fn started() -> Event {
        Event::Started(Box::new(TurnStart {
            continues: false,
            conversation_id: String::new(),
            message_id: "m".into(),
            model: "volcano".into(),
        }))
    }

    fn usage() -> Event {
        Event::Note(domain::Note::Usage(Box::new(domain::Usage {
            input_tokens: 3,
            output_tokens: 2,
            ..Default::default()
        })))
    }

    #[test]
    fn answer_begins_with_role_and_ends_with_reason() {
        let events = [
            started(),
            Event::Delta(AnswerDelta::Thinking("想".into())),
            Event::Delta(AnswerDelta::Text("你好\n".into())),
            usage(),
            Event::End(Ok(FinishReason::ToolLimit)),
        ];
        let expected = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"volcano","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"volcano","choices":[{"index":0,"delta":{"reasoning_content":"想"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"volcano","choices":[{"index":0,"delta":{"content":"你好\n"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"volcano","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

"#;
        assert_eq!(frames(false, &events), expected);
    }

    #[test]
    fn calls_are_numbered_and_usage_is_last() {
        let call = |id: &str, arguments| ToolCall { id: id.into(), name: "f".into(), arguments };
        let events = [
            started(),
            Event::Tool(ToolEvent::ClientCall(Box::new(call("a", json!({"x": 1}))))),
            Event::Tool(ToolEvent::ClientCall(Box::new(call("b", json!("{broken"))))),
            usage(),
            Event::End(Ok(FinishReason::ToolCalls)),
        ];
        let out = frames(true, &events);
        let ends: Vec<_> =
            out.split("\n\n").filter_map(|frame| frame.split_once(r#""choices":"#)).map(|(_, end)| end).collect();
        let expected = [
            r#"[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}"#,
            r#"[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},"logprobs":null,"finish_reason":null}],"usage":null}"#,
            r#"[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"f","arguments":"{broken"}}]},"logprobs":null,"finish_reason":null}],"usage":null}"#,
            r#"[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null}"#,
            r#"[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#,
        ];
        assert_eq!(ends, expected);
    }

    #[test]
    fn failure_is_an_error_object_and_end_marker() {
        let expected = concat!(
            r#"data: {"error":{"message":"The model stopped answering.","type":"server_error","param":null,"#,
            "\"code\":\"upstream_stalled\"}}\n\ndata: [DONE]\n\n"
        );
        assert_eq!(frames(true, &[Event::End(Err(Box::new(Failure::from(ErrorCode::UpstreamStalled))))]), expected);
    }
}
