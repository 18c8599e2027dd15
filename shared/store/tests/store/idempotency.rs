use std::time::Duration;

use domain::Owner;
use store::{IdempotencyStatus, TurnRef};

use crate::support::{alice, at, first_turn, store};

#[tokio::test]
async fn f098_key_maps_equal_request_to_its_turn() {
    let (store, owner) = (store().await, alice());
    let claim = |owner: Owner, body: &'static [u8], turn: &'static str| {
        let idempotency = store.idempotency.clone();
        async move { idempotency.claim(&owner, "key 1", body, turn, at(0)).await.unwrap() }
    };
    let IdempotencyStatus::New(mine) = claim(owner.clone(), b"body", "t1").await else { panic!("a fresh key is new") };
    assert_eq!(claim(owner.clone(), b"body", "t2").await, IdempotencyStatus::Pending);
    let begun = store.conversations.begin(&owner, &first_turn("hello"), at(0)).await.unwrap();
    store.idempotency.record(&mine, &begun).await.unwrap();
    let known =
        TurnRef { turn_id: "t1".into(), conversation_id: begun.conversation_id.clone(), answer_seq: begun.answer_seq };
    assert_eq!(claim(owner.clone(), b"body", "t2").await, IdempotencyStatus::Existing(known));
    assert_eq!(claim(owner.clone(), b"other", "t2").await, IdempotencyStatus::Mismatch);
    assert!(matches!(claim(Owner::new("bob"), b"other", "t2").await, IdempotencyStatus::New(_)));
}

#[tokio::test]
async fn claim_without_turn_becomes_free() {
    let (store, owner) = (store().await, alice());
    let IdempotencyStatus::New(first) = store.idempotency.claim(&owner, "k", b"x", "t1", at(0)).await.unwrap() else {
        panic!("a fresh key is new")
    };
    store.idempotency.release(&first).await.unwrap();
    let again = store.idempotency.claim(&owner, "k", b"y", "t2", at(1)).await.unwrap();
    assert!(matches!(again, IdempotencyStatus::New(_)));
    let later = at(0) + Duration::from_secs(40);
    assert!(matches!(
        store.idempotency.claim(&owner, "k", b"z", "t3", later).await.unwrap(),
        IdempotencyStatus::New(_)
    ));
}

#[tokio::test]
async fn f150_deletion_removes_idempotency_keys() {
    let (store, owner) = (store().await, alice());
    let IdempotencyStatus::New(claim) = store.idempotency.claim(&owner, "k", b"x", "t1", at(0)).await.unwrap() else {
        panic!("a fresh key is new")
    };
    let begun = store.conversations.begin(&owner, &first_turn("hello"), at(0)).await.unwrap();
    store.idempotency.record(&claim, &begun).await.unwrap();
    store.idempotency.delete_for_conversation(&owner, &begun.conversation_id).await.unwrap();
    let again = store.idempotency.claim(&owner, "k", b"other", "t2", at(1)).await.unwrap();
    assert!(matches!(again, IdempotencyStatus::New(_)));
}
