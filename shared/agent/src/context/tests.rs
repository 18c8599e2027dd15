use domain::ToolCall;
use serde_json::json;

use super::*;
use domain::Language;
use prompts::AgentTexts;

const FAMILY: Family = Family::O200k;

fn target() -> Target {
    Target { family: FAMILY, texts: AgentTexts::of(Language::Zh), result_frame_tokens: 0 }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn assistant(text: &str) -> Message {
    Message::Assistant { text: text.into(), thinking: String::new(), calls: Vec::new(), provider_data: None }
}

fn result(id: &str, content: &str) -> Message {
    Message::Tool(ToolMessage { call_id: id.into(), name: "f".into(), ok: true, content: content.into() })
}

fn calling(id: &str, thinking: &str) -> Message {
    let call = ToolCall { id: id.into(), name: "f".into(), arguments: json!({}) };
    Message::Assistant { text: String::new(), thinking: thinking.into(), calls: vec![call], provider_data: None }
}

fn history(turns: impl IntoIterator<Item = Vec<Message>>) -> Vec<HistoryTurn> {
    (1..).zip(turns).map(|(number, messages)| HistoryTurn { seq: number * 2, messages }).collect()
}

fn plain_history(count: usize) -> Vec<HistoryTurn> {
    history((0..count).map(|number| vec![user(&format!("question {number}")), assistant(&"word ".repeat(40))]))
}

/// Whether each call is directly followed by its result, and each result has its call.
fn are_paired(messages: &[Message]) -> bool {
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
fn f102_newest_fitting_turns_stay_whole_and_ordered() {
    let turns = plain_history(6);
    let one = tokens(&turns[0].messages, target());
    for (budget, count) in [(one * 6, 6), (one * 6 - 1, 5), (one * 2, 2), (one, 1)] {
        let expected: Vec<Message> = turns[6 - count..].iter().flat_map(|turn| turn.messages.clone()).collect();
        assert_eq!(
            select(&turns, budget, target()),
            SelectedHistory { messages: expected, left_out: 6 - count },
            "budget {budget}"
        );
    }
    assert_eq!(select(&turns, 0, target()), SelectedHistory { messages: Vec::new(), left_out: 6 });
    assert_eq!(select(&[], 100, target()), SelectedHistory { messages: Vec::new(), left_out: 0 });
}

#[test]
fn f102_oldest_results_are_truncated_before_turns_are_dropped() {
    let turn = |id: &str| vec![user("q"), calling(id, ""), result(id, &"天气".repeat(3000)), assistant("a")];
    let turns = history([turn("1"), turn("2"), turn("3")]);
    let whole: u64 = turns.iter().map(|turn| tokens(&turn.messages, target())).sum();
    let selected = select(&turns, whole - 100, target());
    let lengths: Vec<usize> = selected
        .messages
        .iter()
        .filter_map(|message| if let Message::Tool(result) = message { Some(result.content.len()) } else { None })
        .collect();
    assert!(lengths[0] < 2_100 && lengths[1..] == [18_000, 18_000], "{lengths:?}");
    assert_eq!((selected.left_out, selected.messages.len()), (0, 12));
    let quarter = select(&turns, whole / 4, target());
    assert!(quarter.left_out == 0 && quarter.messages.len() == 12 && tokens(&quarter.messages, target()) <= whole / 4);
}

#[test]
fn f102_newest_turn_is_truncated_if_too_long_alone() {
    let long = vec![user(&"问".repeat(20_000)), assistant(&"答".repeat(20_000))];
    let selected = select(&history([vec![user("old"), assistant("old")], long]), 500, target());
    assert_eq!((selected.left_out, selected.messages.len()), (1, 2));
    assert!(tokens(&selected.messages, target()) <= 500);
    let texts: Vec<&str> = selected
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::User { text, .. } | Message::Assistant { text, .. } => Some(text.as_str()),
            Message::Tool(_) => None,
        })
        .collect();
    assert!(texts.iter().all(|text| text.len() > 100 && text.ends_with(target().texts.truncated)), "{texts:?}");
}

