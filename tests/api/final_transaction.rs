//! The end of a logged turn: one request stores the answer and the end of the log.

use serde_json::json;
use support::{Completion, EventStream, Gate};

use crate::resume::{TwoInstances, gated_answer, read_frames, resume_frames};
use crate::stop::scan_table;

/// Starts a turn at the first instance that has written to its log and waits at the gate.
async fn start_logged_turn(two: &TwoInstances, gate: &Gate) -> (EventStream, String) {
    let turn = two.start_turn(gated_answer(gate), gate).await;
    two.database.wait_for_event_writes(1).await;
    turn
}

/// Asserts that neither table holds anything of a conversation.
async fn assert_deleted(two: &TwoInstances, id: &str) {
    for table in ["lambda-chat-data", "lambda-chat-ephemeral"] {
        assert!(!scan_table(two.database.upstream(), table).await.contains(id), "{table}");
    }
}

#[tokio::test]
async fn logged_turn_ends_with_one_transaction() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    // The first turn of an owner in a day also lists the owner for the tables of usage.
    two.first.model.respond_with(|_| Completion::of(["好。"]));
    assert_eq!(two.first.send_message("先").await.finish_reason(), "stop");
    let (turn, _) = start_logged_turn(&two, &gate).await;
    two.database.take_operations();
    gate.open();
    assert_eq!(turn.read_to_end().await.finish_reason(), "stop");
    let mut operations = two.database.take_operations();
    let end = operations.iter().position(|operation| operation == "TransactWriteItems").unwrap();
    assert!(!operations[end..].contains(&"BatchWriteItem".to_owned()), "{operations:?}");
    operations.retain(|operation| !matches!(operation.as_str(), "BatchWriteItem" | "UpdateItem"));
    assert_eq!(operations, ["TransactWriteItems"]);
}

#[tokio::test]
async fn f079_log_end_rejected_with_answer_follows_it() {
    let (two, gate, open) = (TwoInstances::start().await, Gate::new(), Gate::new());
    open.open_permanently();
    two.database.separate_events(open);
    let (turn, id) = start_logged_turn(&two, &gate).await;
    gate.open();
    let frames = read_frames(turn).await;
    assert_eq!(frames.last().unwrap().1, json!({ "type": "done", "finishReason": "stop" }));
    assert_eq!(resume_frames(&two.second, &id, Some(&frames[0].0)).await, frames[1..], "frame by frame, from the log");
    assert_eq!(two.second.conversation(&id).await["messages"][1]["content"], "一二三，完。");
    for scope in ["", "?scope=deployment"] {
        let usage = two.second.get(&format!("/api/usage{scope}")).await.ok();
        assert_eq!(usage["today"]["turns"], 1, "{scope}");
    }
}

#[tokio::test]
async fn f150_deletion_at_other_instance_leaves_nothing() {
    let (two, gate) = (TwoInstances::start().await, Gate::new());
    let (turn, id) = two.start_turn(gated_answer(&gate).text("四").wait(&gate), &gate).await;
    two.database.wait_for_event_writes(1).await;
    assert_eq!(two.second.delete(&format!("/api/conversations/{id}")).await.status, 204);
    gate.open();
    let mut turn = tokio::spawn(turn.read_to_end());
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
    assert_deleted(&two, &id).await;
}

#[tokio::test]
async fn f150_log_end_after_deletion_is_deleted() {
    let (two, gate, late) = (TwoInstances::start().await, Gate::new(), Gate::new());
    let (turn, id) = start_logged_turn(&two, &gate).await;
    two.database.separate_events(late.clone());
    gate.open();
    late.wait_until_reached().await;
    assert_eq!(two.second.delete(&format!("/api/conversations/{id}")).await.status, 204);
    late.open();
    assert_eq!(turn.read_to_end().await.finish_reason(), "stop");
    assert_deleted(&two, &id).await;
}
