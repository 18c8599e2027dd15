//! Turns that end with calls of the client's tools, and requests that bring their results.

use domain::{FinishReason, Message, ToolCall, ToolMessage};
use serde_json::json;
use store::{Answer, NewTurn, ReadError, StoredCall, StoredRequest, TurnEnd};

use crate::branches::run;
use crate::support::{
    Finish, alice, answer, assistant_message, at, ended, first_turn, history_of, next_turn, store, user_message,
};

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "weather".to_owned(), arguments: json!({ "city": "北京" }) }
}

fn calls(ids: &[&str]) -> Message {
    let calls = ids.iter().map(|id| call(id)).collect();
    Message::Assistant { text: String::new(), thinking: String::new(), calls, provider_data: None }
}

fn result(id: &str) -> Message {
    Message::Tool(ToolMessage { call_id: id.to_owned(), name: "weather".into(), ok: true, content: "晴".into() })
}

/// An answer that ends with a call.
fn calling_answer(id: &str) -> Answer {
    Answer {
        tool_calls: vec![StoredCall::of_client(&call(id))],
        transcript: vec![calls(&[id])],
        outcome: ended(TurnEnd::Done(FinishReason::ToolCalls)),
        ..answer("")
    }
}

/// A turn whose request has these messages instead of its text.
fn turn_with(input: Vec<Message>, turn: NewTurn) -> NewTurn {
    NewTurn { request: Some(StoredRequest { input, details: json!({ "user": "u" }) }), ..turn }
}

#[tokio::test]
async fn results_continue_the_turn_that_made_the_calls() {
    let store = store().await.conversations;
    let id = run(&store, &first_turn("Q"), calling_answer("a")).await.conversation_id;
    let next = store.begin(&alice(), &turn_with(vec![result("a")], next_turn(&id, "晴")), at(2)).await.unwrap();
    assert_eq!(store.load_input(&next).await.unwrap(), [result("a")]);
    assert_eq!(history_of(&store, &next, usize::MAX).await, [user_message("Q"), calls(&["a"])]);
    store.finish(&next, &calling_answer("b"), at(3)).await.unwrap();
    let next = store.begin(&alice(), &turn_with(vec![result("b")], next_turn(&id, "晴")), at(4)).await.unwrap();
    let so_far = [user_message("Q"), calls(&["a"]), result("a"), calls(&["b"])];
    assert_eq!(history_of(&store, &next, usize::MAX).await, so_far);
    store.finish(&next, &answer("A"), at(5)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&id, "R"), at(6)).await.unwrap();
    let all = history_of(&store, &next, usize::MAX).await;
    assert_eq!((&all[..4], &all[4..]), (&so_far[..], &[result("b"), assistant_message("A")][..]));
}

#[tokio::test]
async fn calls_without_results_are_left_out() {
    let store = store().await.conversations;
    let id = run(&store, &first_turn("Q"), calling_answer("a")).await.conversation_id;
    run(&store, &next_turn(&id, "R"), answer("B")).await;
    let next = store.begin(&alice(), &next_turn(&id, "S"), at(9)).await.unwrap();
    let expected = [user_message("Q"), user_message("R"), assistant_message("B")];
    assert_eq!(history_of(&store, &next, usize::MAX).await, expected);
}

#[tokio::test]
async fn response_is_an_answer_with_its_request() {
    let store = store().await.conversations;
    let turn = turn_with(Vec::new(), first_turn("Q"));
    let id = run(&store, &turn, calling_answer("a")).await.conversation_id;
    let find = async |message: &str| store.response(&alice(), &id, message, at(2)).await;
    let found = find(&turn.assistant_message_id).await.unwrap();
    assert_eq!((found.details, found.is_alone), (Some(json!({ "user": "u" })), true));
    assert_eq!((found.question_id, found.turn.turn_id), (turn.user_message_id.clone(), turn.turn_id.clone()));
    assert!(found.message.tool_calls[0].client && found.message.tool_calls[0].ok);
    for other in [turn.user_message_id.as_str(), "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"] {
        assert_eq!(find(other).await.unwrap_err(), ReadError::NotFound);
    }
    let later = next_turn(&id, "R");
    run(&store, &later, answer("B")).await;
    assert_eq!(find(&later.assistant_message_id).await.map(|found| (found.details, found.is_alone)), Ok((None, false)));
    assert!(find(&turn.assistant_message_id).await.unwrap().is_alone, "the other follows it");
}
