use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::{Groups, Owner};
use secrecy::ExposeSecret;
use store::{ApiKey, KeyChange, KeyRecord, NewKey, Store, StoreError};

use crate::support::{
    Finish, alice, answer, at, config, database, first_turn, keyed_turn, next_turn, rows, store, store_at,
    store_without_retries_at,
};
use crate::wire::{Fault, Wire};

fn new_key(owner: &str) -> NewKey {
    NewKey { owner: owner.to_owned(), administrator: false, ..NewKey::default() }
}

async fn create_key(store: &Store, new: &NewKey) -> (ApiKey, KeyRecord) {
    let key = ApiKey::generate().unwrap();
    let record = store.keys.create(&key, new, at(0)).await.unwrap();
    (key, record)
}

#[tokio::test]
async fn key_is_found_by_id() {
    let store = store().await;
    let new = NewKey { owner: "小王 #1".to_owned(), administrator: true, expires: Some(at(9)), ..NewKey::default() };
    let (key, record) = create_key(&store, &new).await;
    let expected = (key.id(), "小王 #1", true, at(0), Some(at(9)), None, Owner::key_holder("小王 #1"));
    let KeyRecord { id, owner, administrator, created, expires, revoked, .. } = &record;
    assert_eq!((id.as_str(), owner.as_str(), *administrator, *created, *expires, *revoked, record.holder()), expected);
    assert_eq!(store.keys.get(key.id()).await, Ok(Some(record)));
    assert_eq!(store.keys.get(ApiKey::generate().unwrap().id()).await, Ok(None));
    assert_eq!(store.keys.get("' OR 1=1").await, Ok(None));
}

#[tokio::test]
async fn f118_only_valid_key_is_admitted() {
    let store = store().await;
    let (key, record) = create_key(&store, &NewKey { expires: Some(at(10)), ..new_key("ada") }).await;
    assert!(record.admits(&key, at(0)) && record.admits(&key, at(10) - Duration::from_millis(1)));
    assert!(!record.admits(&key, at(10)), "a key ends at its end");
    let (other, _) = create_key(&store, &new_key("ada")).await;
    assert!(!record.admits(&other, at(0)));
    let revoked = store.keys.revoke(key.id(), at(5)).await.unwrap().unwrap();
    assert_eq!(revoked.revoked, Some(at(5)));
    assert!(!revoked.admits(&key, at(5)) && !revoked.admits(&key, at(0)));
}

#[tokio::test]
async fn f118_revocation_is_permanent() {
    let store = store().await;
    let (key, _) = create_key(&store, &new_key("ada")).await;
    store.keys.revoke(key.id(), at(5)).await.unwrap();
    let again = store.keys.revoke(key.id(), at(7)).await.unwrap();
    assert_eq!(again.and_then(|record| record.revoked), Some(at(5)));
    assert_eq!(store.keys.revoke(ApiKey::generate().unwrap().id(), at(7)).await, Ok(None));
    assert_eq!(store.keys.revoke("x", at(7)).await, Ok(None));
}

#[tokio::test]
async fn change_replaces_rights_and_end() {
    let store = store().await;
    let (key, record) = create_key(&store, &new_key("ada")).await;
    let promoted = KeyChange { administrator: true, expires: Some(at(10)), citation_links: None, groups: None };
    let changed = store.keys.update(key.id(), &promoted).await.unwrap().unwrap();
    assert_eq!((changed.administrator, changed.expires), (true, Some(at(10))));
    assert_eq!(store.keys.get(key.id()).await, Ok(Some(changed.clone())));
    assert!(changed.admits(&key, at(9)) && !changed.admits(&key, at(10)));
    let plain = KeyChange { administrator: false, expires: None, citation_links: None, groups: None };
    assert_eq!(store.keys.update(key.id(), &plain).await, Ok(Some(record)));
}

#[tokio::test]
async fn groups_of_a_key_are_kept_until_changed() {
    let store = store().await;
    let groups = |names: &[&str]| Groups::new(names.iter().map(|name| (*name).to_owned())).unwrap();
    let (key, record) = create_key(&store, &NewKey { groups: groups(&["legal", "研发"]), ..new_key("ada") }).await;
    assert_eq!(store.keys.get(key.id()).await, Ok(Some(record.clone())));
    let change = |groups| KeyChange { administrator: false, expires: None, citation_links: None, groups };
    assert_eq!(store.keys.update(key.id(), &change(None)).await, Ok(Some(record)));
    for names in [&["sales"][..], &[]] {
        let changed = store.keys.update(key.id(), &change(Some(groups(names)))).await.unwrap().unwrap();
        assert_eq!(changed.groups, groups(names));
        assert_eq!(store.keys.get(key.id()).await, Ok(Some(changed)));
    }
}

