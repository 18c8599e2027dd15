use domain::{ErrorCode, ToolOutcome, TurnStart};

use super::*;

fn start() -> Event {
    Event::Started(Box::new(TurnStart {
        continues: false,
        conversation_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
        message_id: "01ARZ3NDEKTSV4RRFFQ69G5FAW".into(),
        model: "m".into(),
    }))
}

fn render(received: Option<u64>, events: &[Event]) -> String {
    let details = crate::openai::request_details(&json!({ "model": "m" }));
    let mut stream = ResponseStream::new(details, received, Some(7));
    let mut out = String::new();
    for event in events {
        stream.write_frames(event, &mut out);
    }
    out
}

/// A turn whose text arrives in pieces of this many characters.
fn turn(length: usize) -> Vec<Event> {
    let pieces = |text: &str, event: fn(String) -> AnswerDelta| {
        let characters: Vec<char> = text.chars().collect();
        let pieces = characters.chunks(length).map(|piece| Event::Delta(event(piece.iter().collect())));
        pieces.collect::<Vec<_>>()
    };
    let call = ToolCall { id: "1".into(), name: SEARCH_WEB.into(), arguments: json!({ "query": "茶" }) };
    let source = Source { index: 1, title: "茶".into(), url: "https://a.example".into(), excerpt: String::new() };
    let outcome = ToolOutcome {
        id: "1".into(),
        name: SEARCH_WEB.into(),
        ok: true,
        cached: false,
        duration_ms: 1,
        summary: String::new(),
        sources: vec![source],
        error: None,
    };
    let mut events = vec![start()];
    events.extend(pieces("先想一想，再去查一下", AnswerDelta::Thinking));
    events.extend(pieces("我查。", AnswerDelta::Text));
    events.push(Event::Tool(ToolEvent::Call(Box::new(call))));
    events.push(Event::Tool(ToolEvent::Result(Box::new(outcome))));
    events.extend(pieces("茶是一种饮料，来自中国[1]。🍵", AnswerDelta::Text));
    events.push(Event::End(Ok(FinishReason::Stop)));
    events
}

#[test]
fn events_do_not_depend_on_how_text_arrives() {
    let whole = render(None, &turn(100));
    for length in 1..9 {
        assert_eq!(render(None, &turn(length)), whole, "{length}");
    }
    let count = whole.matches("event: ").count();
    assert_eq!(whole.matches("\"delta\":").count(), 3 + 1 + 4);
    for received in 0..count {
        let rest = render(Some(received as u64), &turn(3));
        assert!(whole.ends_with(&rest) && rest.matches("event: ").count() == count - received - 1);
    }
}

#[test]
fn unfinished_search_fails_with_its_turn() {
    let call = ToolCall { id: "1".into(), name: READ_URL.into(), arguments: json!({ "url": "https://a.example" }) };
    let failure = Failure::from(ErrorCode::RateLimited).with_retry_after(7);
    let events = [start(), Event::Tool(ToolEvent::Call(Box::new(call))), Event::End(Err(Box::new(failure)))];
    let out = render(None, &events);
    let last = out.strip_suffix("\n\ndata: [DONE]\n\n").and_then(|out| out.rsplit("data: ").next()).unwrap();
    let response = serde_json::from_str::<Value>(last).unwrap()["response"].clone();
    assert_eq!((&response["status"], &response["output"][0]["status"]), (&json!("failed"), &json!("failed")));
    assert_eq!(response["output"][0]["action"], json!({ "type": "open_page", "url": "https://a.example" }));
    let message = "Too many requests. Please wait a moment. Please try again in 7s.";
    assert_eq!(response["error"], json!({ "code": "rate_limit_exceeded", "message": message }));
}

#[test]
fn withdrawn_text_is_reasoning_of_a_whole_response() {
    let text = |text: &str| Event::Delta(AnswerDelta::Text(text.into()));
    let mut stream =
        ResponseStream::new(crate::openai::request_details(&json!({ "model": "m" })), Some(u64::MAX), Some(7));
    let mut out = String::new();
    for event in [start(), text("想一想再说"), Event::Delta(AnswerDelta::Reclassified(5)), text("好。")] {
        stream.write_frames(&event, &mut out);
    }
    stream.write_frames(&Event::End(Ok(FinishReason::Stop)), &mut out);
    let response = stream.response();
    assert_eq!(response["output"][0]["summary"][0]["text"], "想一想再说");
    assert_eq!(response["output"][1]["content"][0]["text"], "好。");
    assert_eq!((response["output"].as_array().unwrap().len(), &response["created_at"]), (2, &json!(1_469_922_850)));
}
