//! Stop requests of turns.

use domain::FinishReason;
use store::{Answer, LeaseState, ReadError, Status, TurnEnd};

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, database, ended, first_turn, history_of, next_turn, rows,
    store, store_at, user_message,
};
use crate::wire::{Fault, Gate, Wire};

#[tokio::test]
async fn stop_request_arrives_with_next_renewal() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = &lease.conversation_id;
    assert_eq!(store.renew(&lease, at(3)).await, Ok(LeaseState::Active));
    for _ in 0..2 {
        assert_eq!(store.request_stop(&alice(), id, None, at(4)).await, Ok(true));
        assert_eq!(store.renew(&lease, at(6)).await, Ok(LeaseState::StopRequested));
    }
}

#[tokio::test]
async fn stop_of_another_turn_changes_nothing() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = &lease.conversation_id;
    assert_eq!(store.request_stop(&alice(), id, Some("01ARZ3NDEKTSV4RRFFQ69G5FAV"), at(1)).await, Ok(false));
    assert_eq!(store.renew(&lease, at(2)).await, Ok(LeaseState::Active));
    assert_eq!(store.request_stop(&alice(), id, Some(&lease.turn_id), at(3)).await, Ok(true));
    assert_eq!(store.renew(&lease, at(4)).await, Ok(LeaseState::StopRequested));
}

#[tokio::test]
async fn stopped_answer_is_complete_and_in_history() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = &lease.conversation_id;
    let stopped = Answer { outcome: ended(TurnEnd::Done(FinishReason::Stopped)), ..answer("half") };
    store.finish(&lease, &stopped, at(1)).await.unwrap();
    let message = store.messages(&alice(), id, 10, None, at(2)).await.unwrap().items.remove(1);
    assert_eq!((message.status, message.finish_reason), (Status::Complete, Some(FinishReason::Stopped)));
    let next = store.begin(&alice(), &next_turn(id, "Q2"), at(3)).await.unwrap();
    assert_eq!(history_of(&store, &next, 1000).await, [user_message("Q"), assistant_message("half")]);
}

#[tokio::test]
async fn stop_without_running_turn_returns_false() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = &lease.conversation_id;
    assert_eq!(store.request_stop(&alice(), id, None, at(15)).await, Ok(false), "the lease of a dead turn is over");
    store.finish(&lease, &answer("A"), at(16)).await.unwrap();
    assert_eq!(store.request_stop(&alice(), id, None, at(17)).await, Ok(false));
    for (owner, id) in [("bob", id.as_str()), ("alice", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), ("alice", "x")] {
        assert_eq!(store.request_stop(&domain::Owner::new(owner), id, None, at(0)).await, Err(ReadError::NotFound));
    }
}

#[tokio::test]
async fn unseen_stop_never_reaches_next_turn() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = &lease.conversation_id;
    assert_eq!(store.request_stop(&alice(), id, None, at(1)).await, Ok(true));
    store.finish(&lease, &answer("A"), at(2)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(id, "Q2"), at(3)).await.unwrap();
    assert_eq!(store.renew(&next, at(4)).await, Ok(LeaseState::Active));
    assert_eq!(store.request_stop(&alice(), id, None, at(5)).await, Ok(true));
    let third = store.begin(&alice(), &next_turn(id, "Q3"), at(19)).await.unwrap();
    assert_eq!(store.renew(&third, at(20)).await, Ok(LeaseState::Active));
    assert!(rows(&endpoint, "data").await.iter().all(|row| !row.contains_key("stopping")), "it is forgotten");
}

#[tokio::test]
async fn stop_after_turn_end_changes_nothing() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await.conversations, store_at(&wire.database).await.conversations);
    let lease = fast.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let (id, gate) = (lease.conversation_id.clone(), Gate::default());
    wire.fail("UpdateItem", &[Fault::Held(gate.clone())]);
    let late = tokio::spawn(async move { slow.request_stop(&alice(), &id, None, at(1)).await });
    gate.arrival().await;
    fast.finish(&lease, &answer("A"), at(2)).await.unwrap();
    let next = fast.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(3)).await.unwrap();
    gate.open();
    assert_eq!(late.await.unwrap(), Ok(false));
    assert_eq!(fast.renew(&next, at(4)).await, Ok(LeaseState::Active));
}
