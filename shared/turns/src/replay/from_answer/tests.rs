use domain::{AnswerDelta, CallPosition, ModelAttribution, PositionTracker, ToolCall, TurnPosition, TurnStart, Usage};
use serde_json::json;
use store::{Role, Status, StoredMessage};

use super::*;

fn text(delta: &str) -> Event {
    Event::Delta(AnswerDelta::Text(delta.to_owned()))
}

fn call(id: &str) -> Event {
    Event::Tool(ToolEvent::Call(Box::new(ToolCall {
        id: id.to_owned(),
        name: "search_web".to_owned(),
        arguments: json!({}),
    })))
}

fn turn(content: &str, tally: Option<TurnOutcome>) -> StoredTurn {
    let call = |id: &str| StoredCall {
        id: id.to_owned(),
        name: "search_web".to_owned(),
        arguments: json!({}),
        ok: true,
        summary: "1 result".to_owned(),
        position: None,
        duration_ms: None,
        cached: false,
        client: false,
        error: None,
    };
    let message = StoredMessage {
        attachments: Vec::new(),
        feedback: None,
        id: "M".to_owned(),
        parent_id: None,
        siblings: Vec::new(),
        role: Role::Assistant,
        content: content.to_owned(),
        thinking: "想".to_owned(),
        thinking_ms: None,
        usage: None,
        model: "first".to_owned(),
        tool_calls: vec![call("a"), call("b")],
        sources: Vec::new(),
        models: vec!["first".to_owned(), "second".to_owned()],
        status: Status::Complete,
        finish_reason: None,
        error: None,
        created_at: String::new(),
    };
    StoredTurn { message, before: Default::default(), continues: false, outcome: tally, title: None }
}

fn ended() -> TurnOutcome {
    let end = TurnEnd::Done(FinishReason::Stop);
    TurnOutcome {
        usage: Usage::default(),
        end,
        models: Vec::new(),
        thinking_ms: None,
        error_message: None,
        reclassified: 0,
    }
}

fn logged(events: &[Event]) -> TurnAccumulator {
    let mut logged = TurnAccumulator::default();
    for event in events {
        logged.apply(event);
    }
    logged
}

/// What a client has read once the rest has arrived.
fn total(sent: &[Event], rest: &[Event]) -> (String, String, usize, usize) {
    let all = || sent.iter().chain(rest);
    let text =
        all().filter_map(
            |event| if let Event::Delta(AnswerDelta::Text(delta)) = event { Some(delta.as_str()) } else { None },
        );
    let thinking = all().filter_map(|event| {
        if let Event::Delta(AnswerDelta::Thinking(delta)) = event { Some(delta.as_str()) } else { None }
    });
    let calls = all().filter(|event| matches!(event, Event::Tool(ToolEvent::Call(_)))).count();
    let results = all().filter(|event| matches!(event, Event::Tool(ToolEvent::Result(_)))).count();
    (text.collect(), thinking.collect(), calls, results)
}

#[test]
fn rest_completes_a_turn_cut_anywhere() {
    let started = Event::Started(Box::new(TurnStart {
        continues: false,
        conversation_id: "C".into(),
        message_id: "M".into(),
        model: "first".into(),
    }));
    let over = Event::Note(Note::ModelSwitched("second".into()));
    let sent =
        [started, Event::Delta(AnswerDelta::Thinking("想".into())), text("一"), call("a"), over, text("二"), call("b")];
    for cut in 0..=sent.len() {
        let rest = remaining(&logged(&sent[..cut]), turn("一二三", Some(ended()))).unwrap();
        assert_eq!(total(&sent[..cut], &rest), ("一二三".to_owned(), "想".to_owned(), 2, 2), "{cut}");
        let end = &rest[rest.len() - 2..];
        assert_eq!(end, [Event::Note(Note::Usage(Box::default())), Event::End(Ok(FinishReason::Stop))]);
        let mut writers = ModelAttribution::default();
        sent[..cut].iter().chain(&rest).for_each(|event| writers.record(event));
        assert!(cut == 0 || writers.models().last().is_some_and(|last| last == "second"), "{cut}");
    }
}

#[test]
fn long_texts_are_bounded_deltas() {
    let (content, mut turn) = ("汉字".repeat(MAX_DELTA_BYTES), turn("", Some(ended())));
    (turn.message.content, turn.message.thinking) = (content.clone(), content.clone());
    let events = events_of_answer("C", turn.message);
    assert_eq!(total(&[], &events), (content.clone(), content, 2, 2));
    let is_bounded = |event: &Event| match event {
        Event::Delta(AnswerDelta::Text(delta) | AnswerDelta::Thinking(delta)) => delta.len() <= MAX_DELTA_BYTES,
        _ => true,
    };
    assert!(events.iter().all(is_bounded));
}

#[test]
fn other_answer_is_not_appended() {
    for outcome in [Some(ended()), None] {
        assert_eq!(remaining(&logged(&[text("一")]), turn("别的", outcome)), None);
    }
}

#[test]
fn crash_interrupts_after_the_recovered_text() {
    let rest = remaining(&logged(&[text("一")]), turn("一二", None)).unwrap();
    assert_eq!(total(&[text("一")], &rest), ("一二".to_owned(), "想".to_owned(), 2, 2));
    assert_eq!(rest[rest.len() - 2..], interrupted_end(ErrorCode::Interrupted.into()));
}

