//! The numbered pages of conversations.

use domain::{NumberedSources, Source};
use store::{Answer, ConversationStore, StoredMessage, TurnLease};

use crate::support::{
    Finish, ReadStored, alice, answer, at, database, first_turn, next_turn, put, rows, store, store_at,
};

fn source(index: usize) -> Source {
    Source { index, title: format!("T{index}"), url: format!("https://{index}.example/"), excerpt: String::new() }
}

fn numbered(indexes: impl IntoIterator<Item = usize>, last: usize) -> NumberedSources {
    NumberedSources { sources: indexes.into_iter().map(source).collect(), last }
}

fn adding(added: NumberedSources) -> Answer {
    Answer { added_sources: Some(added), ..answer("A") }
}

async fn begin(store: &ConversationStore, id: &str, seconds: u64) -> TurnLease {
    store.begin(&alice(), &next_turn(id, "Q"), at(seconds)).await.unwrap()
}

async fn messages(store: &ConversationStore, id: &str) -> Vec<StoredMessage> {
    store.messages(&alice(), id, 100, None, at(9)).await.unwrap().items
}

#[tokio::test]
async fn next_turn_reads_the_pages_of_all_turns() {
    let store = store().await.conversations;
    let first = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = first.conversation_id.clone();
    assert_eq!((store.sources(&first).await, first.has_numbered_sources()), (Ok(numbered([], 0)), true));
    store.finish(&first, &adding(numbered([1, 2], 2)), at(1)).await.unwrap();
    let second = begin(&store, &id, 2).await;
    assert_eq!(store.sources(&second).await, Ok(numbered([1, 2], 2)));
    store.finish(&second, &adding(numbered([], 2)), at(3)).await.unwrap();
    let third = begin(&store, &id, 4).await;
    store.finish(&third, &adding(numbered([3], 3)), at(5)).await.unwrap();
    assert_eq!(store.sources(&begin(&store, &id, 6).await).await, Ok(numbered([1, 2, 3], 3)));
}

#[tokio::test]
async fn later_pages_are_counted_but_not_remembered() {
    let store = store().await.conversations;
    let first = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&first, &adding(numbered(1998..=2003, 2003)), at(1)).await.unwrap();
    let second = begin(&store, &first.conversation_id, 2).await;
    assert_eq!(store.sources(&second).await, Ok(numbered([1998, 1999, 2000], 2003)));
    store.finish(&second, &adding(numbered([2004], 2004)), at(3)).await.unwrap();
    let third = begin(&store, &first.conversation_id, 4).await;
    assert_eq!(store.sources(&third).await, Ok(numbered([1998, 1999, 2000], 2004)));
}

#[tokio::test]
async fn pages_of_older_conversation_come_from_its_messages() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let mut lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let id = lease.conversation_id.clone();
    for sources in [vec![source(1), source(2)], vec![source(1), source(3)]] {
        store.finish(&lease, &Answer { sources, ..answer("A") }, at(1)).await.unwrap();
        lease = begin(&store, &id, 1).await;
    }
    store.finish(&lease, &answer("A"), at(1)).await.unwrap();
    let heads = rows(&endpoint, "data").await;
    let mut head = heads.into_iter().find(|item| item.contains_key("numbered")).unwrap();
    head.remove("numbered");
    put(&endpoint, head).await;
    let lease = begin(&store, &id, 2).await;
    assert!(!lease.has_numbered_sources());
    let found = store.sources(&lease).await.unwrap();
    assert_eq!(found, numbered([1, 2, 1, 3], 0));
    store.finish(&lease, &adding(numbered([1, 2, 3], 3)), at(3)).await.unwrap();
    let next = begin(&store, &id, 4).await;
    assert_eq!((store.sources(&next).await, next.has_numbered_sources()), (Ok(numbered([1, 2, 3], 3)), true));
    assert_eq!(messages(&store, &id).await[1].sources, [source(1), source(2)]);
}

#[tokio::test]
async fn f150_pages_are_deleted_with_their_conversation() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&lease, &adding(numbered([1], 1)), at(1)).await.unwrap();
    let is_page = |item: &std::collections::HashMap<String, _>| {
        item.values().any(|value| format!("{value:?}").contains("1.example"))
    };
    assert!(rows(&endpoint, "data").await.iter().any(is_page));
    store.delete(&alice(), &lease.conversation_id).await.unwrap();
    assert_eq!(rows(&endpoint, "data").await, []);
}

#[tokio::test]
async fn excerpts_are_compressed_and_older_ones_read() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await.conversations;
    let found = [1, 2, 2].map(|index| source(index).with_excerpt("周末杭州以多云为主"));
    let lease = store.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.finish(&lease, &Answer { sources: found.to_vec(), ..answer("A") }, at(1)).await.unwrap();
    assert_eq!(messages(&store, &lease.conversation_id).await[1].sources, found);
    let all = rows(&endpoint, "data").await;
    let mut row = all.into_iter().find(|row| row.contains_key("excerpts")).unwrap();
    let plain = row["sources"].as_s().unwrap();
    assert_eq!(plain.matches("周末").count(), 1, "two pages have one number: {plain}");
    let older = serde_json::to_string(&found).unwrap();
    row.insert("sources".to_owned(), aws_sdk_dynamodb::types::AttributeValue::S(older));
    row.remove("excerpts");
    put(&endpoint, row).await;
    assert_eq!(messages(&store, &lease.conversation_id).await[1].sources, found);
}
