use domain::Owner;
use store::{BeginError, ConversationStore, NewTurn, ReadError};

use crate::support::{
    Finish, alice, answer, assistant_message, at, database, first_turn, history_of, next_turn, rows, store, store_at,
    store_without_retries_at, user_message,
};
use crate::wire::{Fault, Wire};

/// A turn that begins a conversation under a chat id.
fn chat_turn(chat_id: &str, text: &str) -> NewTurn {
    NewTurn { chat_id: Some(chat_id.to_owned()), ..first_turn(text) }
}

async fn begin_chat(store: &ConversationStore, owner: &Owner, chat_id: &str) -> String {
    let lease = store.begin(owner, &chat_turn(chat_id, "Q"), at(0)).await.unwrap();
    store.finish(&lease, &answer("A"), at(0)).await.unwrap();
    lease.conversation_id
}

#[tokio::test]
async fn chat_id_maps_to_its_owners_conversation() {
    let store = store().await.conversations;
    let (bob, long) = (Owner::new("bob"), "长".repeat(255));
    for chat_id in ["x7", "", "a#C#b", "%41", "../..", &long] {
        assert_eq!(store.find_by_chat_id(&alice(), chat_id).await, Ok(None));
        let mine = begin_chat(&store, &alice(), chat_id).await;
        assert_eq!(store.find_by_chat_id(&alice(), chat_id).await, Ok(Some(mine.clone())));
        assert_eq!(store.find_by_chat_id(&bob, chat_id).await, Ok(None), "{chat_id}");
        let theirs = begin_chat(&store, &bob, chat_id).await;
        assert_eq!(store.find_by_chat_id(&alice(), chat_id).await, Ok(Some(mine)));
        assert_eq!(store.find_by_chat_id(&bob, chat_id).await, Ok(Some(theirs)));
    }
    assert_eq!(store.list(&alice(), 100, None).await.unwrap().items.len(), 6);
}

#[tokio::test]
async fn conversation_id_is_also_a_chat_id() {
    let store = store().await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = lease.conversation_id;
    assert_eq!(store.find_by_chat_id(&alice(), &id).await, Ok(Some(id.clone())));
    assert_eq!(store.find_by_chat_id(&Owner::new("bob"), &id).await, Ok(None));
}

#[tokio::test]
async fn last_user_message_belongs_to_last_turn() {
    let store = store().await.conversations;
    assert_eq!(store.last_user_message(&alice(), "01ARZ3NDEKTSV4RRFFQ69G5FAV").await, Ok(None));
    let id = begin_chat(&store, &alice(), "x").await;
    store.begin(&alice(), &next_turn(&id, " 第二问\n"), at(1)).await.unwrap();
    assert_eq!(store.last_user_message(&alice(), &id).await, Ok(Some(" 第二问\n".to_owned())));
    assert_eq!(store.last_user_message(&Owner::new("bob"), &id).await, Ok(None));
}

#[tokio::test]
async fn f100_concurrent_first_messages_share_one_conversation() {
    let store = store().await.conversations;
    let (one, other) = (chat_turn("x", "Q1"), chat_turn("x", "Q2"));
    let (owner, now) = (alice(), at(0));
    let (one, other) = tokio::join!(store.begin(&owner, &one, now), store.begin(&owner, &other, now));
    let (winner, loser) = if one.is_ok() { (one, other) } else { (other, one) };
    assert!(matches!(loser, Err(BeginError::InProgress { .. })), "{loser:?}");
    let lease = winner.unwrap();
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    let late = store.begin(&alice(), &chat_turn("x", "Q3"), at(2)).await.unwrap();
    assert_eq!(late.conversation_id, lease.conversation_id, "also when the other's turn is over");
    assert_eq!(history_of(&store, &late, 1000).await.last(), Some(&assistant_message("A")));
    assert_eq!(store.list(&alice(), 10, None).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn f081_chat_is_created_atomically() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    wire.fail("TransactWriteItems", &[Fault::Refused("ThrottlingException")]);
    store.begin(&alice(), &chat_turn("x", "Q1"), at(0)).await.unwrap_err();
    assert_eq!(rows(&endpoint, "data").await, []);
    let faults = [Fault::Cancelled("TransactionConflict"), Fault::LostResponse];
    wire.fail("TransactWriteItems", &faults);
    let lease = store.begin(&alice(), &chat_turn("x", "Q1"), at(0)).await.unwrap();
    assert_eq!(store.find_by_chat_id(&alice(), "x").await, Ok(Some(lease.conversation_id.clone())));
    store.finish(&lease, &answer("A1"), at(1)).await.unwrap();
    let next = store.begin(&alice(), &next_turn(&lease.conversation_id, "Q2"), at(2)).await.unwrap();
    assert_eq!(history_of(&store, &next, 1000).await, [user_message("Q1"), assistant_message("A1")]);
}

#[tokio::test]
async fn f150_deleted_conversation_frees_its_chat_id() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await.conversations;
    let first = begin_chat(&store, &alice(), "x").await;
    wire.fail("DeleteItem", &[Fault::LostResponse]);
    assert!(matches!(store.delete(&alice(), &first).await, Err(ReadError::Store(_))), "its chat id is free already");
    let second = begin_chat(&store, &alice(), "x").await;
    store.delete(&alice(), &first).await.unwrap();
    assert_eq!(store.find_by_chat_id(&alice(), "x").await, Ok(Some(second.clone())), "it belongs to another by now");
    store.delete(&alice(), &second).await.unwrap();
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn f150_deleted_owner_leaves_no_chat_ids() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    begin_chat(&store.conversations, &alice(), "x").await;
    begin_chat(&store.conversations, &Owner::new("bob"), "x").await;
    let deleted = store.delete_owner(&alice()).await.unwrap();
    assert_eq!((deleted.conversations, deleted.others), (1, 0));
    assert_eq!(store.conversations.find_by_chat_id(&alice(), "x").await, Ok(None));
    assert!(store.conversations.find_by_chat_id(&Owner::new("bob"), "x").await.unwrap().is_some());
}
