//! At least one administrator's key without an end remains, whatever happens at the same moment.

use domain::Owner;
use store::{ApiKey, KeyChange, KeyError, NewKey, Store};

use crate::support::{at, store};

const DEMOTION: KeyChange = KeyChange { administrator: false, expires: None, citation_links: None, groups: None };

async fn administrator(store: &Store, owner: &str) -> String {
    let key = ApiKey::generate().unwrap();
    let new = NewKey { owner: owner.to_owned(), administrator: true, ..NewKey::default() };
    store.keys.create(&key, &new, at(0)).await.unwrap();
    key.id().to_owned()
}

async fn lasting(store: &Store) -> usize {
    store.keys.list().await.unwrap().iter().filter(|record| record.is_lasting()).count()
}

/// The ways to lose an administrator's key.
async fn remove(store: &Store, way: usize, owner: &str, id: &str) -> Result<(), KeyError> {
    let ending = KeyChange { administrator: true, expires: Some(at(9)), citation_links: None, groups: None };
    match way % 4 {
        0 => store.keys.revoke_unless_last(id, at(1)).await.map(drop),
        1 => store.keys.update_unless_last(id, &DEMOTION).await.map(drop),
        2 => store.keys.update_unless_last(id, &ending).await.map(drop),
        _ => store.erase(&Owner::key_holder(owner), at(1)).await.map(drop),
    }
}

#[tokio::test]
async fn f118_hundred_races_leave_an_administrator() {
    for race in 0..100 {
        let store = store().await;
        let (ada, bob) = (administrator(&store, "ada").await, administrator(&store, "bob").await);
        let (one, two) = tokio::join!(remove(&store, race, "ada", &ada), remove(&store, race / 4, "bob", &bob));
        assert!(lasting(&store).await >= 1, "race {race}: {one:?} {two:?}");
        assert!(one.is_ok() || two.is_ok(), "race {race}: {one:?} {two:?}");
    }
}

#[tokio::test]
async fn f118_last_administrators_key_cannot_be_removed() {
    let store = store().await;
    let ada = administrator(&store, "ada").await;
    for way in 0..4 {
        assert_eq!(remove(&store, way, "ada", &ada).await, Err(KeyError::LastAdministrator), "{way}");
    }
    let second = administrator(&store, "ada").await;
    assert_eq!(remove(&store, 3, "ada", &ada).await, Err(KeyError::LastAdministrator), "both are the same user's");
    assert_eq!(lasting(&store).await, 2);
    remove(&store, 0, "ada", &second).await.unwrap();
    administrator(&store, "bob").await;
    remove(&store, 3, "ada", &ada).await.unwrap();
    let owners: Vec<String> = store.keys.list().await.unwrap().into_iter().map(|record| record.owner).collect();
    assert_eq!(owners, ["bob"]);
}

#[tokio::test]
async fn f118_other_keys_are_changed_freely() {
    let store = store().await;
    let key = ApiKey::generate().unwrap();
    let new = NewKey { owner: "ada".to_owned(), administrator: false, ..NewKey::default() };
    store.keys.create(&key, &new, at(0)).await.unwrap();
    let changed = store.keys.update_unless_last(key.id(), &DEMOTION).await.unwrap();
    assert!(!changed.unwrap().administrator);
    let revoked = store.keys.revoke_unless_last(key.id(), at(5)).await.unwrap().unwrap();
    assert_eq!(revoked.revoked, Some(at(5)));
    assert_eq!(store.keys.revoke_unless_last(key.id(), at(7)).await.unwrap().unwrap().revoked, Some(at(5)));
    assert_eq!(store.keys.update_unless_last(key.id(), &DEMOTION).await, Ok(None));
    for id in [ApiKey::generate().unwrap().id(), "x"] {
        assert_eq!(store.keys.revoke_unless_last(id, at(7)).await, Ok(None));
    }
}
