//! Answers that are stored together with the tail of their turn's log, its usage and its calls.

use store::{AnswerWrites, LeaseError, Store, StoreError, TurnLease, UsageTotals};

use crate::executions::call;
use crate::ledger::{new_usage, today, turn_usage, user_totals};
use crate::stream_log::{begin_turn, entries, page_of};
use crate::support::{
    ReadStored, alice, answer, at, config, next_turn, rows, store, store_at, store_without_retries_at,
};
use crate::wire::{Fault, Gate, Wire};

/// Writes the first event of a log; returns the tail with the second one, which ends it.
async fn log_with_tail(store: &Store, lease: &TurnLease) -> AnswerWrites {
    store.streams.append(&alice(), lease, 0, &entries(&["a"]), at(1)).await.unwrap();
    log_tail(store, lease, "z")
}

fn log_tail(store: &Store, lease: &TurnLease, event: &str) -> AnswerWrites {
    store.streams.prepare_tail(&alice(), lease, 1, &entries(&[event]), at(2)).unwrap()
}

/// The stored text of a conversation's answer.
async fn stored_text(store: &Store, lease: &TurnLease) -> String {
    store
        .conversations
        .get_turn(&alice(), &lease.conversation_id, lease.answer_seq, at(3))
        .await
        .unwrap()
        .message
        .content
}

#[tokio::test]
async fn answer_and_log_tail_share_one_transaction() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (lease, known) = begin_turn(&store).await;
    let log = log_with_tail(&store, &lease).await;
    wire.seen();
    assert_eq!(store.conversations.finish_with(&lease, &answer("A"), log, at(2)).await, Ok(true));
    assert_eq!(wire.seen(), ["TransactWriteItems"]);
    let other = log_tail(&store, &lease, "other");
    assert_eq!(store.conversations.finish_with(&lease, &answer("B"), other, at(2)).await, Ok(false));
    assert_eq!(stored_text(&store, &lease).await, "A");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), page_of(&["a", "z"]));
}

/// The addition of a turn to its owner's sum, and the records of its calls.
fn usage_and_calls(store: &Store, calls: usize) -> AnswerWrites {
    let calls: Vec<_> = (0..calls).map(|number| call(&format!("1-{number:03}"), "C")).collect();
    let mut writes = store.ledger.prepare(&alice(), today(), &turn_usage(&new_usage(3, 4, Some(5)), "m"));
    writes.extend([store.executions.prepare(&alice(), &calls, at(2))]);
    writes
}

/// The turns in their owner's sum, and the listed calls.
async fn counted(store: &Store) -> (UsageTotals, usize) {
    let calls = store.executions.list(100, None, at(3)).await.unwrap();
    (user_totals(&store.ledger).await, calls.items.len())
}

#[tokio::test]
async fn usage_and_calls_share_the_answer_transaction() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (lease, _) = begin_turn(&store).await;
    let writes = usage_and_calls(&store, 2);
    wire.seen();
    assert_eq!(store.conversations.finish_with(&lease, &answer("A"), writes, at(2)).await, Ok(true));
    assert_eq!(wire.seen(), ["TransactWriteItems"]);
    let (totals, calls) = counted(&store).await;
    assert_eq!((totals.turns, totals.tokens(), totals.cost_micros, calls), (1, 7, Some(5), 2));
}

#[tokio::test]
async fn answer_is_stored_alone_if_others_interfere() {
    for (calls, faults, requests) in [(2, &[Fault::Cancelled("TransactionConflict")] as &[Fault], 2), (50, &[], 1)] {
        let (wire, endpoint) = Wire::new().await;
        let store = store_at(&endpoint).await;
        let (lease, _) = begin_turn(&store).await;
        wire.fail("TransactWriteItems", faults);
        wire.seen();
        let writes = usage_and_calls(&store, calls);
        assert_eq!(store.conversations.finish_with(&lease, &answer("A"), writes, at(2)).await, Ok(false));
        assert_eq!(wire.seen(), vec!["TransactWriteItems"; requests]);
        assert_eq!(stored_text(&store, &lease).await, "A");
        assert_eq!(counted(&store).await, (UsageTotals::default(), 0));
    }
}

#[tokio::test]
async fn end_after_lost_lease_leaves_log_unchanged() {
    let store = store().await;
    let (lease, known) = begin_turn(&store).await;
    let log = log_with_tail(&store, &lease).await;
    let next = next_turn(&lease.conversation_id, "Q2");
    store.conversations.begin(&alice(), &next, at(20)).await.unwrap();
    let refused = store.conversations.finish_with(&lease, &answer("A"), log, at(21)).await;
    assert_eq!(refused, Err(LeaseError::Lost));
    assert_eq!(stored_text(&store, &lease).await, "");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), page_of(&["a"]));
}

