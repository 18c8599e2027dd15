use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::Owner;
use store::{BeginError, IdempotencyClaim, IdempotencyStatus, NewTurn, Store, StoreError, TurnRef};

use crate::support::{
    Finish, alice, answer, at, database, first_turn, next_turn, put_into, rows, store, store_at,
    store_without_retries_at,
};
use crate::wire::{Fault, Wire};

/// The status of alice's key `k`.
async fn status(store: &Store, body: &[u8], seconds: u64) -> IdempotencyStatus {
    store.idempotency.status(&alice(), "k", body, at(seconds)).await.unwrap()
}

/// A claim of alice's key `k`, which must be free.
async fn claim(store: &Store, body: &[u8], seconds: u64) -> IdempotencyClaim {
    match status(store, body, seconds).await {
        IdempotencyStatus::New(claim) => claim,
        other => panic!("the key is not free: {other:?}"),
    }
}

fn keyed(claim: IdempotencyClaim, turn: NewTurn) -> NewTurn {
    NewTurn { idempotency: Some(claim), ..turn }
}

fn is_turn(status: &IdempotencyStatus, turn_id: &str) -> bool {
    matches!(status, IdempotencyStatus::Existing(TurnRef { turn_id: found, .. }) if found == turn_id)
}

#[tokio::test]
async fn f098_key_maps_equal_request_to_its_turn() {
    let (store, owner) = (store().await, alice());
    let turn = keyed(claim(&store, b"body", 0).await, first_turn("hello"));
    let begun = store.conversations.begin(&owner, &turn, at(0)).await.unwrap();
    let IdempotencyStatus::Existing(known) = status(&store, b"body", 0).await else { panic!("the turn has begun") };
    assert_eq!((known.turn_id, known.conversation_id, known.answer_seq), (turn.turn_id, begun.conversation_id, 2));
    assert!(matches!(status(&store, b"other", 0).await, IdempotencyStatus::Mismatch));
    let bob = store.idempotency.status(&Owner::new("bob"), "k", b"other", at(0)).await.unwrap();
    assert!(matches!(bob, IdempotencyStatus::New(_)));
    claim(&store, b"other", 24 * 3600).await;
}

#[tokio::test]
async fn f098_of_simultaneous_requests_one_begins() {
    let endpoint = database().await;
    let (store, owner) = (store_at(&endpoint).await, alice());
    let begun = store.conversations.begin(&owner, &first_turn("hello"), at(0)).await.unwrap();
    store.conversations.finish(&begun, &answer("A"), at(0)).await.unwrap();
    let before = rows(&endpoint, "data").await.len();
    for (name, turn) in [("new", None), ("next", Some(&begun.conversation_id))] {
        let claim_of = async || match store.idempotency.status(&owner, name, b"body", at(0)).await.unwrap() {
            IdempotencyStatus::New(claim) => claim,
            other => panic!("the key is not free: {other:?}"),
        };
        let turn_of = |claim| keyed(claim, turn.map_or_else(|| first_turn("Q"), |id| next_turn(id, "Q")));
        let (one, two) = (turn_of(claim_of().await), turn_of(claim_of().await));
        let begin_once = |turn: NewTurn| {
            let (store, owner) = (store.clone(), owner.clone());
            async move { store.conversations.begin(&owner, &turn, at(0)).await }
        };
        let (one, two) = tokio::join!(begin_once(one), begin_once(two));
        assert!(one.is_ok() != two.is_ok(), "{name}: {one:?} {two:?}");
        let refused = one.err().or(two.err()).unwrap();
        assert!(matches!(refused, BeginError::KeyInUse | BeginError::InProgress { .. }), "{name}: {refused:?}");
    }
    assert_eq!(rows(&endpoint, "data").await.len() - before, 3 + 2, "one conversation, and one turn in the other");
}

#[tokio::test]
async fn f098_used_key_begins_no_turn() {
    let endpoint = database().await;
    let (store, owner) = (store_at(&endpoint).await, alice());
    let (one, two) = (claim(&store, b"x", 0).await, claim(&store, b"x", 0).await);
    let begun = store.conversations.begin(&owner, &keyed(one, first_turn("Q")), at(0)).await.unwrap();
    store.conversations.finish(&begun, &answer("A"), at(0)).await.unwrap();
    let before = rows(&endpoint, "data").await.len();
    for turn in [first_turn("Q"), next_turn(&begun.conversation_id, "Q")] {
        let refused = store.conversations.begin(&owner, &keyed(two.clone(), turn), at(1)).await;
        assert_eq!(refused.unwrap_err(), BeginError::KeyInUse);
    }
    assert_eq!(rows(&endpoint, "data").await.len(), before);
}

/// A process that dies before the transaction has written nothing, after it both; there is no moment in between.
#[tokio::test]
async fn f098_interrupted_begin_stores_turn_and_key_or_neither() {
    for (fault, stored) in [(Fault::Refused("ThrottlingException"), false), (Fault::LostResponse, true)] {
        let (wire, endpoint) = Wire::new().await;
        let (store, owner) = (store_without_retries_at(&endpoint).await, alice());
        let turn = keyed(claim(&store, b"x", 0).await, first_turn("Q"));
        wire.fail("TransactWriteItems", &[fault]);
        wire.fail("GetItem", &[Fault::LostResponse]);
        let begun = store.conversations.begin(&owner, &turn, at(0)).await;
        assert_eq!(begun.unwrap_err(), BeginError::Store(StoreError::Busy));
        assert_eq!(rows(&endpoint, "data").await.len(), if stored { 3 } else { 0 });
        for seconds in [0, 40] {
            let found = status(&store, b"x", seconds).await;
            assert_eq!(is_turn(&found, &turn.turn_id), stored, "{found:?}");
        }
    }
}

#[tokio::test]
async fn f150_deletion_removes_idempotency_keys() {
    let (store, owner) = (store().await, alice());
    let turn = keyed(claim(&store, b"x", 0).await, first_turn("hello"));
    let begun = store.conversations.begin(&owner, &turn, at(0)).await.unwrap();
    store.idempotency.delete_for_conversation(&owner, &begun.conversation_id).await.unwrap();
    claim(&store, b"other", 1).await;
}

/// Earlier releases claimed a key for 30 seconds before its turn began.
#[tokio::test]
async fn claim_of_earlier_release_blocks_until_its_end() {
    let endpoint = database().await;
    let (store, owner) = (store_at(&endpoint).await, alice());
    let turn = keyed(claim(&store, b"x", 0).await, first_turn("hello"));
    store.conversations.begin(&owner, &turn, at(0)).await.unwrap();
    let mut record: HashMap<_, _> = rows(&endpoint, "ephemeral").await.remove(0);
    record.remove("conversation");
    record.remove("answer");
    let until = at(30).duration_since(std::time::UNIX_EPOCH).unwrap().as_millis().to_string();
    record.insert("claimedUntil".to_owned(), AttributeValue::N(until));
    put_into(&endpoint, "ephemeral", record).await;
    assert!(matches!(status(&store, b"x", 29).await, IdempotencyStatus::Pending));
    assert!(matches!(status(&store, b"y", 29).await, IdempotencyStatus::Mismatch));
    let later = at(0) + Duration::from_secs(31);
    let turn = keyed(claim(&store, b"y", 31).await, first_turn("hello"));
    store.conversations.begin(&owner, &turn, later).await.unwrap();
    assert!(is_turn(&status(&store, b"y", 31).await, &turn.turn_id));
}
