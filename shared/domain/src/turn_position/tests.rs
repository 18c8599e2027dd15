use serde_json::json;

use super::*;
use crate::{AnswerDelta, FinishReason, ToolCall, ToolOutcome, ToolProgress, TurnStart};

fn text(delta: &str) -> Event {
    Event::Delta(AnswerDelta::Text(delta.to_owned()))
}

fn call(id: &str) -> Event {
    Event::Tool(ToolEvent::Call(Box::new(ToolCall { id: id.to_owned(), name: "t".to_owned(), arguments: json!({}) })))
}

fn result(id: &str) -> Event {
    Event::Tool(ToolEvent::Result(Box::new(ToolOutcome {
        id: id.to_owned(),
        name: "t".to_owned(),
        ok: true,
        cached: false,
        duration_ms: 1,
        summary: String::new(),
        sources: Vec::new(),
        error: None,
    })))
}

/// A turn with every event that has a frame; the results arrive in another order than the calls.
fn turn() -> Vec<Event> {
    let progress = ToolProgress { id: "b".into(), name: "t".into(), text: "half".into() };
    vec![
        Event::Started(Box::new(TurnStart {
            continues: false,
            conversation_id: "C".into(),
            message_id: "M".into(),
            model: "m".into(),
        })),
        text("想一想"),
        Event::Delta(AnswerDelta::Reclassified(3)),
        Event::Delta(AnswerDelta::Thinking("🍵".into())),
        text("好"),
        call("a"),
        call("b"),
        call("c"),
        Event::Tool(ToolEvent::Progress(Box::new(progress))),
        result("c"),
        result("b"),
        result("a"),
        text("的。"),
        Event::Note(Note::Title("茶".into())),
        Event::Note(Note::Usage(Box::default())),
        Event::End(Ok(FinishReason::Stop)),
    ]
}

/// The events that a client lacks that has received so much, and the position after each.
fn missing(events: &[Event], received: &TurnPosition) -> Vec<(Event, TurnPosition)> {
    let mut tracker = PositionTracker::default();
    let advance = |event| {
        let missing = tracker.advance(event, received).map(Cow::into_owned)?;
        Some((missing, tracker.position().clone()))
    };
    events.iter().filter_map(advance).collect()
}

fn written(position: &TurnPosition) -> String {
    let mut out = String::new();
    position.write(&mut out);
    out
}

/// The texts one character at a time.
fn divided(events: &[Event]) -> Vec<Event> {
    let divide = |event: &Event| match event {
        Event::Delta(AnswerDelta::Text(delta)) => delta.chars().map(|one| text(&one.to_string())).collect(),
        Event::Delta(AnswerDelta::Thinking(delta)) => {
            delta.chars().map(|one| Event::Delta(AnswerDelta::Thinking(one.to_string()))).collect()
        }
        event => vec![event.clone()],
    };
    events.iter().flat_map(divide).collect()
}

#[test]
fn rest_follows_every_position_of_any_division() {
    let (whole, single) = (turn(), divided(&turn()));
    let all = missing(&single, &TurnPosition::default());
    assert_eq!(all.len(), single.len());
    for (index, (_, position)) in all.iter().enumerate() {
        let received = TurnPosition::parse(&written(position)).unwrap();
        for source in [&whole, &single] {
            let rest: Vec<Event> = missing(source, &received).into_iter().map(|(event, _)| event).collect();
            assert_eq!(divided(&rest), single[index + 1..], "{}", written(position));
        }
    }
}

#[test]
fn results_in_another_order_are_not_repeated() {
    let before = [call("a"), call("b"), result("b")];
    let (_, received) = missing(&before, &TurnPosition::default()).pop().unwrap();
    let rest = missing(&[call("a"), result("a"), call("b"), result("b"), text("x")], &received);
    let rest: Vec<Event> = rest.into_iter().map(|(event, _)| event).collect();
    assert_eq!(rest, [result("a"), text("x")]);
}

#[test]
fn text_form_grows_as_a_number() {
    let positions: Vec<String> =
        missing(&turn(), &TurnPosition::default()).iter().map(|(_, position)| written(position)).collect();
    assert_eq!(positions[..4], ["1.0", "10.0", "11.000011", "15.1400011"]);
    let totals: Vec<f64> = positions.iter().map(|position| position.parse().unwrap()).collect();
    assert!(totals.is_sorted_by(|one, next| one.floor() < next.floor()), "{positions:?}");
}

#[test]
fn union_has_both_parts() {
    let union = |one: &str, other: &str| {
        let union = TurnPosition::parse(one).unwrap().union(&TurnPosition::parse(other).unwrap());
        assert_eq!(union, TurnPosition::parse(other).unwrap().union(&TurnPosition::parse(one).unwrap()));
        written(&union)
    };
    assert_eq!(union("9.12", "8.14"), "11.14");
    let (_, early) = missing(&[call("a"), call("b"), result("b")], &TurnPosition::default()).pop().unwrap();
    let (_, first) = missing(&[call("a"), call("b"), result("a")], &TurnPosition::default()).pop().unwrap();
    assert_eq!(union(&written(&early), &written(&first)), "5.01212");
}

#[test]
fn other_texts_are_no_positions() {
    for text in [
        "",
        ".",
        "0",
        "01",
        "+1",
        "-1",
        " 1",
        "x",
        "18446744073709551616",
        "1.",
        "1.00",
        "0.0",
        "01.0",
        "1.1",
        "1.10",
        "1.11",
        "9.2+1",
        "9.x",
        "9.汉",
        "9.0.0",
        "18446744073709551616.0",
    ] {
        assert_eq!(TurnPosition::parse(text), None, "{text}");
    }
}

#[test]
fn earlier_ids_count_frames() {
    let position = TurnPosition::parse("12").unwrap();
    assert_eq!((position.frames(), written(&position).as_str()), (Some(12), "12"));
    assert_eq!(TurnPosition::parse("12.0").unwrap().frames(), None);
}