#[tokio::test]
async fn f079_answer_is_stored_without_failing_log_tail() {
    for (fault, along) in [
        (Fault::Refused("ValidationException"), false),
        (Fault::Refused("AccessDeniedException"), false),
        (Fault::Refused("ThrottlingException"), false),
        (Fault::Cancelled("ThrottlingError"), false),
        (Fault::Cancelled("ValidationError"), false),
        (Fault::LostResponse, true),
    ] {
        let (wire, endpoint) = Wire::new().await;
        let store = store_without_retries_at(&endpoint).await;
        let (lease, known) = begin_turn(&store).await;
        let log = log_with_tail(&store, &lease).await;
        wire.fail("TransactWriteItems", std::slice::from_ref(&fault));
        let stored = store.conversations.finish_with(&lease, &answer("A"), log, at(2)).await;
        assert_eq!(stored, Ok(false), "{fault:?}: whether the log has it is not sure");
        assert_eq!(stored_text(&store, &lease).await, "A", "{fault:?}");
        let expected = if along { page_of(&["a", "z"]) } else { page_of(&["a"]) };
        assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), expected, "{fault:?}");
    }
}

#[tokio::test]
async fn f079_answer_never_waits_for_hanging_log_tail() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (lease, known) = begin_turn(&store).await;
    let log = log_with_tail(&store, &lease).await;
    let gate = Gate::default();
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    // The gate stays closed.
    assert_eq!(store.conversations.finish_with(&lease, &answer("A"), log, at(2)).await, Ok(false));
    assert_eq!(stored_text(&store, &lease).await, "A");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), page_of(&["a"]));
}

#[tokio::test]
async fn f079_answer_is_stored_without_log_table() {
    let (_, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (lease, _) = begin_turn(&store).await;
    let log = log_with_tail(&store, &lease).await;
    let client = aws_sdk_dynamodb::Client::new(&config(&endpoint));
    client.delete_table().table_name("ephemeral").send().await.unwrap();
    assert_eq!(store.conversations.finish_with(&lease, &answer("A"), log, at(2)).await, Ok(false));
    assert_eq!(stored_text(&store, &lease).await, "A");
}

#[tokio::test]
async fn failed_end_stores_neither_answer_nor_log() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await;
    let (lease, known) = begin_turn(&store).await;
    let log = log_with_tail(&store, &lease).await;
    let busy = Fault::Refused("ThrottlingException");
    wire.fail("TransactWriteItems", &[busy.clone(), busy]);
    let failed = store.conversations.finish_with(&lease, &answer("A"), log, at(2)).await;
    assert_eq!(failed, Err(LeaseError::Store(StoreError::Busy)));
    assert_eq!(stored_text(&store, &lease).await, "");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), page_of(&["a"]));
}

/// Deletes a conversation like the API does.
async fn delete(store: &Store, lease: &TurnLease) {
    store.conversations.delete(&alice(), &lease.conversation_id).await.unwrap();
    store.streams.delete_logs(&alice(), &lease.conversation_id, None).await.unwrap();
}

#[tokio::test]
async fn f150_deletion_and_end_are_serialized() {
    for stored_first in [false, true] {
        let (wire, endpoint) = Wire::new().await;
        let (store, direct_store) = (store_at(&endpoint).await, store_at(&wire.database).await);
        let (lease, _) = begin_turn(&store).await;
        let (log, gate) = (log_with_tail(&store, &lease).await, Gate::default());
        let fault = if stored_first { Fault::HeldResponse(gate.clone()) } else { Fault::Held(gate.clone()) };
        wire.fail("TransactWriteItems", &[fault]);
        let a = answer("A");
        let deletion = async {
            gate.arrival().await;
            delete(&direct_store, &lease).await;
            gate.open();
        };
        let (end, ()) = tokio::join!(store.conversations.finish_with(&lease, &a, log, at(2)), deletion);
        assert_eq!(end, if stored_first { Ok(true) } else { Err(LeaseError::Lost) });
        for table in ["data", "ephemeral"] {
            assert_eq!(rows(&endpoint, table).await, [], "{table}, {stored_first}");
        }
    }
}

#[tokio::test]
async fn oversized_log_tail_is_written_separately() {
    let store = store().await;
    let (lease, _) = begin_turn(&store).await;
    let end = |bytes: usize| {
        let delta = "x".repeat(bytes / 2 - r#"{"t":{"d":""}}"#.len() - 1);
        let lines = entries(&[&delta, &delta]);
        store.streams.prepare_tail(&alice(), &lease, 0, &lines, at(1)).is_some()
    };
    assert_eq!((end(64 * 1024), end(64 * 1024 + 2)), (true, false));
}
