//! Shares and ratings, which others than their owner read, and imported conversations.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use domain::Owner;
use store::{ConversationStore, Feedback, NewConversation, NewMessage, NewTurn, Rating, ReadError, Role, Share, Store};

use crate::support::{
    Finish, ReadStored, alice, answer, at, config, database, first_turn, history_of, next_turn, rows, store, store_at,
    user_message,
};
use crate::wire::{Fault, Wire};

const DAY: Duration = Duration::from_hours(24);

/// Stores a conversation of one turn; returns its id and the id of its answer.
pub(crate) async fn one_turn(store: &ConversationStore, owner: &Owner) -> (String, String) {
    let turn = first_turn("Q");
    let lease = store.begin(owner, &turn, at(0)).await.unwrap();
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    (lease.conversation_id, turn.assistant_message_id)
}

pub(crate) async fn share(store: &ConversationStore, owner: &Owner, id: &str) -> Share {
    store.share(owner, id, "{}", DAY, at(2)).await.unwrap().unwrap()
}

pub(crate) fn up() -> Feedback {
    Feedback { rating: Rating::Up, reason: None }
}

#[tokio::test]
async fn share_ends_at_its_time() {
    let store = store().await.conversations;
    let (id, _) = one_turn(&store, &alice()).await;
    let made = share(&store, &alice(), &id).await;
    let end = 2 + DAY.as_secs();
    let read = async |seconds| store.shared_copy(&made.id, at(seconds)).await.unwrap();
    assert_eq!(
        [read(2).await, read(end - 1).await, read(end).await],
        [Some("{}".to_owned()), Some("{}".to_owned()), None]
    );
    let listed = async |seconds| store.shares(&alice(), &id, at(seconds)).await.unwrap();
    assert_eq!((listed(end - 1).await, listed(end).await), (vec![made.clone()], Vec::new()));
    for unknown in ["", "x", &"0".repeat(40), &made.id.to_uppercase(), &format!("{}0", made.id)] {
        assert_eq!(store.shared_copy(unknown, at(2)).await, Ok(None), "{unknown}");
    }
}

#[tokio::test]
async fn large_copy_is_whole_or_gone() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let (id, _) = one_turn(&store, &alice()).await;
    let copy = "茶x".repeat(ConversationStore::MAX_COPY_BYTES / 4);
    let made = store.share(&alice(), &id, &copy, DAY, at(2)).await.unwrap().unwrap();
    assert!(store.shared_copy(&made.id, at(2)).await.unwrap() == Some(copy));
    let pieces = rows(&endpoint, "ephemeral").await;
    let piece = pieces.iter().find(|item| item["sk"].as_s().is_ok_and(|sk| sk == "P#003")).unwrap();
    let key = piece.iter().filter(|(name, _)| ["pk", "sk"].contains(&name.as_str()));
    let key = key.map(|(name, value)| (name.clone(), value.clone())).collect();
    let client = Client::new(&config(&endpoint));
    client.delete_item().table_name("ephemeral").set_key(Some(key)).send().await.unwrap();
    assert_eq!(store.shared_copy(&made.id, at(2)).await, Ok(None), "expired items are deleted one by one");
}

#[tokio::test]
async fn shares_of_conversation_are_bounded() {
    let store = store().await.conversations;
    let (id, _) = one_turn(&store, &alice()).await;
    for _ in 0..ConversationStore::MAX_SHARES {
        share(&store, &alice(), &id).await;
    }
    assert_eq!(store.share(&alice(), &id, "{}", DAY, at(2)).await, Ok(None));
    assert!(store.share(&alice(), &id, "{}", DAY, at(3 + DAY.as_secs())).await.unwrap().is_some(), "the others ended");
    assert_eq!(store.share(&Owner::new("bob"), &id, "{}", DAY, at(2)).await, Err(ReadError::NotFound));
}

#[tokio::test]
async fn f150_operator_deletion_finds_leftover_copies() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    let (id, message) = one_turn(&store.conversations, &alice()).await;
    let made = share(&store.conversations, &alice(), &id).await;
    store.conversations.rate(&alice(), &id, &message, Some(&up()), at(2)).await.unwrap();
    wire.fail("BatchWriteItem", &[Fault::Refused("ValidationException")]);
    assert!(store.conversations.delete(&alice(), &id).await.is_err());
    assert!(store.conversations.shared_copy(&made.id, at(2)).await.unwrap().is_some(), "a leftover");
    assert_eq!(store.delete_owner(&alice()).await.map(drop), Ok(()));
    assert_eq!([rows(&endpoint, "data").await, rows(&endpoint, "ephemeral").await].concat(), []);
    assert_eq!(store.conversations.shared_copy(&made.id, at(2)).await, Ok(None));
}

