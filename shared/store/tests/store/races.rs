//! Races: one call is held on the wire while another completes.

use std::time::Duration;

use store::{BeginError, Claim, ConversationStore, Page, Status, StoredMessage, TurnLease};
use tokio::task::JoinHandle;

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, first_turn, history_of, next_turn, rows, store_at,
    user_message,
};
use crate::wire::{Fault, Gate, Wire};

/// A store on the wire, another one without it, and the wire.
async fn two_stores() -> (ConversationStore, ConversationStore, Wire) {
    let (wire, endpoint) = Wire::new().await;
    let direct_store = store_at(&wire.database).await.conversations;
    (store_at(&endpoint).await.conversations, direct_store, wire)
}

fn begin(store: &ConversationStore, id: &str, text: &str, seconds: u64) -> JoinHandle<Result<TurnLease, BeginError>> {
    let (store, turn) = (store.clone(), next_turn(id, text));
    tokio::spawn(async move { store.begin(&alice(), &turn, at(seconds)).await })
}

#[tokio::test]
async fn f100_overtaken_turn_follows_the_other_turn() {
    let (slow, fast, wire) = two_stores().await;
    let lease = fast.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    fast.finish(&lease, &answer("A1"), at(0)).await.unwrap();
    let (id, gate) = (lease.conversation_id, Gate::default());
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    let overtaken = begin(&slow, &id, "Q3", 1);
    gate.arrival().await;
    let lease = fast.begin(&alice(), &next_turn(&id, "Q2"), at(1)).await.unwrap();
    fast.finish(&lease, &answer("A2"), at(1)).await.unwrap();
    gate.open();
    let lease = overtaken.await.unwrap().unwrap();
    let expected = [user_message("Q1"), assistant_message("A1"), user_message("Q2"), assistant_message("A2")];
    assert_eq!(history_of(&slow, &lease, 1000).await, expected);
    assert_eq!(slow.get(&alice(), &id).await.unwrap().message_count, 6);
}

#[tokio::test]
async fn f100_last_moment_renewal_keeps_the_lease() {
    let (slow, fast, wire) = two_stores().await;
    let lease = fast.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    let gate = Gate::default();
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    let late = begin(&slow, &lease.conversation_id, "Q2", 15);
    gate.arrival().await;
    fast.renew(&lease, at(15)).await.unwrap();
    gate.open();
    let refused = BeginError::InProgress { retry_after: Duration::from_secs(15) };
    assert_eq!(late.await.unwrap().unwrap_err(), refused);
    fast.finish(&lease, &answer("A1"), at(16)).await.unwrap();
}

#[tokio::test]
async fn f150_begin_during_deletion_writes_nothing() {
    let (slow, fast, wire) = two_stores().await;
    let lease = fast.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    fast.finish(&lease, &answer("A1"), at(0)).await.unwrap();
    let gate = Gate::default();
    wire.fail("TransactWriteItems", &[Fault::Held(gate.clone())]);
    let late = begin(&slow, &lease.conversation_id, "Q2", 1);
    gate.arrival().await;
    fast.delete(&alice(), &lease.conversation_id).await.unwrap();
    gate.open();
    assert_eq!(late.await.unwrap().unwrap_err(), BeginError::NotFound);
    assert_eq!(rows(&wire.database, "data").await, []);
}

#[tokio::test]
async fn f085_turn_begun_during_read_comes_next() {
    let (slow, fast, wire) = two_stores().await;
    let lease = fast.begin(&alice(), &first_turn("Q1"), at(0)).await.unwrap();
    fast.finish(&lease, &answer("A1"), at(0)).await.unwrap();
    let (id, gate) = (lease.conversation_id, Gate::default());
    wire.fail("Query", &[Fault::Held(gate.clone())]);
    let reading = tokio::spawn({
        let id = id.clone();
        async move { slow.messages(&alice(), &id, 10, None, at(1)).await.unwrap() }
    });
    gate.arrival().await;
    fast.begin(&alice(), &next_turn(&id, "Q2"), at(1)).await.unwrap();
    gate.open();
    let statuses = |page: Page<StoredMessage>| page.items.into_iter().map(|one| one.status).collect::<Vec<_>>();
    assert_eq!(statuses(reading.await.unwrap()), [Status::Complete, Status::Complete]);
    let next = fast.messages(&alice(), &id, 10, None, at(1)).await.unwrap();
    assert_eq!(statuses(next), [Status::Complete, Status::Complete, Status::Complete, Status::Running]);
}

#[tokio::test]
async fn f070_caller_after_leader_gets_its_value() {
    let (wire, endpoint) = Wire::new().await;
    let (slow, fast) = (store_at(&endpoint).await.search_cache, store_at(&wire.database).await.search_cache);
    let duration = Duration::from_secs(12);
    let Claim::Lead { lease, .. } = fast.claim("k", "provider", duration, at(0)).await.unwrap() else {
        panic!("no lead")
    };
    let gate = Gate::default();
    wire.fail("UpdateItem", &[Fault::Held(gate.clone())]);
    let late = tokio::spawn(async move { slow.claim("k", "provider", duration, at(1)).await.unwrap() });
    gate.arrival().await;
    fast.put(lease, "value", Duration::from_hours(1), at(1)).await.unwrap();
    gate.open();
    assert!(matches!(late.await.unwrap(), Claim::Fresh(value) if value == "value"));
    assert!(!rows(&wire.database, "ephemeral").await[0].contains_key("leader"));
}
