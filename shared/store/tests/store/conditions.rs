//! Failed conditions: each is a response that the caller can handle after one call.

use std::time::Duration;

use domain::new_id;
use store::{ApiKey, BeginError, Claim, IdempotencyStatus, LeaseError, NewTurn, ReadError, Store};

use crate::support::{Finish, alice, answer, at, first_turn, next_turn, store_at, title};
use crate::wire::Wire;

/// The lease of a search.
const LEASE: Duration = Duration::from_secs(10);

async fn store_and_wire() -> (Store, Wire) {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    wire.seen();
    (store, wire)
}

#[tokio::test]
async fn f080_missing_conversation_needs_one_call() {
    let (store, wire) = store_and_wire().await;
    let conversations = &store.conversations;
    assert_eq!(conversations.edit(&alice(), &new_id(), &title("新"), at(0)).await.err(), Some(ReadError::NotFound));
    assert_eq!(wire.seen(), ["UpdateItem"], "the condition refuses, and nothing is repeated");
    assert_eq!(conversations.delete(&alice(), &new_id()).await.err(), Some(ReadError::NotFound));
    assert_eq!(wire.seen().iter().filter(|call| *call == "DeleteItem").count(), 1, "neither is this one");
}

#[tokio::test]
async fn f080_revoking_absent_key_returns_none() {
    let (store, wire) = store_and_wire().await;
    assert_eq!(store.keys.revoke(ApiKey::generate().unwrap().id(), at(0)).await, Ok(None));
    assert_eq!(wire.seen(), ["UpdateItem"]);
}

#[tokio::test]
async fn f080_ended_lease_is_lost_on_renewal() {
    let (store, wire) = store_and_wire().await;
    let conversations = &store.conversations;
    let lease = conversations.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    conversations.finish(&lease, &answer("A1"), at(1)).await.unwrap();
    conversations.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(2)).await.unwrap();
    wire.seen();
    assert!(matches!(conversations.renew(&lease, at(3)).await, Err(LeaseError::Lost)));
    assert_eq!(wire.seen(), ["UpdateItem"]);
}

#[tokio::test]
async fn f080_key_in_use_refuses_second_turn() {
    let (store, wire) = store_and_wire().await;
    let status = store.idempotency.status(&alice(), "k", b"x", at(0)).await.unwrap();
    let IdempotencyStatus::New(claim) = status else { panic!("a fresh key is new") };
    let turn = || NewTurn { idempotency: Some(claim.clone()), ..first_turn("Q") };
    store.conversations.begin(&alice(), &turn(), at(0)).await.unwrap();
    wire.seen();
    assert_eq!(store.conversations.begin(&alice(), &turn(), at(0)).await.unwrap_err(), BeginError::KeyInUse);
    assert_eq!(wire.seen(), ["TransactWriteItems"], "the refusal itself brings the stored item");
}

#[tokio::test]
async fn f080_search_in_flight_makes_next_one_follow() {
    let (store, _wire) = store_and_wire().await;
    let first = store.search_cache.claim("k", "provider", LEASE, at(0)).await.unwrap();
    assert!(matches!(first, Claim::Lead { stale: None, .. }));
    let second = store.search_cache.claim("k", "provider", LEASE, at(1)).await.unwrap();
    assert!(matches!(second, Claim::Follow { stale: None }));
}
