use domain::ToolCall;
use serde_json::json;

use super::*;

const FAMILY: Family = Family::O200k;

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn said(text: &str) -> Message {
    Message::Assistant { text: text.into(), thinking: String::new(), calls: Vec::new() }
}

fn result(id: &str, content: &str) -> Message {
    Message::Tool(ToolMessage { call_id: id.into(), name: "f".into(), ok: true, content: content.into() })
}

fn calling(id: &str, thinking: &str) -> Message {
    let call = ToolCall { id: id.into(), name: "f".into(), arguments: json!({}) };
    Message::Assistant { text: String::new(), thinking: thinking.into(), calls: vec![call] }
}

fn past(turns: impl IntoIterator<Item = Vec<Message>>) -> Vec<HistoryTurn> {
    (1..).zip(turns).map(|(number, messages)| HistoryTurn { seq: number * 2, messages }).collect()
}

fn plain(count: usize) -> Vec<HistoryTurn> {
    past((0..count).map(|number| vec![user(&format!("question {number}")), said(&"word ".repeat(40))]))
}

/// Whether every call has its result right after it, and every result its call.
fn paired(messages: &[Message]) -> bool {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::Tool(result) if !open.is_empty() && open.remove(0) == result.call_id => {}
            Message::Assistant { calls, .. } if open.is_empty() => {
                open = calls.iter().map(|call| call.id.clone()).collect();
            }
            Message::User { .. } if open.is_empty() => {}
            _ => return false,
        }
    }
    open.is_empty()
}

#[test]
fn f102_the_newest_turns_that_fit_are_kept_whole_and_in_order() {
    let turns = plain(6);
    let one = tokens(&turns[0].messages, FAMILY);
    for (budget, count) in [(one * 6, 6), (one * 6 - 1, 5), (one * 2, 2), (one, 1)] {
        let expected: Vec<Message> = turns[6 - count..].iter().flat_map(|turn| turn.messages.clone()).collect();
        assert_eq!(keep(&turns, budget, FAMILY), Kept { messages: expected, left_out: 6 - count }, "budget {budget}");
    }
    assert_eq!(keep(&turns, 0, FAMILY), Kept { messages: Vec::new(), left_out: 6 });
    assert_eq!(keep(&[], 100, FAMILY), Kept { messages: Vec::new(), left_out: 0 });
}

#[test]
fn f102_long_results_are_shortened_oldest_first_before_a_turn_is_left_out() {
    let turn = |id: &str| vec![user("q"), calling(id, ""), result(id, &"天气".repeat(3000)), said("a")];
    let turns = past([turn("1"), turn("2"), turn("3")]);
    let whole: u64 = turns.iter().map(|turn| tokens(&turn.messages, FAMILY)).sum();
    let kept = keep(&turns, whole - 100, FAMILY);
    let lengths: Vec<usize> = kept
        .messages
        .iter()
        .filter_map(|message| if let Message::Tool(result) = message { Some(result.content.len()) } else { None })
        .collect();
    assert!(lengths[0] < 2_100 && lengths[1..] == [18_000, 18_000], "{lengths:?}");
    assert_eq!((kept.left_out, kept.messages.len()), (0, 12));
    let few = keep(&turns, whole / 4, FAMILY);
    assert!(few.left_out == 0 && few.messages.len() == 12 && tokens(&few.messages, FAMILY) <= whole / 4);
}

#[test]
fn f102_a_newest_turn_that_is_too_long_alone_is_shortened_and_stays() {
    let long = vec![user(&"问".repeat(20_000)), said(&"答".repeat(20_000))];
    let kept = keep(&past([vec![user("old"), said("old")], long]), 500, FAMILY);
    assert_eq!((kept.left_out, kept.messages.len()), (1, 2));
    assert!(tokens(&kept.messages, FAMILY) <= 500);
    let texts: Vec<&str> = kept
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::User { text } | Message::Assistant { text, .. } => Some(text.as_str()),
            Message::Tool(_) => None,
        })
        .collect();
    assert!(texts.iter().all(|text| text.len() > 100 && text.ends_with(CUT)), "{texts:?}");
}

#[test]
fn a_search_that_is_shortened_keeps_its_borders() {
    let mut messages = vec![result("1", &format!("<search_results>\n{}\n</search_results>", "a".repeat(9_000)))];
    fit(&mut messages, 800, FAMILY);
    let Message::Tool(result) = &messages[0] else { panic!("a result stays one") };
    assert!(result.content.starts_with("<search_results>\na") && result.content.ends_with("\n</search_results>"));
    assert!(result.content.len() < 2_200);
}

#[test]
fn f102_results_of_the_running_turn_are_shortened_oldest_first_and_as_far_as_needed() {
    let text = "word ".repeat(4_000);
    let whole = vec![user("q"), calling("1", "hm"), result("1", &text), calling("2", ""), result("2", &text)];
    let all = tokens(&whole, FAMILY);
    let mut messages = whole.clone();
    fit(&mut messages, all, FAMILY);
    assert_eq!(messages, whole);
    fit(&mut messages, all - 10, FAMILY);
    assert_eq!(messages[4], whole[4], "the newer result stays as it is");
    assert!(messages[2] != whole[2] && tokens(&messages, FAMILY) <= all - 10);
    fit(&mut messages, 1, FAMILY);
    assert!(paired(&messages) && tokens(&messages, FAMILY) < 500);
}

#[test]
fn whatever_the_budget_pairs_stay_together_and_the_budget_is_kept() {
    let turn = |number: usize| {
        let (id, text) = (number.to_string(), "混 mixed ".repeat(number * 37 % 400));
        vec![user(&text), calling(&id, &text), result(&id, &text.repeat(3)), said(&text)]
    };
    let turns = past((1..12).map(turn));
    for budget in (1..12_000).step_by(61) {
        let Kept { messages, left_out } = keep(&turns, budget, FAMILY);
        assert!(tokens(&messages, FAMILY) <= budget, "budget {budget}");
        assert!(paired(&messages), "budget {budget}");
        assert_eq!(messages.len(), (turns.len() - left_out) * 4, "budget {budget}");
        assert!(budget < 200 || left_out < turns.len(), "budget {budget}: the newest one stays");
    }
}

/// The shortest time of three attempts to fit so many long results.
fn time_to_fit(count: usize) -> std::time::Duration {
    let long: Vec<Message> = (0..count).map(|number| result(&number.to_string(), &"word ".repeat(500))).collect();
    let attempt = |()| {
        let mut messages = long.clone();
        let started = std::time::Instant::now();
        fit(&mut messages, 1, FAMILY);
        started.elapsed()
    };
    [(); 3].map(attempt).into_iter().min().unwrap_or_default()
}

#[test]
fn f102_fitting_results_is_linear_in_their_number() {
    let (few, many) = (time_to_fit(100), time_to_fit(1600));
    assert!(many < few * 80, "16 times as many took {many:?} instead of {few:?}");
}

#[test]
fn f102_many_short_turns_are_kept_in_linear_time() {
    let turns = past((0..40_000).map(|_| vec![user("q"), said("a")]));
    let newest = keep(&turns, 100, FAMILY);
    assert!(newest.left_out > 39_000 && !newest.messages.is_empty());
}