#[tokio::test]
async fn f118_revoked_and_absent_keys_cannot_be_changed() {
    let store = store().await;
    let (key, _) = create_key(&store, &new_key("ada")).await;
    store.keys.revoke(key.id(), at(5)).await.unwrap();
    let change = KeyChange { administrator: true, expires: None, citation_links: None, groups: None };
    for id in [key.id(), ApiKey::generate().unwrap().id(), "x"] {
        assert_eq!(store.keys.update(id, &change).await, Ok(None), "{id}");
    }
    assert!(!store.keys.get(key.id()).await.unwrap().unwrap().administrator);
    assert_eq!(store.keys.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn f118_table_reveals_no_key() {
    let endpoint = database().await;
    let (key, _) = create_key(&store_at(&endpoint).await, &new_key("ada")).await;
    let text = key.text();
    let secret = text.expose_secret().rsplit('_').next().unwrap().to_owned();
    let stored = format!("{:?}", rows(&endpoint, "data").await);
    assert!(stored.contains(key.id()) && !stored.contains(&secret));
}

#[tokio::test]
async fn keys_are_listed_oldest_first() {
    let store = store().await;
    // More than a page of 1 MB.
    let long = "x".repeat(100_000);
    let mut ids = Vec::new();
    for number in 0..12 {
        ids.push(create_key(&store, &new_key(&format!("{number}{long}"))).await.0.id().to_owned());
    }
    let listed: Vec<String> = store.keys.list().await.unwrap().into_iter().map(|record| record.id).collect();
    ids.sort();
    assert_eq!(listed, ids);
}

#[tokio::test]
async fn key_of_another_version_is_rejected() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let (key, _) = create_key(&store, &new_key("ada")).await;
    let mut row = rows(&endpoint, "data").await.remove(0);
    row.insert("v".to_owned(), AttributeValue::N("2".to_owned()));
    Client::new(&config(&endpoint)).put_item().table_name("data").set_item(Some(row)).send().await.unwrap();
    assert!(matches!(store.keys.get(key.id()).await, Err(StoreError::Fault(_))));
}

#[tokio::test]
async fn f150_deleted_owner_leaves_nothing() {
    let endpoint = database().await;
    let store = store_at(&endpoint).await;
    let (ada, other) = (Owner::key_holder("ada"), Owner::key_holder("ada#"));
    let (kept, _) = create_key(&store, &new_key("ada#")).await;
    for owner in [&other, &Owner::unverified("ada"), &Owner::subject("https://id.example", "ada"), &alice()] {
        let lease = store.conversations.begin(owner, &first_turn("kept"), at(0)).await.unwrap();
        store.conversations.finish(&lease, &answer("A"), at(1)).await.unwrap();
    }
    let before = rows(&endpoint, "data").await.len() + 3;
    let (gone, _) = create_key(&store, &new_key("ada")).await;
    create_key(&store, &new_key("ada")).await;
    let lease = store.conversations.begin(&ada, &first_turn("Q"), at(0)).await.unwrap();
    store.conversations.finish(&lease, &answer("A"), at(1)).await.unwrap();
    store.conversations.begin(&ada, &next_turn(&lease.conversation_id, "Q"), at(2)).await.unwrap();
    for owner in [&ada, &other] {
        let turn = keyed_turn(&store, owner, "key").await;
        store.conversations.begin(owner, &turn, at(0)).await.unwrap();
    }
    let deleted = store.delete_owner(&ada).await.unwrap();
    assert_eq!((deleted.keys, deleted.conversations, deleted.others), (2, 2, 1), "one is an idempotency key");
    assert_eq!(rows(&endpoint, "data").await.len(), before);
    assert_eq!(rows(&endpoint, "ephemeral").await.len(), 1);
    assert_eq!(store.keys.get(gone.id()).await, Ok(None));
    assert!(store.keys.get(kept.id()).await.unwrap().is_some());
    assert_eq!(store.delete_owner(&ada).await, Ok(store::DeletionCounts::default()));
}

#[tokio::test]
async fn f150_owner_deletion_removes_earlier_leftovers() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_without_retries_at(&endpoint).await;
    let lease = store.conversations.begin(&alice(), &first_turn("Q"), at(0)).await.unwrap();
    wire.fail("Query", &[Fault::LostResponse]);
    assert!(store.conversations.delete(&alice(), &lease.conversation_id).await.is_err());
    let left = rows(&endpoint, "data").await.len();
    assert!(left > 0, "the head is gone and its messages are not");
    let deleted = store.delete_owner(&alice()).await.unwrap();
    assert_eq!((deleted.conversations, deleted.others), (0, left));
    assert_eq!(rows(&endpoint, "data").await, []);
}
