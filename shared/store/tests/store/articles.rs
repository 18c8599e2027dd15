use domain::Owner;
use store::{
    ArticleChunk, ArticleCollection, EmbeddingModel, NewArticle, QuantisedVector, SHARDS, Store, StoreError,
    StoredArticle,
};

use crate::support::{alice, at, config, database, names, rows, store_at, store_without_retries_at};
use crate::wire::{Fault, Gate, Wire};

/// A chunk with a vector of 1,024 components.
fn chunk(text: &str) -> ArticleChunk {
    ArticleChunk { text: text.to_owned(), vector: Some(QuantisedVector { scale: 0.5, values: vec![-127; 1024] }) }
}

fn article(id: &str, digest: &str, chunks: usize) -> NewArticle {
    NewArticle {
        id: id.to_owned(),
        title: format!("Title of {id}"),
        url: Some(format!("https://example.com/{id}")),
        groups: domain::Groups::default(),
        digest: digest.to_owned(),
        model: Some(EmbeddingModel { name: "m".to_owned(), dimensions: 1024 }),
        chunks: (0..chunks).map(|number| chunk(&format!("{digest} {number} \"茶\""))).collect(),
    }
}

/// The texts of all stored chunks, whether an article refers to them or not.
async fn all_texts(store: &Store, collection: &ArticleCollection) -> Vec<String> {
    let mut texts = Vec::new();
    for shard in 0..SHARDS {
        let mut start = None;
        loop {
            let page = store.articles.chunk_page(collection, shard, start).await.unwrap();
            texts.extend(page.parts.into_iter().flat_map(|part| part.chunks).map(|chunk| chunk.text));
            start = page.next;
            if start.is_none() {
                break;
            }
        }
    }
    texts
}

async fn listed(store: &Store, collection: &ArticleCollection) -> Vec<(String, String)> {
    let digest = |one: StoredArticle| (one.id, one.digest);
    store.articles.list(collection).await.unwrap().into_iter().map(digest).collect()
}

#[tokio::test]
async fn article_is_stored_replaced_listed_and_deleted() {
    let endpoint = database().await;
    let (store, shared) = (store_at(&endpoint).await, ArticleCollection::Shared);
    assert_eq!(store.articles.revision(&shared).await, Ok(None));
    let (first, second) = (article("a#/ü", "one", 500), article("a#/ü", "two", 3));
    let stored = store.articles.put(&shared, &first, at(0)).await.unwrap();
    assert_eq!((stored.chunks, stored.bytes > 500 * 1024), (500, true));
    assert_eq!(store.articles.chunks(&shared, &stored).await.unwrap(), first.chunks);
    let revision = store.articles.revision(&shared).await.unwrap();
    let replaced = store.articles.put(&shared, &second, at(5)).await.unwrap();
    assert_ne!(store.articles.revision(&shared).await.unwrap(), revision);
    assert_eq!(store.articles.get(&shared, "a#/ü").await, Ok(Some(replaced.clone())));
    assert_eq!((replaced.created_at(), replaced.model.clone()), (stored.created_at(), second.model));
    assert!(replaced.updated_at() > stored.updated_at());
    assert_eq!(all_texts(&store, &shared).await.len(), 3, "the old chunks are gone");
    store.articles.put(&shared, &article("b", "three", 1), at(6)).await.unwrap();
    let (page, next) = store.articles.page(&shared, 1, None).await.unwrap();
    assert_eq!((page[0].id.as_str(), next.as_deref()), ("a#/ü", Some("a#/ü")));
    assert_eq!(store.articles.page(&shared, 1, next.as_deref()).await.unwrap().0[0].id, "b");
    assert_eq!(store.articles.delete(&shared, "a#/ü", at(7)).await, Ok(true));
    assert_eq!(store.articles.delete(&shared, "a#/ü", at(7)).await, Ok(false));
    assert_eq!(listed(&store, &shared).await, [("b".to_owned(), "three".to_owned())]);
    assert_eq!(rows(&endpoint, "data").await.len(), 3, "the collection, the article and its chunk");
}

#[tokio::test]
async fn article_without_vectors_keeps_its_texts() {
    let (store, own) = (store_at(&database().await).await, ArticleCollection::Of(alice()));
    let plain = ArticleChunk { text: "plain".to_owned(), vector: None };
    let new = NewArticle { model: None, url: None, chunks: vec![plain.clone(); 2], ..article("a", "one", 0) };
    let stored = store.articles.put(&own, &new, at(0)).await.unwrap();
    assert_eq!((stored.model.clone(), stored.url.clone()), (None, None));
    assert_eq!(store.articles.chunks(&own, &stored).await.unwrap(), [plain.clone(), plain]);
}

