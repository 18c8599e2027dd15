use domain::{ErrorCode, Message, ToolCall, ToolMessage};
use serde_json::json;
use store::{Answer, ConversationStore, TurnEnd, TurnLease};

use crate::support::{
    Finish, alice, answer, assistant_message, at, ended, first_turn, history_of, next_turn, store, store_at,
    user_message,
};
use crate::wire::Wire;

/// Stores finished turns and begins one more.
async fn begin_after(store: &ConversationStore, turns: &[(&str, Answer)]) -> TurnLease {
    let mut id = None;
    for (text, answer) in turns {
        let turn = id.as_ref().map_or_else(|| first_turn(text), |id: &String| next_turn(id, text));
        let lease = store.begin(&alice(), &turn, at(0)).await.unwrap();
        store.finish(&lease, answer, at(0)).await.unwrap();
        id = Some(lease.conversation_id);
    }
    let turn = id.as_ref().map_or_else(|| first_turn("now"), |id| next_turn(id, "now"));
    store.begin(&alice(), &turn, at(1)).await.unwrap()
}

fn call_message(text: &str, ids: &[&str]) -> Message {
    let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "f".to_owned(), arguments: json!({ "id": id }) };
    Message::Assistant {
        text: text.to_owned(),
        thinking: String::new(),
        calls: ids.iter().map(call).collect(),
        provider_data: None,
    }
}

fn result_message(id: &str, content: &str) -> Message {
    let (call_id, name) = (id.to_owned(), "f".to_owned());
    Message::Tool(ToolMessage { call_id, name, ok: true, content: content.to_owned() })
}

fn answer_with_transcript(transcript: Vec<Message>) -> Answer {
    Answer { transcript, ..answer("shown") }
}

#[tokio::test]
async fn first_turn_reads_no_history() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = begin_after(&store, &[]).await;
    wire.seen();
    assert_eq!(history_of(&store, &lease, 1000).await, []);
    assert_eq!(wire.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn f102_newest_fitting_turns_are_kept_in_order() {
    let store = store().await.conversations;
    let turns = [("11", answer("aa")), ("22", answer("bb")), ("33", answer("cc"))];
    let lease = begin_after(&store, &turns).await;
    let all = [
        user_message("11"),
        assistant_message("aa"),
        user_message("22"),
        assistant_message("bb"),
        user_message("33"),
        assistant_message("cc"),
    ];
    for (budget, count) in [(0, 0), (1, 2), (4, 2), (7, 2), (8, 4), (11, 4), (12, 6), (usize::MAX, 6)] {
        assert_eq!(history_of(&store, &lease, budget).await, all[6 - count..], "budget {budget}");
    }
}

#[tokio::test]
async fn f102_budget_counts_characters_calls_and_results() {
    let store = store().await.conversations;
    let transcript = vec![call_message("好", &["1"]), result_message("1", "天气"), assistant_message("晴")];
    let lease = begin_after(&store, &[("问", answer_with_transcript(transcript.clone()))]).await;
    // One for the user message, one and the call's name and arguments, two, one.
    let length = 1 + 1 + 1 + r#"{"id":"1"}"#.len() + 2 + 1;
    assert_eq!(history_of(&store, &lease, 0).await, []);
    let expected: Vec<Message> = std::iter::once(user_message("问")).chain(transcript).collect();
    assert_eq!(history_of(&store, &lease, length).await, expected);
}

#[tokio::test]
async fn f102_unpaired_calls_and_results_are_dropped() {
    let store = store().await.conversations;
    let transcript = vec![
        result_message("0", "of nothing"),
        call_message("looking", &["1", "2"]),
        result_message("2", "two"),
        result_message("9", "of nothing"),
        call_message("", &["3"]),
        assistant_message("  "),
    ];
    let cut = Answer { outcome: ended(TurnEnd::Failed(ErrorCode::Interrupted)), ..answer_with_transcript(transcript) };
    let lease = begin_after(&store, &[("Q", cut)]).await;
    let expected = [user_message("Q"), call_message("looking", &["2"]), result_message("2", "two")];
    assert_eq!(history_of(&store, &lease, 1000).await, expected);
}

#[tokio::test]
async fn empty_interrupted_answer_leaves_user_message_only() {
    let store = store().await.conversations;
    let cut = Answer {
        outcome: ended(TurnEnd::Failed(ErrorCode::Interrupted)),
        content: String::new(),
        ..answer_with_transcript(vec![assistant_message("")])
    };
    let lease = begin_after(&store, &[("Q", cut)]).await;
    assert_eq!(history_of(&store, &lease, 1000).await, [user_message("Q")]);
}

#[tokio::test]
async fn long_history_is_read_by_pages() {
    let store = store().await.conversations;
    let texts: Vec<String> = (0..35).map(|number| number.to_string()).collect();
    let turns: Vec<_> = texts.iter().map(|text| (text.as_str(), answer(text))).collect();
    let lease = begin_after(&store, &turns).await;
    let expected: Vec<Message> = texts.iter().flat_map(|text| [user_message(text), assistant_message(text)]).collect();
    assert_eq!(history_of(&store, &lease, usize::MAX).await, expected);
}

#[tokio::test]
async fn f086_long_transcript_shortens_old_results() {
    let store = store().await.conversations;
    let mut transcript = Vec::new();
    for id in ["1", "2", "3"] {
        transcript.extend([call_message("step", &[id]), result_message(id, &id.repeat(100_000))]);
    }
    transcript.push(assistant_message("the answer"));
    let lease = begin_after(&store, &[("Q", answer_with_transcript(transcript))]).await;
    let history = history_of(&store, &lease, usize::MAX).await;
    let lengths: Vec<usize> = history
        .iter()
        .filter_map(|message| match message {
            Message::Tool(result) => Some(result.content.len()),
            _ => None,
        })
        .collect();
    assert_eq!((lengths, history.len()), (vec![2_000, 100_000, 100_000], 8));
    assert_eq!(history.last(), Some(&assistant_message("the answer")));
}
