use std::time::Duration;

use domain::{NumberedSources, Source, Summary};
use store::{
    Answer, BeginError, ConversationFilter, ConversationStore, ExportRow, IdempotencyStatus, NewTurn, ReadError, Store,
    TurnLease,
};

use crate::support::{
    Finish, ReadStored, alice, answer, assistant_message, at, database, first_turn, keyed_turn, next_turn, rows, store,
    store_at, title, user_message,
};

/// One day after [`at`] zero.
const DAY: u64 = 24 * 3600;

fn temporary(turn: NewTurn) -> NewTurn {
    NewTurn { temporary: true, ..turn }
}

async fn begin(store: &ConversationStore, seconds: u64) -> TurnLease {
    store.begin(&alice(), &temporary(first_turn("Q")), at(seconds)).await.unwrap()
}

/// An answer whose turn stores an item of every kind.
fn answer_with_everything() -> Answer {
    let source =
        Source { index: 1, title: "t".to_owned(), url: "https://a.example".to_owned(), excerpt: String::new() };
    Answer {
        added_sources: Some(NumberedSources { sources: vec![source], last: 1 }),
        transcript: vec![assistant_message(&"x".repeat(10_000)), user_message("u"), assistant_message("C")],
        summary: Some(Summary { up_to_seq: 2, text: "s".to_owned() }),
        ..answer(&"A".repeat(300_000))
    }
}

#[tokio::test]
async fn every_item_of_temporary_conversation_expires() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let lease = begin(&store.conversations, 0).await;
    store.conversations.finish(&lease, &answer_with_everything(), at(1)).await.unwrap();
    let next = store.conversations.begin(&alice(), &next_turn(&lease.conversation_id, "R"), at(2)).await.unwrap();
    let small = vec![assistant_message("x"), user_message("u"), assistant_message("C")];
    store.conversations.finish(&next, &Answer { transcript: small, ..answer("B") }, at(3)).await.unwrap();
    let items = rows(&endpoint, "data").await;
    assert!(items.len() > 8, "{}", items.len());
    for item in items {
        assert_eq!(item["expires"].as_n().unwrap(), "1800086400", "{item:?}");
    }
}

#[tokio::test]
async fn expired_conversation_is_not_found() {
    let store = store().await;
    let talk = &store.conversations;
    let lease = begin(talk, 0).await;
    talk.finish(&lease, &answer("A"), at(1)).await.unwrap();
    let id = lease.conversation_id;
    let shown = talk.messages(&alice(), &id, 10, None, at(DAY - 1)).await.unwrap();
    assert_eq!(shown.items.len(), 2);
    let gone = Some(ReadError::NotFound);
    assert_eq!(talk.messages(&alice(), &id, 10, None, at(DAY)).await.err(), gone);
    assert_eq!(talk.running_turn(&alice(), &id, at(DAY)).await.err(), gone);
    assert_eq!(talk.get_turn(&alice(), &id, 2, at(DAY)).await.err(), gone);
    assert_eq!(talk.request_stop(&alice(), &id, None, at(DAY)).await.err(), gone);
    let begun = talk.begin(&alice(), &next_turn(&id, "R"), at(DAY)).await;
    assert_eq!(begun.unwrap_err(), BeginError::NotFound);
}

#[tokio::test]
async fn deletion_of_expired_conversation_finds_nothing() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(DAY + 60);
    let turn = temporary(first_turn("Q"));
    let id = store.begin(&alice(), &turn, long_ago).await.unwrap().conversation_id;
    assert_eq!(store.get(&alice(), &id).await.err(), Some(ReadError::NotFound));
    assert_eq!(store.delete(&alice(), &id).await, Err(ReadError::NotFound));
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn temporary_conversation_is_in_no_filtered_list() {
    let store = store().await;
    let id = begin(&store.conversations, 0).await.conversation_id;
    let kept = ConversationFilter { temporary: Some(false), ..ConversationFilter::default() };
    let list = store.conversations.list_filtered(&alice(), kept, 10, None).await.unwrap();
    assert_eq!((list.items.len(), list.next_cursor), (0, None));
    let mut export = store.export(&alice(), at(1));
    while let Some(rows) = export.next().await.unwrap() {
        assert!(!rows.iter().any(|row| matches!(row, ExportRow::Conversation(_) | ExportRow::Message { .. })));
    }
    let all = store.conversations.list(&alice(), 10, None).await.unwrap().items;
    assert_eq!(all[0].expires_at.as_deref(), Some("2027-01-16T08:00:00.000Z"));
    let edited = store.conversations.edit(&alice(), &id, &title("x"), at(1)).await;
    assert_eq!(edited.err(), Some(ReadError::NotFound));
}

#[tokio::test]
async fn temporary_turn_needs_temporary_conversation() {
    let store = store().await.conversations;
    let kept = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&kept, &answer("A"), at(1)).await.unwrap();
    let turn = temporary(next_turn(&kept.conversation_id, "R"));
    assert_eq!(store.begin(&alice(), &turn, at(2)).await.unwrap_err(), BeginError::NotTemporary);
    let lease = begin(&store, 0).await;
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    let turn = temporary(next_turn(&lease.conversation_id, "R"));
    assert!(store.begin(&alice(), &turn, at(2)).await.unwrap().is_temporary());
}

#[tokio::test]
async fn erasure_deletes_temporary_conversations() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let lease = begin(&store.conversations, 0).await;
    store.conversations.finish(&lease, &answer("A"), at(1)).await.unwrap();
    assert_eq!(store.erase(&alice(), at(2)).await.unwrap().conversations, 1);
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn f150_erasure_deletes_expired_temporary_conversations() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let lease = begin(&store.conversations, 0).await;
    store.conversations.finish(&lease, &answer("A"), at(1)).await.unwrap();
    let owner = alice();
    let erased = tokio::time::timeout(Duration::from_secs(30), store.erase(&owner, at(DAY + 1)));
    assert_eq!(erased.await.unwrap().unwrap().conversations, 1);
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn idempotency_key_ends_with_temporary_conversation() {
    let store: Store = store().await;
    let turn = temporary(keyed_turn(&store, &alice(), "key").await);
    store.conversations.begin(&alice(), &turn, at(3600)).await.unwrap();
    let status = async |seconds| store.idempotency.status(&alice(), "key", b"{}", at(seconds)).await.unwrap();
    assert!(matches!(status(DAY).await, IdempotencyStatus::Existing(_)));
    assert!(matches!(status(3600 + DAY).await, IdempotencyStatus::New(_)));
}
