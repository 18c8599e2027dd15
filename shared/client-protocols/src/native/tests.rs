use domain::{AnswerDelta, ErrorCode, Failure, Source, ToolProgress, TurnStart};
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
        for (event, name) in [
            (Event::Delta(AnswerDelta::Text(text.into())), "content"),
            (Event::Delta(AnswerDelta::Thinking(text.into())), "thinking"),
        ] {
            let object = format!(r#"{{"type":"{name}","{name}":{}}}"#, json!(text));
            let rendered = frames(&[event]);
            let (id, data) = rendered.split_once('\n').unwrap();
            assert!(id.starts_with("id: 01T-"), "{id}");
            assert_eq!(data, format!("data: {object}\n\n"));
        }
    }
}

#[test]
fn turn_matches_the_documented_transcript() {
    let events = [
        Event::Started(Box::new(TurnStart {
            continues: false,
            conversation_id: "01C".into(),
            message_id: "01M".into(),
            model: "volcano".into(),
        })),
        Event::Delta(AnswerDelta::Thinking("想".into())),
        Event::Delta(AnswerDelta::Text("好的，马上查询。".into())),
        Event::Tool(ToolEvent::Call(Box::new(ToolCall {
            id: "call_1".into(),
            name: "search_web".into(),
            arguments: json!({"query": "今天北京天气预报"}),
        }))),
        Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
            id: "call_1".into(),
            name: "search_web".into(),
            ok: true,
            cached: false,
            duration_ms: 812,
            summary: "10 results".into(),
            sources: vec![Source {
                index: 1,
                title: "天气".into(),
                url: "https://example.com".into(),
                excerpt: String::new(),
            }],
            error: None,
        }))),
        Event::Note(Note::Title("天气".into())),
        Event::Note(Note::Usage(Box::new(Usage {
            input_tokens: 812,
            cached_tokens: 0,
            output_tokens: 143,
            search_credits: 2,
            estimated: false,
            cost_micros: None,
        }))),
        Event::End(Ok(FinishReason::ToolLimit)),
    ];
    let expected = r#"id: 01T-1.0
data: {"type":"start","conversationId":"01C","messageId":"01M","model":"volcano"}

id: 01T-4.13
data: {"type":"thinking","thinking":"想"}

id: 01T-28.13
data: {"type":"content","content":"好的，马上查询。"}

id: 01T-29.1311
data: {"type":"tool_call","id":"call_1","name":"search_web","arguments":{"query":"今天北京天气预报"}}

id: 01T-30.131111
data: {"type":"tool_result","id":"call_1","name":"search_web","ok":true,"cached":false,"durationMs":812,"summary":"10 results","sources":[{"index":1,"title":"天气","url":"https://example.com"}]}

id: 01T-31.1311110011
data: {"type":"title","title":"天气"}

id: 01T-32.1311110013
data: {"type":"usage","inputTokens":812,"outputTokens":143,"searchCredits":2,"estimated":false}

id: 01T-33.1311110017
data: {"type":"done","finishReason":"tool_limit"}

data: [DONE]

"#;
    assert_eq!(frames(&events), expected);
}

#[test]
fn error_frame_contains_retry_information() {
    let failure = Failure::from(ErrorCode::RateLimited).with_retry_after(7);
    let expected = concat!(
        "id: 01T-2.0000014\ndata: {\"type\":\"error\",\"code\":\"rate_limited\",",
        "\"message\":\"Too many requests. Please wait a moment.\",\"retryable\":true,",
        "\"requestId\":\"req-1\",\"retryAfterSeconds\":7}\n\ndata: [DONE]\n\n"
    );
    assert_eq!(frames(&[Event::End(Err(Box::new(failure)))]), expected);
}

#[test]
fn failover_models_are_listed_at_the_end() {
    let (text, switched) =
        (Event::Delta(AnswerDelta::Text("a".into())), Event::Note(Note::ModelSwitched("backup".into())));
    let done = Event::End(Ok(FinishReason::Stop));
    let started = Event::Started(Box::new(TurnStart {
        continues: false,
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
    let progress = Event::Tool(ToolEvent::Progress(Box::new(ToolProgress {
        id: "call_1".into(),
        name: "report".into(),
        text: "第一章\n".into(),
    })));
    let expected = concat!(
        "id: 01T-2.00011\ndata: {\"type\":\"tool_progress\",\"id\":\"call_1\",\"name\":\"report\",",
        "\"text\":\"第一章\\n\"}\n\n"
    );
    assert_eq!(frames(&[progress]), expected);
}

#[test]
fn f111_line_ends_in_text_cannot_forge_a_frame() {
    let out = frames(&[Event::Delta(AnswerDelta::Text("a\r\n\r\ndata: [DONE]\n\nb\r".into()))]);
    assert_eq!(out.lines().count(), 3);
    assert!(out.contains(r"a\r\n\r\ndata: [DONE]\n\nb\r"));
}

#[test]
fn model_switch_has_no_frame() {
    assert_eq!(frames(&[Event::Note(Note::ModelSwitched("backup".into()))]), "");
    for event in [Event::Note(Note::Title("a".into())), Event::End(Ok(FinishReason::Stop))] {
        assert!(!frames(std::slice::from_ref(&event)).is_empty(), "{event:?}");
    }
}

#[test]
fn resumed_stream_has_the_rest() {
    let events = [
        Event::Delta(AnswerDelta::Text("a\n\nid: ".into())),
        Event::Note(Note::ModelSwitched("other".into())),
        Event::Delta(AnswerDelta::Text("b茶".into())),
        Event::End(Ok(FinishReason::Stop)),
    ];
    let render = |received: &str| {
        let mut protocol = NativeSse::new("01T", "req-1").resume_after(TurnPosition::parse(received).unwrap());
        let mut out = String::new();
        for event in &events {
            protocol.write_frames(event, &mut out);
        }
        out.split_inclusive("\n\n").map(str::to_owned).collect::<Vec<_>>()
    };
    let all: Vec<String> = frames(&events).split_inclusive("\n\n").map(str::to_owned).collect();
    for (received, seen) in [("8.0", 1), ("12.0", 2), ("13.0000014", 3), ("1", 1), ("2", 2)] {
        assert_eq!(render(received), all[seen..], "{received}");
    }
    assert_eq!(render("9.0")[0], "id: 01T-12.0\ndata: {\"type\":\"content\",\"content\":\"茶\"}\n\n");
    let ahead = render("99.0");
    assert!(ahead[0].starts_with("id: 01T-100.0000014\ndata: {\"type\":\"done\""), "ids grow: {}", ahead[0]);
    assert_eq!(ahead[1..], all[3..], "a client ahead of the known events gets the end");
    for counted in ["3", "9"] {
        assert_eq!(render(counted), all[2..], "an earlier id counts frames, but never the end");
    }
}
