use domain::{Event, FinishReason, ModelAttribution, ToolCall, ToolOutcome, Usage};
use serde::Serialize;

use crate::Protocol;

/// The native protocol: deltas, one `data:` line per frame with a numbered id, then `data: [DONE]`.
pub struct NativeSse {
    writer: FrameWriter,
    request_id: String,
    attribution: ModelAttribution,
}

/// Writes JSON objects as numbered frames.
struct FrameWriter {
    turn_id: String,
    frame_count: u64,
    /// The last object; its allocation is reused for the next.
    buffer: Vec<u8>,
}

impl NativeSse {
    /// Frames are numbered `<turn_id>-1`, `-2`, …; `request_id` goes into an error frame.
    pub fn new(turn_id: impl Into<String>, request_id: impl Into<String>) -> Self {
        let writer = FrameWriter { turn_id: turn_id.into(), frame_count: 0, buffer: Vec::new() };
        Self { writer, request_id: request_id.into(), attribution: ModelAttribution::default() }
    }

    /// Appends one frame that holds `payload`, and the end marker if it ends the turn.
    pub(crate) fn write_payload<T: Serialize>(&mut self, payload: &T, ends: bool, out: &mut String) {
        self.writer.write(payload, ends, out);
    }
}

impl FrameWriter {
    fn write<T: Serialize>(&mut self, payload: &T, ends: bool, out: &mut String) {
        self.begin_frame(out);
        self.write_json(payload, out);
        out.push_str(if ends { "\n\ndata: [DONE]\n\n" } else { "\n\n" });
    }

    /// Fast path for delta frames; the output is identical to `write`.
    fn write_delta(&mut self, prefix: &str, text: &str, out: &mut String) {
        self.begin_frame(out);
        out.push_str(prefix);
        if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
            self.write_json(&text, out);
        } else {
            out.push('"');
            out.push_str(text);
            out.push('"');
        }
        out.push_str("}\n\n");
    }

    fn begin_frame(&mut self, out: &mut String) {
        self.frame_count += 1;
        out.push_str("id: ");
        out.push_str(&self.turn_id);
        out.push('-');
        out.push_str(itoa::Buffer::new().format(self.frame_count));
        out.push_str("\ndata: ");
    }

    fn write_json<T: Serialize>(&mut self, value: &T, out: &mut String) {
        self.buffer.clear();
        // Writing to memory and serialising plain data cannot fail.
        let _ = serde_json::to_writer(&mut self.buffer, value);
        out.push_str(std::str::from_utf8(&self.buffer).unwrap_or_default());
    }
}

