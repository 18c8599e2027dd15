use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::Owner;
use store::{ApiKey, BeginError, DefinitionKind, NewKey, ReadError, Store, StoreError};

use crate::support::{
    Finish, ReadStored, alice, answer, at, config, database, first_turn, next_turn, rows, store_at, title,
};

type Item = HashMap<String, AttributeValue>;

/// Rewrites items like a release two versions ahead, which releases from `oldest` on can read.
async fn rewrite_as_newer(endpoint: &str, begins: &str, oldest: Option<u32>) -> Vec<Item> {
    let mut all = rows(endpoint, "data").await;
    all.retain(|item| item["sk"].as_s().unwrap().starts_with(begins));
    for item in &mut all {
        item.insert("v".to_owned(), AttributeValue::N("3".to_owned()));
        item.extend(oldest.map(|oldest| ("minReader".to_owned(), AttributeValue::N(oldest.to_string()))));
        let client = Client::new(&config(endpoint));
        client.put_item().table_name("data").set_item(Some(item.clone())).send().await.unwrap();
    }
    all
}

async fn items_with_prefix(endpoint: &str, begins: &str) -> Vec<Item> {
    let mut all = rows(endpoint, "data").await;
    all.retain(|item| item["sk"].as_s().unwrap().starts_with(begins));
    all
}

async fn store_conversation(store: &Store) -> String {
    let lease = store.conversations.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer("A"), at(1)).await.unwrap();
    lease.conversation_id
}

#[tokio::test]
async fn unreadable_newer_items_are_faults_and_unchanged() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let id = store_conversation(&store).await;
    let before = rewrite_as_newer(&endpoint, "C#", None).await;
    let talk = &store.conversations;
    assert!(matches!(talk.get(&alice(), &id).await, Err(ReadError::Store(StoreError::Fault(_)))));
    let renamed = talk.edit(&alice(), &id, &title("茶"), at(2)).await;
    assert!(matches!(renamed, Err(ReadError::Store(StoreError::Fault(_)))), "{renamed:?}");
    let begun = talk.begin(&alice(), &next_turn(&id, "R"), at(2)).await;
    assert!(matches!(begun, Err(BeginError::Store(StoreError::Fault(_)))), "{begun:?}");
    assert_eq!(items_with_prefix(&endpoint, "C#").await, before);
}

#[tokio::test]
async fn compatible_newer_items_are_read_and_written() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let id = store_conversation(&store).await;
    for begins in ["C#", "M#", "T#"] {
        rewrite_as_newer(&endpoint, begins, Some(1)).await;
    }
    let lease = store.conversations.begin(&alice(), &next_turn(&id, "R"), at(2)).await.unwrap();
    store.conversations.finish(&lease, &answer("B"), at(3)).await.unwrap();
    let page = store.conversations.messages(&alice(), &id, 100, None, at(4)).await.unwrap();
    let texts: Vec<String> = page.items.into_iter().map(|message| message.content).collect();
    assert_eq!(texts, ["Q", "A", "R", "B"]);
    assert_eq!(items_with_prefix(&endpoint, "C#").await[0]["v"].as_n().unwrap(), "3", "its writer's version stands");
}

#[tokio::test]
async fn turn_keeps_the_version_of_newer_instructions() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    store.instructions.set(&alice(), "Be brief.").await.unwrap();
    rewrite_as_newer(&endpoint, "I", Some(1)).await;
    let limit = store::RateLimit::parse("9/60s").unwrap();
    for _ in 0..2 {
        let (_, instructions) = store.rate_limiter.admit_turn(&alice(), limit, at(0)).await.unwrap();
        assert_eq!(instructions.as_deref(), Some("Be brief."));
    }
    assert_eq!(items_with_prefix(&endpoint, "I").await[0]["v"].as_n().unwrap(), "3");
}

#[tokio::test]
async fn lease_under_newer_head_is_not_overwritten() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let lease = store.conversations.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    let before = rewrite_as_newer(&endpoint, "C#", None).await;
    assert!(store.conversations.renew(&lease, at(1)).await.is_err());
    assert!(store.conversations.finish(&lease, &answer("A"), at(1)).await.is_err());
    assert_eq!(items_with_prefix(&endpoint, "C#").await, before);
    let answers = items_with_prefix(&endpoint, "M#").await;
    assert!(answers.iter().any(|item| item["progress"].as_s().unwrap() == "running"), "all or nothing");
}

#[tokio::test]
async fn newer_definitions_and_keys_stay_unchanged() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let body = serde_json::json!({});
    store.definitions.create(DefinitionKind::Agent, "id", "a", &body, at(0)).await.unwrap();
    let before = rewrite_as_newer(&endpoint, "I#", None).await;
    assert!(store.definitions.replace(DefinitionKind::Agent, "id", "a", &body, at(1)).await.is_err());
    assert_eq!(items_with_prefix(&endpoint, "I#").await, before);
    let key = ApiKey::generate().unwrap();
    let new = NewKey { owner: "ada".to_owned(), administrator: false, ..NewKey::default() };
    store.keys.create(&key, &new, at(0)).await.unwrap();
    let before = rewrite_as_newer(&endpoint, key.id(), None).await;
    assert!(matches!(store.keys.revoke(key.id(), at(1)).await, Err(StoreError::Fault(_))));
    assert_eq!(items_with_prefix(&endpoint, key.id()).await, before);
    assert_eq!(store.delete_owner(&Owner::key_holder("ada")).await.unwrap().keys, 1, "what is to go needs no reading");
}
