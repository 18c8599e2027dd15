use domain::{AnswerDelta, ErrorCode, ToolFailure, ToolProgress, TurnStart};
use serde_json::json;

use super::*;

fn frames(events: &[Event]) -> String {
    let mut protocol = AiSdkStream::new("req-1");
    let mut out = String::new();
    for event in events {
        protocol.write_frames(event, &mut out);
    }
    out
}

/// The frames of a turn with these events after its start, without the blank lines between.
fn lines(events: &[Event]) -> Vec<String> {
    let out = frames(&[&[started()], events].concat());
    assert!(out.ends_with("data: [DONE]\n\n") && out.matches("[DONE]").count() == 1, "{out}");
    let lines = out.split("\n\n").filter_map(|frame| frame.strip_prefix("data: ")).skip(1).map(str::to_owned);
    lines.filter(|line| line != "[DONE]").collect()
}

fn started() -> Event {
    Event::Started(Box::new(TurnStart {
        continues: false,
        conversation_id: "01C".into(),
        message_id: "01M".into(),
        model: "volcano".into(),
    }))
}

fn text(delta: &str) -> Event {
    Event::Delta(AnswerDelta::Text(delta.into()))
}

fn thinking(delta: &str) -> Event {
    Event::Delta(AnswerDelta::Thinking(delta.into()))
}

fn call(id: &str) -> Event {
    Event::Tool(ToolEvent::Call(Box::new(ToolCall {
        id: id.into(),
        name: "search_web".into(),
        arguments: json!({"query": "天气"}),
    })))
}

fn result(id: &str, urls: &[&str], error: Option<&str>) -> Event {
    // The page `https://a.example` has number 1.
    let number = |url: &str| usize::from(url.as_bytes()["https://".len()] - b'a') + 1;
    let source =
        |url: &&str| Source { index: number(url), title: "天气".into(), url: (*url).into(), excerpt: String::new() };
    Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
        id: id.into(),
        name: "search_web".into(),
        ok: error.is_none(),
        cached: false,
        duration_ms: 812,
        summary: "1 result".into(),
        sources: urls.iter().map(source).collect(),
        error: error.map(|message| ToolFailure { code: "failed".into(), message: message.into() }),
    })))
}

fn done(finish_reason: FinishReason) -> Event {
    Event::End(Ok(finish_reason))
}

const USAGE: Usage = Usage {
    input_tokens: 812,
    cached_tokens: 0,
    output_tokens: 143,
    search_credits: 2,
    estimated: false,
    cost_micros: None,
};

#[test]
fn search_turn_matches_the_expected_transcript() {
    let events = [
        started(),
        thinking("想"),
        text("好的。"),
        call("call_1"),
        result("call_1", &["https://a.example"], None),
        text("晴"),
        text("天。"),
        Event::Note(Note::Title("天气".into())),
        Event::Note(Note::Usage(Box::new(USAGE))),
        done(FinishReason::Stop),
    ];
    let expected = r#"data: {"type":"start","messageId":"01M","messageMetadata":{"conversationId":"01C","model":"volcano"}}

data: {"type":"start-step"}

data: {"type":"reasoning-start","id":"reasoning-1"}

data: {"type":"reasoning-delta","id":"reasoning-1","delta":"想"}

data: {"type":"reasoning-end","id":"reasoning-1"}

data: {"type":"text-start","id":"text-2"}

data: {"type":"text-delta","id":"text-2","delta":"好的。"}

data: {"type":"text-end","id":"text-2"}

data: {"type":"tool-input-available","toolCallId":"call_1","toolName":"search_web","input":{"query":"天气"},"dynamic":true,"providerExecuted":true}

data: {"type":"tool-output-available","toolCallId":"call_1","output":{"summary":"1 result","cached":false,"durationMs":812,"sources":[{"index":1,"title":"天气","url":"https://a.example"}]},"dynamic":true,"providerExecuted":true}

data: {"type":"source-url","sourceId":"source-1","url":"https://a.example","title":"天气"}

data: {"type":"finish-step"}

data: {"type":"start-step"}

data: {"type":"text-start","id":"text-3"}

data: {"type":"text-delta","id":"text-3","delta":"晴"}

data: {"type":"text-delta","id":"text-3","delta":"天。"}

data: {"type":"text-end","id":"text-3"}

data: {"type":"finish-step"}

data: {"type":"finish","finishReason":"stop","messageMetadata":{"finishReason":"stop","usage":{"inputTokens":812,"outputTokens":143,"searchCredits":2,"estimated":false},"title":"天气"}}

data: [DONE]

"#;
    assert_eq!(frames(&events), expected);
}