#[tokio::test]
async fn f150_deleted_conversation_leaves_nothing_outside() {
    let endpoint = database().await;
    let Store { conversations: store, .. } = store_at(&endpoint).await;
    let (id, message) = one_turn(&store, &alice()).await;
    let (kept, _) = one_turn(&store, &Owner::new("bob")).await;
    let shared = share(&store, &Owner::new("bob"), &kept).await;
    let before = rows(&endpoint, "ephemeral").await.len();
    share(&store, &alice(), &id).await;
    for seconds in 2..5 {
        assert_eq!(store.rate(&alice(), &id, &message, Some(&up()), at(seconds)).await, Ok(true));
    }
    assert_eq!(rows(&endpoint, "ephemeral").await.len(), before + 2, "a copy and the last rating");
    store.delete(&alice(), &id).await.unwrap();
    assert_eq!(rows(&endpoint, "ephemeral").await.len(), before);
    assert!(store.shared_copy(&shared.id, at(3)).await.unwrap().is_some());
    assert_eq!(store.rate(&alice(), &id, &message, Some(&up()), at(9)).await, Err(ReadError::NotFound));
}

#[tokio::test]
async fn ratings_are_paged_and_expire() {
    let store = store().await.conversations;
    let (id, message) = one_turn(&store, &alice()).await;
    store.rate(&alice(), &id, &message, Some(&up()), at(0)).await.unwrap();
    for seconds in 1..=150 {
        let (id, message) = one_turn(&store, &alice()).await;
        store.rate(&alice(), &id, &message, Some(&up()), at(seconds)).await.unwrap();
    }
    let first = store.list_feedback(None, at(150)).await.unwrap();
    let second = store.list_feedback(first.next_cursor.as_deref(), at(150)).await.unwrap();
    assert_eq!((first.items.len(), second.items.len(), second.next_cursor), (100, 51, None));
    let times: Vec<String> =
        first.items.iter().chain(&second.items).map(|row| row["createdAt"].as_str().unwrap().to_owned()).collect();
    assert!(times.is_sorted_by(|one, other| one > other), "{times:?}");
    let later = at(0) + DAY * 365;
    assert_eq!(store.list_feedback(first.next_cursor.as_deref(), later).await.unwrap().items.len(), 50);
}

fn message(parent: Option<usize>, role: Role, content: &str) -> NewMessage {
    NewMessage {
        parent,
        role,
        content: content.to_owned(),
        sources: Vec::new(),
        model: "m".to_owned(),
        is_complete: true,
        created_at: at(1),
    }
}

pub(crate) fn imported() -> NewConversation {
    let messages = vec![
        message(None, Role::User, "Q"),
        message(Some(0), Role::Assistant, "A"),
        message(Some(0), Role::Assistant, "B"),
        message(Some(2), Role::User, "R"),
        message(Some(3), Role::Assistant, "C"),
    ];
    NewConversation {
        title: "T".to_owned(),
        has_own_title: true,
        created_at: at(0),
        updated_at: at(2),
        messages,
        last: 4,
    }
}

#[tokio::test]
async fn imported_conversation_continues_on_its_shown_branch() {
    let store = store().await.conversations;
    let id = domain::new_id();
    for _ in 0..2 {
        store.import(&alice(), &id, &imported()).await.unwrap();
    }
    assert_eq!(store.get(&alice(), &id).await.unwrap().message_count, 4);
    let texts = async || -> Vec<String> {
        let page = store.messages(&alice(), &id, 100, None, at(9)).await.unwrap();
        page.items.into_iter().map(|message| message.content).collect()
    };
    assert_eq!(texts().await, ["Q", "B", "R", "C"]);
    let again = NewTurn { input: store::UserInput::Regenerate, ..next_turn(&id, "") };
    let lease = store.begin(&alice(), &again, at(3)).await.unwrap();
    assert_eq!(store.load_input(&lease).await.unwrap(), [user_message("R")]);
    let history = history_of(&store, &lease, 1_000).await;
    assert_eq!(history[0], user_message("Q"));
    assert_eq!(history.len(), 2);
    store.finish(&lease, &answer("D"), at(4)).await.unwrap();
    assert_eq!(texts().await, ["Q", "B", "R", "D"]);
}

#[tokio::test]
async fn f150_erasure_deletes_interrupted_imports() {
    let (wire, endpoint) = Wire::new().await;
    let store = crate::support::store_without_retries_at(&endpoint).await;
    wire.fail("TransactWriteItems", &[Fault::Refused("ValidationException")]);
    assert!(store.conversations.import(&alice(), &domain::new_id(), &imported()).await.is_err());
    assert!(rows(&wire.database, "data").await.len() > 4);
    store.erase(&alice(), at(9)).await.unwrap();
    assert_eq!(rows(&wire.database, "data").await, []);
}

#[tokio::test]
async fn f081_interrupted_import_is_invisible_and_completed() {
    let (wire, endpoint) = Wire::new().await;
    let store = crate::support::store_without_retries_at(&endpoint).await.conversations;
    let id = domain::new_id();
    wire.fail("TransactWriteItems", &[Fault::Refused("ValidationException")]);
    assert!(store.import(&alice(), &id, &imported()).await.is_err());
    assert_eq!(store.get(&alice(), &id).await, Err(ReadError::NotFound));
    assert_eq!(store.list(&alice(), 9, None).await.unwrap().items, []);
    store.import(&alice(), &id, &imported()).await.unwrap();
    assert_eq!(store.get(&alice(), &id).await.unwrap().message_count, 4);
}