#[test]
fn truncated_search_result_keeps_its_tags() {
    let mut messages = vec![result("1", &format!("<search_results>\n{}\n</search_results>", "a".repeat(9_000)))];
    share_among_results(&mut messages, 800, target());
    assert!(tokens(&messages, target()) <= 800);
    let Message::Tool(result) = &messages[0] else { panic!("a result stays a result") };
    assert!(result.content.starts_with("<search_results>\na") && result.content.ends_with("\n</search_results>"));
    assert!((5_000..7_000).contains(&result.content.len()), "{}", result.content.len());
}

#[test]
fn f102_running_results_share_what_is_left() {
    let text = "word ".repeat(4_000);
    let whole = vec![
        user("q"),
        calling("1", "hm"),
        result("1", &text),
        calling("2", ""),
        result("2", &text[..10_000]),
        calling("3", ""),
        result("3", "short"),
    ];
    let all = tokens(&whole, target());
    let mut messages = whole.clone();
    share_among_results(&mut messages, all, target());
    assert_eq!(messages, whole);
    share_among_results(&mut messages, all - 10, target());
    assert!(messages[2] != whole[2] && tokens(&messages, target()) <= all - 10);
    assert_eq!((&messages[4], &messages[6]), (&whole[4], &whole[6]), "only the longest one is truncated");
    for budget in (500..all).step_by(97) {
        let mut messages = whole.clone();
        share_among_results(&mut messages, budget, target());
        let used = tokens(&messages, target());
        assert!(used <= budget && used + 10 > budget, "{used} of {budget}");
        assert_eq!(messages[6], whole[6]);
    }
    share_among_results(&mut messages, 1, target());
    assert!(are_paired(&messages) && tokens(&messages, target()) < 500);
}

#[test]
fn framed_results_count_their_frame() {
    let framed = Target { result_frame_tokens: 100, ..target() };
    let messages = [user("q"), calling("1", ""), result("1", "a"), result("2", "b")];
    assert_eq!(tokens(&messages, framed), tokens(&messages, target()) + 200);
    assert_eq!(result_tokens(&messages, framed), 2);
}

#[test]
fn every_budget_holds_and_keeps_calls_with_results() {
    let turn = |number: usize| {
        let (id, text) = (number.to_string(), "混 mixed ".repeat(number * 37 % 400));
        vec![user(&text), calling(&id, &text), result(&id, &text.repeat(3)), assistant(&text)]
    };
    let turns = history((1..12).map(turn));
    for budget in (1..12_000).step_by(61) {
        let SelectedHistory { messages, left_out } = select(&turns, budget, target());
        assert!(tokens(&messages, target()) <= budget, "budget {budget}");
        assert!(are_paired(&messages), "budget {budget}");
        assert_eq!(messages.len(), (turns.len() - left_out) * 4, "budget {budget}");
        assert!(budget < 200 || left_out < turns.len(), "budget {budget}: the newest one stays");
    }
}

/// Measuring all results again after each truncation would take minutes.
#[test]
fn f102_truncating_results_takes_linear_time() {
    let results = (0..8_000).map(|number| result(&number.to_string(), &format!("{number} word ").repeat(100)));
    let mut messages: Vec<Message> = results.collect();
    let before = tokens(&messages, target());
    share_among_results(&mut messages, before / 2, target());
    let after = tokens(&messages, target());
    assert!(before / 4 < after && after <= before / 2, "{after} of {before} tokens");
}

#[test]
fn f102_selecting_short_turns_takes_linear_time() {
    let turns = history((0..40_000).map(|_| vec![user("q"), assistant("a")]));
    let newest = select(&turns, 100, target());
    assert!(newest.left_out > 39_000 && !newest.messages.is_empty());
}
