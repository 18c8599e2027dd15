//! Transcripts while the table is busy or its responses are lost.

use domain::Message;
use store::{LeaseError, StoreError};

use crate::support::{Finish, alice, assistant_message, at, first_turn, rows, store_without_retries_at, user_message};
use crate::transcripts::{LARGE, break_off_turn, no_fault, read_next, search_answer, search_messages};
use crate::wire::{Fault, Gate, Wire};

#[tokio::test]
async fn f081_end_in_three_writes_survives_lost_responses() {
    let expected: Vec<Message> = std::iter::once(user_message("Q")).chain(search_messages(LARGE)).collect();
    for faults in [vec![Fault::LostResponse], vec![no_fault(), Fault::LostResponse]] {
        let (wire, endpoint) = Wire::new().await;
        let store = store_without_retries_at(&endpoint).await.conversations;
        let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        wire.fail("TransactWriteItems", &faults);
        store.finish(&lease, &search_answer(LARGE), at(1)).await.unwrap();
        store.finish(&lease, &search_answer(LARGE + 1), at(2)).await.unwrap();
        assert_eq!(read_next(&store, &lease.conversation_id, 3).await, expected);
        store.finish(&lease, &search_answer(LARGE + 2), at(4)).await.unwrap();
    }
    let (_, store, lease) = break_off_turn().await;
    store.finish(&lease, &search_answer(LARGE), at(2)).await.unwrap();
    assert_eq!(read_next(&store, &lease.conversation_id, 3).await, expected);
}

#[tokio::test]
async fn f079_busy_table_drops_transcript_but_stores_answer() {
    let slow = || Fault::Held(Gate::default());
    for (operation, fault) in [
        ("TransactWriteItems", Fault::Refused("ThrottlingException")),
        ("TransactWriteItems", slow()),
        ("UpdateItem", Fault::Refused("ThrottlingException")),
        ("UpdateItem", Fault::LostResponse),
        ("UpdateItem", slow()),
    ] {
        let (wire, endpoint) = Wire::new().await;
        let store = store_without_retries_at(&endpoint).await.conversations;
        let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
        wire.fail(operation, std::slice::from_ref(&fault));
        assert_eq!(store.finish(&lease, &search_answer(LARGE), at(1)).await, Ok(()), "{operation}: {fault:?}");
        let read = read_next(&store, &lease.conversation_id, 2).await;
        assert_eq!(read, [user_message("Q"), assistant_message("looking\n\nA")], "{operation}: {fault:?}");
        store.delete(&alice(), &lease.conversation_id).await.unwrap();
        assert_eq!(rows(&endpoint, "data").await, [], "{operation}: {fault:?}");
    }
}

#[tokio::test]
async fn f082_repeated_reservation_keeps_transcript() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let busy = Err(LeaseError::Store(StoreError::Busy));
    wire.fail("TransactWriteItems", &[no_fault(), Fault::Refused("ThrottlingException")]);
    assert_eq!(store.finish(&lease, &search_answer(LARGE), at(1)).await, busy);
    let before = rows(&endpoint, "data").await;
    wire.fail("UpdateItem", &[Fault::Refused("ThrottlingException")]);
    wire.fail("TransactWriteItems", &[no_fault(), Fault::Refused("ThrottlingException")]);
    assert_eq!(store.finish(&lease, &search_answer(LARGE), at(2)).await, busy);
    assert_eq!(rows(&endpoint, "data").await, before);
}
