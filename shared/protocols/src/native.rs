use conversation::{Event, FinishReason, ToolCall, ToolReport, Usage};
use serde::Serialize;

use crate::Protocol;

/// The product's own protocol: deltas, one `data:` line per frame with a numbered id, then `data: [DONE]`.
pub struct Native {
    turn_id: String,
    request_id: String,
    frames: u64,
}

impl Native {
    /// Frames are numbered `<turn_id>-1`, `-2`, …; `request_id` goes into an error frame.
    pub fn new(turn_id: impl Into<String>, request_id: impl Into<String>) -> Self {
        Self { turn_id: turn_id.into(), request_id: request_id.into(), frames: 0 }
    }

    /// Appends one frame that holds `payload`, and the end marker if it ends the turn.
    pub(crate) fn write<T: Serialize>(&mut self, payload: &T, ends: bool, out: &mut String) {
        use std::fmt::Write;
        self.frames += 1;
        // Writing to a string and serialising plain data cannot fail.
        let data = serde_json::to_string(payload).unwrap_or_default();
        let _ = write!(out, "id: {}-{}\ndata: {data}\n\n", self.turn_id, self.frames);
        if ends {
            out.push_str("data: [DONE]\n\n");
        }
    }
}

impl Protocol for Native {
    fn frames(&mut self, event: &Event, out: &mut String) {
        let ends = matches!(event, Event::Done { .. } | Event::Failed(_));
        let request_id = std::mem::take(&mut self.request_id);
        self.write(&Payload::of(event, &request_id), ends, out);
        self.request_id = request_id;
    }
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
    ToolResult(&'a ToolReport),
    Title {
        title: &'a str,
    },
    Usage(&'a Usage),
    Done {
        finish_reason: FinishReason,
    },
    Error {
        code: conversation::ErrorCode,
        message: &'a str,
        retryable: bool,
        request_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_seconds: Option<u64>,
    },
}

impl<'a> Payload<'a> {
    fn of(event: &'a Event, request_id: &'a str) -> Self {
        match event {
            Event::Started { conversation_id, message_id, model } => Self::Start { conversation_id, message_id, model },
            Event::Text { delta } => Self::Content { content: delta },
            Event::Thinking { delta } => Self::Thinking { thinking: delta },
            Event::ToolCall(call) => Self::ToolCall(call),
            Event::ToolResult(report) => Self::ToolResult(report),
            Event::Title(title) => Self::Title { title },
            Event::Usage(usage) => Self::Usage(usage),
            Event::Done { finish_reason } => Self::Done { finish_reason: *finish_reason },
            Event::Failed(failure) => Self::Error {
                code: failure.code,
                message: &failure.message,
                retryable: failure.code.retryable(),
                request_id,
                retry_after_seconds: failure.retry_after,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use conversation::{ErrorCode, Failure, Source};
    use serde_json::json;

    use super::*;

    fn frames(events: &[Event]) -> String {
        let mut protocol = Native::new("01T", "req-1");
        let mut out = String::new();
        for event in events {
            protocol.frames(event, &mut out);
        }
        out
    }

    #[test]
    fn the_transcript_of_the_contract_comes_out_to_the_letter() {
        let events = [
            Event::Started { conversation_id: "01C".into(), message_id: "01M".into(), model: "volcano".into() },
            Event::Thinking { delta: "想".into() },
            Event::Text { delta: "好的，马上查询。".into() },
            Event::ToolCall(ToolCall {
                id: "call_1".into(),
                name: "search_web".into(),
                arguments: json!({"query": "今天北京天气预报"}),
            }),
            Event::ToolResult(ToolReport {
                id: "call_1".into(),
                name: "search_web".into(),
                ok: true,
                cached: false,
                duration_ms: 812,
                summary: "10 results".into(),
                sources: vec![Source { index: 1, title: "天气".into(), url: "https://example.com".into() }],
                error: None,
            }),
            Event::Title("天气".into()),
            Event::Usage(Usage { input_tokens: 812, output_tokens: 143, search_credits: 2, estimated: false }),
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
    fn an_error_frame_says_whether_and_when_to_try_again() {
        let failure = Failure::from(ErrorCode::RateLimited).retry_after(7);
        let expected = concat!(
            "id: 01T-1\ndata: {\"type\":\"error\",\"code\":\"rate_limited\",",
            "\"message\":\"Too many requests. Please wait a moment.\",\"retryable\":true,",
            "\"requestId\":\"req-1\",\"retryAfterSeconds\":7}\n\ndata: [DONE]\n\n"
        );
        assert_eq!(frames(&[Event::Failed(failure)]), expected);
    }

    #[test]
    fn f111_line_ends_in_text_cannot_forge_a_frame() {
        let out = frames(&[Event::Text { delta: "a\r\n\r\ndata: [DONE]\n\nb\r".into() }]);
        assert_eq!(out.lines().count(), 3);
        assert!(out.contains(r"a\r\n\r\ndata: [DONE]\n\nb\r"));
    }
}
