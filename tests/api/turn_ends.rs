//! The end of a logged turn: one request stores the answer and the end of the log.

use serde_json::json;
use support::{EventStream, Gate};

use crate::resume::{Two, frames, in_pieces, rest};
use crate::stop::everything;

/// Starts a turn at the first instance that has written to its log and waits at the gate.
async fn logged(two: &Two, gate: &Gate) -> (EventStream, String) {
    let turn = two.turn(in_pieces(gate), gate).await;
    two.database.wait_for_event_writes(1).await;
    turn
}

/// Asserts that neither table holds anything of a conversation.
async fn gone(two: &Two, id: &str) {
    for table in ["lambda-chat-data", "lambda-chat-ephemeral"] {
        assert!(!everything(two.database.upstream(), table).await.contains(id), "{table}");
    }
}

#[tokio::test]
async fn logged_turn_ends_with_one_transaction() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, _) = logged(&two, &gate).await;
    two.database.take_operations();
    gate.open();
    assert_eq!(turn.rest().await.finish_reason(), "stop");
    let mut asked = two.database.take_operations();
    let end = asked.iter().position(|operation| operation == "TransactWriteItems").unwrap();
    assert!(!asked[end..].contains(&"BatchWriteItem".to_owned()), "{asked:?}");
    asked.retain(|operation| !matches!(operation.as_str(), "BatchWriteItem" | "UpdateItem"));
    assert_eq!(asked, ["TransactWriteItems"]);
}

#[tokio::test]
async fn f079_log_end_rejected_with_answer_follows_it() {
    let (two, gate, open) = (Two::start().await, Gate::new(), Gate::new());
    open.open_for_good();
    two.database.separate_events(open);
    let (turn, id) = logged(&two, &gate).await;
    gate.open();
    let told = frames(turn).await;
    assert_eq!(told.last().unwrap().1, json!({ "type": "done", "finishReason": "stop" }));
    assert_eq!(rest(&two.second, &id, Some(&told[0].0)).await, told[1..], "frame by frame, from the log");
    assert_eq!(two.second.conversation(&id).await["messages"][1]["content"], "一二三，完。");
}

#[tokio::test]
async fn f150_deletion_at_other_instance_leaves_nothing() {
    let (two, gate) = (Two::start().await, Gate::new());
    let (turn, id) = two.turn(in_pieces(&gate).text("四").wait(&gate), &gate).await;
    two.database.wait_for_event_writes(1).await;
    assert_eq!(two.second.delete(&format!("/api/conversations/{id}")).await.status, 204);
    gate.open();
    let mut turn = tokio::spawn(turn.rest());
    // The turn writes again unless it has detected the deletion by then.
    let ended = tokio::select! {
        () = two.database.wait_for_event_writes(2) => None,
        ended = &mut turn => Some(ended),
    };
    gate.open();
    let ended = match ended {
        Some(ended) => ended,
        None => turn.await,
    };
    assert_eq!(ended.unwrap().finish_reason(), "stopped");
    gone(&two, &id).await;
}

#[tokio::test]
async fn f150_log_end_after_deletion_is_deleted() {
    let (two, gate, late) = (Two::start().await, Gate::new(), Gate::new());
    let (turn, id) = logged(&two, &gate).await;
    two.database.separate_events(late.clone());
    gate.open();
    late.reached().await;
    assert_eq!(two.second.delete(&format!("/api/conversations/{id}")).await.status, 204);
    late.open();
    assert_eq!(turn.rest().await.finish_reason(), "stop");
    gone(&two, &id).await;
}