#[tokio::test]
async fn collections_of_owners_are_separate() {
    let store = store_at(&database().await).await;
    let collections =
        [ArticleCollection::Shared, ArticleCollection::Of(alice()), ArticleCollection::Of(Owner::new("A"))];
    for (number, collection) in collections.iter().enumerate() {
        store.articles.put(collection, &article("same", &number.to_string(), 1), at(0)).await.unwrap();
    }
    for (number, collection) in collections.iter().enumerate() {
        assert_eq!(listed(&store, collection).await, [("same".to_owned(), number.to_string())]);
        assert_eq!(all_texts(&store, collection).await, [format!("{number} 0 \"茶\"")]);
    }
}

/// The last call fails; each one before it passes, or half of its batch if it is `false`.
fn faults(passing: &[bool]) -> Vec<Fault> {
    let pass = |whole: &bool| {
        let gate = Gate::default();
        gate.open();
        if *whole { Fault::Held(gate) } else { Fault::HalfBatch }
    };
    passing.iter().map(pass).chain([Fault::Refused("ThrottlingException")]).collect()
}

/// Replaces the chunks of an article until a call fails; returns the database and a store without faults over it.
async fn replace_until_fault(operation: &'static str, passing: &[bool]) -> (String, Store) {
    let (wire, endpoint) = Wire::new().await;
    let broken = store_without_retries_at(&endpoint).await;
    let store = Store::new(&config(&wire.database), names());
    store.articles.put(&ArticleCollection::Shared, &article("a", "one", 500), at(0)).await.unwrap();
    wire.fail(operation, &faults(passing));
    let failed = broken.articles.put(&ArticleCollection::Shared, &article("a", "two", 500), at(5)).await;
    assert_eq!(failed, Err(StoreError::Busy));
    (wire.database.clone(), store)
}

/// The calls of a replacement: the list of unused chunks, the chunks, the transaction, the deletion of the old ones.
const INTERRUPTED: [(&str, &[bool], &str); 5] = [
    ("BatchWriteItem", &[], "one"),
    ("BatchWriteItem", &[true], "one"),
    ("BatchWriteItem", &[true, false], "one"),
    ("TransactWriteItems", &[], "one"),
    ("BatchWriteItem", &[true, true], "two"),
];

#[tokio::test]
async fn interrupted_replacement_leaves_whole_article() {
    for (operation, passing, expected) in INTERRUPTED {
        let (_, store) = replace_until_fault(operation, passing).await;
        let shared = ArticleCollection::Shared;
        assert_eq!(listed(&store, &shared).await, [("a".to_owned(), expected.to_owned())], "{operation} {passing:?}");
        let kept = store.articles.get(&shared, "a").await.unwrap().unwrap();
        assert_eq!(store.articles.chunks(&shared, &kept).await.unwrap(), article("a", expected, 500).chunks);
    }
}

#[tokio::test]
async fn leftovers_of_interrupted_replacement_are_cleaned() {
    for (operation, passing, _) in &INTERRUPTED[1..] {
        let (endpoint, store) = replace_until_fault(operation, passing).await;
        let shared = ArticleCollection::Shared;
        assert_eq!(store.articles.clean(&shared, at(5)).await, Ok(0), "it may still run");
        assert_eq!(store.articles.clean(&shared, at(5 + 3600)).await, Ok(1), "{operation} {passing:?}");
        assert_eq!(all_texts(&store, &shared).await.len(), 500);
        let left = rows(&endpoint, "data").await;
        assert!(!left.iter().any(|item| item["sk"].as_s().unwrap().starts_with("W#")));
    }
}

#[tokio::test]
async fn simultaneous_replacements_leave_one_generation() {
    let (store, shared) = (store_at(&database().await).await, ArticleCollection::Shared);
    let put = async |digest: &str| store.articles.put(&shared, &article("a", digest, 40), at(0)).await.unwrap();
    let (one, two, three) = tokio::join!(put("one"), put("two"), put("three"));
    let kept = store.articles.get(&shared, "a").await.unwrap().unwrap();
    assert!([one, two, three].iter().any(|one| one.generation == kept.generation));
    assert_eq!(all_texts(&store, &shared).await.len(), 40);
}