#[test]
fn lost_reclassification_is_not_appended() {
    let outcome = TurnOutcome { reclassified: 1, ..ended() };
    assert_eq!(remaining(&logged(&[text("一")]), turn("一二", Some(outcome.clone()))), None);
    let logged = logged(&[text("想"), Event::Delta(AnswerDelta::Reclassified(1)), text("一")]);
    let rest = remaining(&logged, turn("一二", Some(outcome))).unwrap();
    assert_eq!(rest.iter().filter(|event| **event == text("二")).count(), 1);
}

fn result(id: &str) -> Event {
    Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
        id: id.to_owned(),
        name: "search_web".to_owned(),
        ok: true,
        cached: true,
        duration_ms: 0,
        summary: "1 result".to_owned(),
        sources: Vec::new(),
        error: None,
    })))
}

/// A turn whose results arrive in another order than its calls, as a client receives it.
fn recorded() -> Vec<Event> {
    let start =
        TurnStart { continues: false, conversation_id: "C".into(), message_id: "M".into(), model: "first".into() };
    vec![
        Event::Started(Box::new(start)),
        Event::Delta(AnswerDelta::Thinking("想一想".into())),
        text("好，"),
        call("a"),
        call("b"),
        result("b"),
        result("a"),
        Event::Delta(AnswerDelta::Thinking("🍵".into())),
        text("一二"),
        call("c"),
        result("c"),
        text("三。"),
        Event::Note(Note::Title("茶".into())),
        Event::Note(Note::Usage(Box::default())),
        Event::End(Ok(FinishReason::Stop)),
    ]
}

fn recorded_answer() -> StoredTurn {
    let turn_of = logged(&recorded());
    let calls = turn_of.calls.iter();
    let calls = calls.map(|known| StoredCall::new(&known.call, known.outcome.as_ref(), Some(known.position)));
    let StoredTurn { message, outcome, before, .. } = turn(&turn_of.content, Some(ended()));
    let message =
        StoredMessage { thinking: turn_of.thinking, tool_calls: calls.collect(), models: Vec::new(), ..message };
    StoredTurn { message, before, continues: false, outcome, title: Some("茶".to_owned()) }
}

/// One character at a time, results in the order of their calls, and reasoning before text.
fn received_parts(events: &[Event]) -> Vec<(u8, String)> {
    let mut parts = Vec::new();
    for event in events {
        match event {
            Event::Delta(AnswerDelta::Thinking(delta)) => parts.extend(delta.chars().map(|one| (0, one.to_string()))),
            Event::Delta(AnswerDelta::Text(delta)) => parts.extend(delta.chars().map(|one| (1, one.to_string()))),
            Event::Tool(ToolEvent::Call(call)) => parts.push((2, call.id.clone())),
            Event::Tool(ToolEvent::Result(outcome)) => parts.push((3, outcome.id.clone())),
            event => parts.push((4, format!("{event:?}"))),
        }
    }
    parts.sort_by(|one, other| {
        let by_name = if one.0 == 3 { one.1.cmp(&other.1) } else { std::cmp::Ordering::Equal };
        one.0.cmp(&other.0).then(by_name)
    });
    parts
}

#[test]
fn rebuilt_turn_continues_at_any_position() {
    let all = recorded();
    let single: Vec<Event> = all.iter().flat_map(divide).collect();
    for cut in 1..=single.len() {
        let mut client = PositionTracker::default();
        single[..cut].iter().for_each(|event| _ = client.advance(event, &TurnPosition::default()));
        for logged_events in 0..=all.len() {
            let (log, answer) = (&all[..logged_events], recorded_answer());
            let has_end = log.last().is_some_and(Event::is_end);
            let start = if log.is_empty() { &all[..1] } else { log };
            let rest = if has_end { Vec::new() } else { remaining(&logged(log), answer).unwrap() };
            let (mut tracker, mut received) = (PositionTracker::default(), single[..cut].to_vec());
            for event in start.iter().chain(&rest) {
                received.extend(tracker.advance(event, client.position()).map(std::borrow::Cow::into_owned));
            }
            let has_title = log.iter().any(|event| matches!(event, Event::Note(Note::Title(_))));
            if has_title && !has_end {
                continue;
            }
            assert_eq!(received_parts(&received), received_parts(&all), "{cut} {logged_events}");
        }
    }
}

/// The texts one character at a time.
fn divide(event: &Event) -> Vec<Event> {
    match event {
        Event::Delta(AnswerDelta::Text(delta)) => delta.chars().map(|one| text(&one.to_string())).collect(),
        Event::Delta(AnswerDelta::Thinking(delta)) => {
            delta.chars().map(|one| Event::Delta(AnswerDelta::Thinking(one.to_string()))).collect()
        }
        event => vec![event.clone()],
    }
}

#[test]
fn rebuilt_calls_follow_what_preceded_them() {
    let kinds = |events: &[Event]| -> Vec<String> {
        let shown = |event: &Event| match event {
            Event::Delta(AnswerDelta::Thinking(delta) | AnswerDelta::Text(delta)) => Some(delta.clone()),
            Event::Tool(ToolEvent::Call(call)) => Some(format!("call {}", call.id)),
            _ => None,
        };
        events.iter().filter_map(shown).collect()
    };
    let rebuilt = remaining(&TurnAccumulator::default(), recorded_answer()).unwrap();
    assert_eq!(kinds(&rebuilt), kinds(&recorded()));
    let mut earlier = recorded_answer();
    earlier.message.tool_calls.iter_mut().for_each(|call| call.position = None::<CallPosition>);
    let rebuilt = remaining(&TurnAccumulator::default(), earlier).unwrap();
    assert_eq!(kinds(&rebuilt), ["想一想🍵", "call a", "call b", "call c", "好，一二三。"]);
}
