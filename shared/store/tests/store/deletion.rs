use domain::Owner;
use store::{LeaseError, ReadError};

use crate::support::{
    Finish, alice, answer, at, database, first_turn, next_turn, rows, store_at, store_without_retries_at,
};
use crate::wire::{Fault, Wire};

#[tokio::test]
async fn f150_deleted_conversation_leaves_nothing() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let kept = store.begin(&alice(), &first_turn("kept"), at(0)).await.unwrap();
    let before = rows(&endpoint, "data").await.len();
    let mut lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = lease.conversation_id.clone();
    for _ in 0..9 {
        store.finish(&lease, &answer("A"), at(1)).await.unwrap();
        lease = store.begin(&alice(), &next_turn(&id, "Q"), at(1)).await.unwrap();
    }
    assert_eq!(store.delete(&Owner::new("bob"), &id).await, Err(ReadError::NotFound));
    store.delete(&alice(), &id).await.unwrap();
    assert_eq!(rows(&endpoint, "data").await.len(), before);
    assert_eq!(store.delete(&alice(), &id).await, Err(ReadError::NotFound));
    assert_eq!(store.list(&alice(), 10, None).await.unwrap().items.len(), 1);
    store.finish(&kept, &answer("A"), at(2)).await.unwrap();
}

#[tokio::test]
async fn turn_of_deleted_conversation_writes_nothing() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.delete(&alice(), &lease.conversation_id).await.unwrap();
    assert_eq!(store.renew(&lease, at(1)).await, Err(LeaseError::Lost));
    assert_eq!(store.finish(&lease, &answer("A"), at(1)).await, Err(LeaseError::Lost));
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn f084_unprocessed_batch_items_are_resent() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    wire.fail("BatchWriteItem", &[Fault::HalfBatch, Fault::HalfBatch]);
    store.delete(&alice(), &lease.conversation_id).await.unwrap();
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn f081_next_deletion_completes_interrupted_one() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = lease.conversation_id;
    wire.fail("DeleteItem", &[Fault::LostResponse]);
    assert!(matches!(store.delete(&alice(), &id).await, Err(ReadError::Store(_))));
    store.delete(&alice(), &id).await.unwrap();
    assert_eq!(rows(&endpoint, "data").await, []);
    assert_eq!(store.delete(&alice(), &id).await, Err(ReadError::NotFound));
}