#[test]
fn parallel_calls_share_a_step_without_duplicate_sources() {
    let events = [
        call("1"),
        call("2"),
        result("2", &["https://a.example", "https://b.example"], None),
        text("还在查。"),
        result("1", &["https://b.example", "https://c.example"], None),
        done(FinishReason::ToolLimit),
    ];
    let lines = lines(&events);
    let of = |kind: &str| lines.iter().filter(|line| line.contains(kind)).collect::<Vec<_>>();
    assert_eq!((of("start-step").len(), of("finish-step").len()), (1, 1));
    let sources = [1, 2, 3].map(|n| format!("source-{n}"));
    assert!(of("source-url").iter().zip(&sources).all(|(line, id)| line.contains(id)) && of("source-url").len() == 3);
    let end = r#"{"type":"finish","finishReason":"other","messageMetadata":{"finishReason":"tool_limit"}}"#;
    assert_eq!(lines.last().map(String::as_str), Some(end));
}

#[test]
fn progress_is_sent_as_cumulative_preliminary_output() {
    let progress = |text: &str| {
        Event::Tool(ToolEvent::Progress(Box::new(ToolProgress {
            id: "1".into(),
            name: "report".into(),
            text: text.into(),
        })))
    };
    let lines = lines(&[
        call("1"),
        progress("一"),
        progress("二"),
        result("1", &[], Some("It broke.")),
        progress("三"),
        done(FinishReason::Stop),
    ]);
    let expected = [
        r#"{"type":"tool-output-available","toolCallId":"1","output":{"progress":"一"},"preliminary":true,"dynamic":true,"providerExecuted":true}"#,
        r#"{"type":"tool-output-available","toolCallId":"1","output":{"progress":"一二"},"preliminary":true,"dynamic":true,"providerExecuted":true}"#,
        r#"{"type":"tool-output-error","toolCallId":"1","errorText":"It broke.","dynamic":true,"providerExecuted":true}"#,
        r#"{"type":"finish-step"}"#,
    ];
    assert_eq!(lines.get(2..6), Some(&expected.map(str::to_owned)[..]));
}

#[test]
fn open_blocks_and_calls_close_before_turn_end() {
    let events = [
        text("半"),
        call("1"),
        thinking("想"),
        Event::Note(Note::Usage(Box::new(USAGE))),
        Event::End(Err(Box::new(Failure::from(ErrorCode::RateLimited).with_retry_after(7)))),
    ];
    let expected = [
        r#"{"type":"reasoning-end","id":"reasoning-2"}"#,
        r#"{"type":"tool-output-error","toolCallId":"1","errorText":"The call was not finished.","dynamic":true,"providerExecuted":true}"#,
        r#"{"type":"finish-step"}"#,
        r#"{"type":"message-metadata","messageMetadata":{"usage":{"inputTokens":812,"outputTokens":143,"searchCredits":2,"estimated":false},"error":{"code":"rate_limited","retryable":true,"requestId":"req-1","retryAfterSeconds":7}}}"#,
        r#"{"type":"error","errorText":"Too many requests. Please wait a moment."}"#,
    ];
    assert_eq!(lines(&events).split_off(7), expected);
}

#[test]
fn stopped_turn_is_aborted_with_metadata() {
    let expected = [
        r#"{"type":"text-end","id":"text-1"}"#,
        r#"{"type":"finish-step"}"#,
        r#"{"type":"message-metadata","messageMetadata":{"finishReason":"stopped"}}"#,
        r#"{"type":"abort"}"#,
    ];
    assert_eq!(lines(&[text("半"), done(FinishReason::Stopped)]).split_off(3), expected);
}

#[test]
fn empty_and_failed_over_answers_finish() {
    let end = r#"{"type":"finish","finishReason":"length","messageMetadata":{"finishReason":"length"}}"#;
    assert_eq!(lines(&[text(""), done(FinishReason::Length)]), [end]);
    let switched = Event::Note(Note::ModelSwitched("backup".into()));
    let last = lines(&[text("a"), switched, text("b"), done(FinishReason::ContentFilter)]).pop();
    let expected = r#"{"type":"finish","finishReason":"content-filter","messageMetadata":{"finishReason":"content_filter","models":["volcano","backup"]}}"#;
    assert_eq!(last.as_deref(), Some(expected));
}

#[test]
fn f111_line_ends_in_text_cannot_forge_a_chunk() {
    let out = frames(&[started(), text("a\r\n\r\ndata: [DONE]\n\nb\r")]);
    assert_eq!(out.matches("\n\n").count(), 4);
    assert!(out.contains(r"a\r\n\r\ndata: [DONE]\n\nb\r"));
}
