//! The end of a turn that is written down while it runs: its answer and the end of its log are stored in one request.

use serde_json::json;
use support::{EventStream, Gate};

use crate::resume::{Two, frames, in_pieces, rest};
use crate::stop::everything;

/// A turn at the first instance whose log is begun and that waits at the gate, and its conversation.
async fn logged(two: &Two, gate: &Gate) -> (EventStream, String) {
    let turn = two.turn(in_pieces(gate), gate).await;
    two.database.written(1).await;
    turn
}

/// Holds that nothing is left of a conversation in either table.
async fn gone(two: &Two, id: &str) {
    for table in ["lambda-chat-data", "lambda-chat-ephemeral"] {
        assert!(!everything(&two.database.behind, table).await.contains(id), "{table}");
    }
}

#[tokio::test]
async fn a_long_turn_ends_with_one_request_beside_those_that_count_what_it_used() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, _) = logged(&two, &gate).await;
    two.database.operations();
    gate.open();
    assert_eq!(turn.rest().await.finish_reason(), "stop");
    let mut asked = two.database.operations();
    let end = asked.iter().position(|operation| operation == "TransactWriteItems").unwrap();
    assert!(!asked[end..].contains(&"BatchWriteItem".to_owned()), "{asked:?}");
    asked.retain(|operation| !matches!(operation.as_str(), "BatchWriteItem" | "UpdateItem"));
    assert_eq!(asked, ["TransactWriteItems"]);
}

#[tokio::test]
async fn f079_an_end_that_is_not_taken_with_the_answer_follows_it() {
    let (two, gate, open) = (Two::start().await, Gate::new(), Gate::new());
    open.open_for_good();
    *two.database.apart.lock().unwrap() = Some(open);
    let (turn, id) = logged(&two, &gate).await;
    gate.open();
    let told = frames(turn).await;
    assert_eq!(told.last().unwrap().1, json!({ "type": "done", "finishReason": "stop" }));
    assert_eq!(rest(&two.second, &id, Some(&told[0].0)).await, told[1..], "frame by frame, from the log");
    assert_eq!(two.second.conversation(&id).await["messages"][1]["content"], "一二三，完。");
}

#[tokio::test]
async fn f150_a_turn_whose_conversation_is_deleted_elsewhere_leaves_neither_answer_nor_log() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, id) = two.turn(in_pieces(&gate).text("四").wait(&gate), &gate).await;
    two.database.written(1).await;
    assert_eq!(two.second.delete(&format!("/api/conversations/{id}")).await.status, 204);
    gate.open();
    let turn = tokio::spawn(turn.rest());
    // The turn writes on unless it has learnt of the deletion by then.
    while two.database.writes() < 2 && !turn.is_finished() {
        tokio::task::yield_now().await;
    }
    gate.open();
    assert_eq!(turn.await.unwrap().finish_reason(), "stopped");
    gone(&two, &id).await;
}

#[tokio::test]
async fn f150_an_end_that_follows_its_answer_into_a_deleted_conversation_is_deleted_too() {
    let (two, gate, late) = (Two::start().await, Gate::new(), Gate::new());
    let (turn, id) = logged(&two, &gate).await;
    *two.database.apart.lock().unwrap() = Some(late.clone());
    gate.open();
    late.reached().await;
    assert_eq!(two.second.delete(&format!("/api/conversations/{id}")).await.status, 204);
    late.open();
    assert_eq!(turn.rest().await.finish_reason(), "stop");
    gone(&two, &id).await;
}