impl Protocol for NativeSse {
    fn write_frames(&mut self, event: &Event, out: &mut String) {
        self.attribution.record(event);
        match event {
            Event::Text { delta } => return self.writer.write_delta(r#"{"type":"content","content":"#, delta, out),
            Event::Thinking { delta } => {
                return self.writer.write_delta(r#"{"type":"thinking","thinking":"#, delta, out);
            }
            _ => {}
        }
        let ends = matches!(event, Event::Done { .. } | Event::Failed(_));
        if let Some(payload) = Payload::from_event(event, &self.request_id, self.attribution.after_failover()) {
            self.writer.write(&payload, ends, out);
        }
    }
}

/// Whether an event is rendered as a frame.
pub fn has_frame(event: &Event) -> bool {
    Payload::from_event(event, "", &[]).is_some()
}

/// The JSON object of a frame.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Payload<'a> {
    Start {
        conversation_id: &'a str,
        message_id: &'a str,
        model: &'a str,
    },
    Thinking {
        thinking: &'a str,
    },
    Content {
        content: &'a str,
    },
    ToolCall(&'a ToolCall),
    ToolProgress {
        id: &'a str,
        name: &'a str,
        text: &'a str,
    },
    ToolResult(&'a ToolOutcome),
    Title {
        title: &'a str,
    },
    Usage(&'a Usage),
    Done {
        finish_reason: FinishReason,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        models: &'a [String],
    },
    Error {
        code: domain::ErrorCode,
        message: &'a str,
        retryable: bool,
        request_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_seconds: Option<u64>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        models: &'a [String],
    },
}

impl<'a> Payload<'a> {
    /// The event's object, if it has one. `models` lists the models that wrote the answer if not only the first one
    /// did.
    fn from_event(event: &'a Event, request_id: &'a str, models: &'a [String]) -> Option<Self> {
        Some(match event {
            // Native requests cannot declare client tools.
            Event::ModelSwitched { .. } | Event::ClientToolCall(_) => return None,
            Event::Started(started) => Self::Start {
                conversation_id: &started.conversation_id,
                message_id: &started.message_id,
                model: &started.model,
            },
            Event::Text { delta } => Self::Content { content: delta },
            Event::Thinking { delta } => Self::Thinking { thinking: delta },
            Event::ToolCall(call) => Self::ToolCall(call),
            Event::ToolProgress(progress) => {
                Self::ToolProgress { id: &progress.id, name: &progress.name, text: &progress.text }
            }
            Event::ToolResult(report) => Self::ToolResult(report),
            Event::Title(title) => Self::Title { title },
            Event::Usage(usage) => Self::Usage(usage),
            Event::Done { finish_reason } => Self::Done { finish_reason: *finish_reason, models },
            Event::Failed(failure) => Self::Error {
                code: failure.code,
                message: &failure.message,
                retryable: failure.code.is_retryable(),
                request_id,
                retry_after_seconds: failure.retry_after_seconds,
                models,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::{ErrorCode, Failure, Source, ToolProgress, TurnStart};
    use serde_json::json;

    use super::*;

    fn frames(events: &[Event]) -> String {
        let mut protocol = NativeSse::new("01T", "req-1");
        let mut out = String::new();
        for event in events {
            protocol.write_frames(event, &mut out);
        }
        out
    }

    #[test]
    fn delta_frame_matches_serialised_object() {
        for text in ["", "a", "好的 🙂", "\"", "\\", "\n", "\u{0}", "\u{1f}", "\u{7f}", "a\tb\u{2028}</script>"] {
            for (event, name) in
                [(Event::Text { delta: text.into() }, "content"), (Event::Thinking { delta: text.into() }, "thinking")]
            {
                let object = serde_json::to_string(&Payload::from_event(&event, "", &[]).unwrap()).unwrap();
                assert_eq!(object, format!(r#"{{"type":"{name}","{name}":{}}}"#, json!(text)));
                assert_eq!(frames(&[event]), format!("id: 01T-1\ndata: {object}\n\n"));
            }
        }
    }

    #[test]
    fn turn_matches_the_documented_transcript() {
        let events = [
            Event::Started(Box::new(TurnStart {
                conversation_id: "01C".into(),
                message_id: "01M".into(),
                model: "volcano".into(),
            })),
            Event::Thinking { delta: "想".into() },
            Event::Text { delta: "好的，马上查询。".into() },
            Event::ToolCall(Box::new(ToolCall {
                id: "call_1".into(),
                name: "search_web".into(),
                arguments: json!({"query": "今天北京天气预报"}),
            })),
            Event::ToolResult(Box::new(ToolOutcome {
                id: "call_1".into(),
                name: "search_web".into(),
                ok: true,
                cached: false,
                duration_ms: 812,
                summary: "10 results".into(),
                sources: vec![Source { index: 1, title: "天气".into(), url: "https://example.com".into() }],
                error: None,
            })),
            Event::Title("天气".into()),
            Event::Usage(Box::new(Usage {
                input_tokens: 812,
                output_tokens: 143,
                search_credits: 2,
                estimated: false,
                cost_micros: None,
            })),
            Event::Done { finish_reason: FinishReason::ToolLimit },
        ];
        let expected = r#"id: 01T-1
data: {"type":"start","conversationId":"01C","messageId":"01M","model":"volcano"}

id: 01T-2
data: {"type":"thinking","thinking":"想"}

id: 01T-3
data: {"type":"content","content":"好的，马上查询。"}

id: 01T-4
data: {"type":"tool_call","id":"call_1","name":"search_web","arguments":{"query":"今天北京天气预报"}}

id: 01T-5
data: {"type":"tool_result","id":"call_1","name":"search_web","ok":true,"cached":false,"durationMs":812,"summary":"10 results","sources":[{"index":1,"title":"天气","url":"https://example.com"}]}

id: 01T-6
data: {"type":"title","title":"天气"}

id: 01T-7
data: {"type":"usage","inputTokens":812,"outputTokens":143,"searchCredits":2,"estimated":false}

id: 01T-8
data: {"type":"done","finishReason":"tool_limit"}

data: [DONE]

"#;
        assert_eq!(frames(&events), expected);
    }

    #[test]
    fn error_frame_contains_retry_information() {
        let failure = Failure::from(ErrorCode::RateLimited).with_retry_after(7);
        let expected = concat!(
            "id: 01T-1\ndata: {\"type\":\"error\",\"code\":\"rate_limited\",",
            "\"message\":\"Too many requests. Please wait a moment.\",\"retryable\":true,",
            "\"requestId\":\"req-1\",\"retryAfterSeconds\":7}\n\ndata: [DONE]\n\n"
        );
        assert_eq!(frames(&[Event::Failed(Box::new(failure))]), expected);
    }

    #[test]
    fn failover_models_are_listed_at_the_end() {
        let (text, switched) = (Event::Text { delta: "a".into() }, Event::ModelSwitched { model: "backup".into() });
        let done = Event::Done { finish_reason: FinishReason::Stop };
        let started = Event::Started(Box::new(TurnStart {
            conversation_id: "c".into(),
            message_id: "m".into(),
            model: "first".into(),
        }));
        let end = |events: &[Event]| frames(events).lines().rev().nth(3).unwrap_or_default().to_owned();
        let continued = r#"data: {"type":"done","finishReason":"stop","models":["first","backup"]}"#;
        assert_eq!(end(&[started.clone(), text.clone(), switched.clone(), text.clone(), done.clone()]), continued);
        let replaced = r#"data: {"type":"done","finishReason":"stop","models":["backup"]}"#;
        assert_eq!(end(&[started.clone(), switched, text.clone(), done.clone()]), replaced);
        assert_eq!(end(&[started, text, done]), r#"data: {"type":"done","finishReason":"stop"}"#);
    }

    #[test]
    fn progress_has_its_own_frame() {
        let progress = Event::ToolProgress(Box::new(ToolProgress {
            id: "call_1".into(),
            name: "report".into(),
            text: "第一章\n".into(),
        }));
        let expected = concat!(
            "id: 01T-1\ndata: {\"type\":\"tool_progress\",\"id\":\"call_1\",\"name\":\"report\",",
            "\"text\":\"第一章\\n\"}\n\n"
        );
        assert_eq!(frames(&[progress]), expected);
    }

    #[test]
    fn f111_line_ends_in_text_cannot_forge_a_frame() {
        let out = frames(&[Event::Text { delta: "a\r\n\r\ndata: [DONE]\n\nb\r".into() }]);
        assert_eq!(out.lines().count(), 3);
        assert!(out.contains(r"a\r\n\r\ndata: [DONE]\n\nb\r"));
    }

    #[test]
    fn model_switch_has_no_frame() {
        let switched = Event::ModelSwitched { model: "backup".into() };
        for event in [switched, Event::Title("a".into()), Event::Done { finish_reason: FinishReason::Stop }] {
            assert_eq!(has_frame(&event), !frames(std::slice::from_ref(&event)).is_empty(), "{event:?}");
        }
        assert!(!has_frame(&Event::ModelSwitched { model: "backup".into() }));
    }
}
