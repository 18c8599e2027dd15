//! Answers that are stored together with the end of their turn's log.

use store::{LeaseError, LoggedEnd, Store, StoreError, TurnLease};

use crate::stream_log::{begun, json, of};
use crate::support::{alice, answer, at, config, impatient_store_at, next_turn, rows, store, store_at};
use crate::wire::{Fault, Gate, Wire};

/// A log whose first event is written, and whose second one ends it.
async fn logged(store: &Store, lease: &TurnLease) -> LoggedEnd {
    store.streams.append(&alice(), lease, 0, &json(&["a"]), at(1)).await.unwrap();
    end(store, lease, "z")
}

fn end(store: &Store, lease: &TurnLease, event: &str) -> LoggedEnd {
    store.streams.end(&alice(), lease, 1, &json(&[event]), at(2)).unwrap()
}

/// What is stored of a conversation's answer.
async fn content(store: &Store, lease: &TurnLease) -> String {
    store.conversations.turn(&alice(), &lease.conversation_id, lease.answer, at(3)).await.unwrap().message.content
}

#[tokio::test]
async fn an_answer_and_the_end_of_its_log_are_one_request_and_a_second_end_changes_neither() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (lease, known) = begun(&store).await;
    let log = logged(&store, &lease).await;
    wire.seen();
    assert_eq!(store.conversations.finish_logged(&lease, &answer("A"), log, at(2)).await, Ok(true));
    assert_eq!(wire.seen(), ["TransactWriteItems"]);
    let other = end(&store, &lease, "other");
    assert_eq!(store.conversations.finish_logged(&lease, &answer("B"), other, at(2)).await, Ok(false));
    assert_eq!(content(&store, &lease).await, "A");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), of(&["a", "z"]));
}

#[tokio::test]
async fn an_end_that_went_into_a_conversation_that_is_not_the_turns_any_more_leaves_its_log_as_it_was() {
    let store = store().await;
    let (lease, known) = begun(&store).await;
    let log = logged(&store, &lease).await;
    let next = next_turn(&lease.conversation_id, "Q2");
    store.conversations.begin(&alice(), &next, at(20)).await.unwrap();
    let refused = store.conversations.finish_logged(&lease, &answer("A"), log, at(21)).await;
    assert_eq!(refused, Err(LeaseError::Lost));
    assert_eq!(content(&store, &lease).await, "");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), of(&["a"]));
}

#[tokio::test]
async fn f079_an_answer_is_stored_without_an_end_of_its_log_that_cannot_be_stored_with_it() {
    for (fault, along) in [
        (Fault::Refused("ValidationException"), false),
        (Fault::Refused("AccessDeniedException"), false),
        (Fault::Refused("ThrottlingException"), false),
        (Fault::Cancelled("ThrottlingError"), false),
        (Fault::Cancelled("ValidationError"), false),
        (Fault::LostAnswer, true),
    ] {
        let (wire, endpoint) = Wire::new().await;
        let store = impatient_store_at(&endpoint).await;
        let (lease, known) = begun(&store).await;
        let log = logged(&store, &lease).await;
        wire.fail("TransactWriteItems", std::slice::from_ref(&fault));
        let stored = store.conversations.finish_logged(&lease, &answer("A"), log, at(2)).await;
        assert_eq!(stored, Ok(false), "{fault:?}: whether the log has it is not sure");
        assert_eq!(content(&store, &lease).await, "A", "{fault:?}");
        let expected = if along { of(&["a", "z"]) } else { of(&["a"]) };
        assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), expected, "{fault:?}");
    }
}

#[tokio::test]
async fn f079_an_answer_does_not_wait_for_a_transaction_with_the_end_of_its_log_that_is_not_answered() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (lease, known) = begun(&store).await;
    let log = logged(&store, &lease).await;
    let gate = Gate::default();
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    // The gate stays shut.
    assert_eq!(store.conversations.finish_logged(&lease, &answer("A"), log, at(2)).await, Ok(false));
    assert_eq!(content(&store, &lease).await, "A");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), of(&["a"]));
}

#[tokio::test]
async fn f079_an_answer_is_stored_where_the_table_of_its_log_is_gone() {
    let (_, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (lease, _) = begun(&store).await;
    let log = logged(&store, &lease).await;
    let client = aws_sdk_dynamodb::Client::new(&config(&endpoint));
    client.delete_table().table_name("ephemeral").send().await.unwrap();
    assert_eq!(store.conversations.finish_logged(&lease, &answer("A"), log, at(2)).await, Ok(false));
    assert_eq!(content(&store, &lease).await, "A");
}

#[tokio::test]
async fn an_end_that_cannot_be_stored_at_all_leaves_neither() {
    let (wire, endpoint) = Wire::new().await;
    let store = impatient_store_at(&endpoint).await;
    let (lease, known) = begun(&store).await;
    let log = logged(&store, &lease).await;
    let busy = Fault::Refused("ThrottlingException");
    wire.fail("TransactWriteItems", &[busy.clone(), busy]);
    let failed = store.conversations.finish_logged(&lease, &answer("A"), log, at(2)).await;
    assert_eq!(failed, Err(LeaseError::Store(StoreError::Busy)));
    assert_eq!(content(&store, &lease).await, "");
    assert_eq!(store.streams.read(&alice(), &known, 0, at(3)).await.unwrap(), of(&["a"]));
}

/// What deletes a conversation, as callers ask for it.
async fn delete(store: &Store, lease: &TurnLease) {
    store.conversations.delete(&alice(), &lease.conversation_id).await.unwrap();
    store.streams.forget(&alice(), &lease.conversation_id, None).await.unwrap();
}

#[tokio::test]
async fn f150_a_deletion_comes_wholly_before_an_end_or_wholly_after_it() {
    for stored_first in [false, true] {
        let (wire, endpoint) = Wire::new().await;
        let (store, beside) = (store_at(&endpoint).await, store_at(&wire.database).await);
        let (lease, _) = begun(&store).await;
        let (log, gate) = (logged(&store, &lease).await, Gate::default());
        let fault = if stored_first { Fault::HeldAnswer(gate.clone()) } else { Fault::Held(gate.clone()) };
        wire.fail("TransactWriteItems", &[fault]);
        let a = answer("A");
        let deletion = async {
            gate.arrival().await;
            delete(&beside, &lease).await;
            gate.open();
        };
        let (end, ()) = tokio::join!(store.conversations.finish_logged(&lease, &a, log, at(2)), deletion);
        assert_eq!(end, if stored_first { Ok(true) } else { Err(LeaseError::Lost) });
        for table in ["data", "ephemeral"] {
            assert_eq!(rows(&endpoint, table).await, [], "{table}, {stored_first}");
        }
    }
}

#[tokio::test]
async fn what_is_too_much_to_go_along_goes_by_itself() {
    let store = store().await;
    let (lease, _) = begun(&store).await;
    let end = |bytes: usize| {
        let lines = vec!["x".repeat(bytes / 2 - 1); 2];
        store.streams.end(&alice(), &lease, 0, &lines, at(1)).is_some()
    };
    assert_eq!((end(64 * 1024), end(64 * 1024 + 2)), (true, false));
}
