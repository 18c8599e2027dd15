use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use store::{Claim, FetchLease, SearchCache, Store, StoreError};

use crate::support::{at, config, database, names, rows, store, store_at, store_without_retries_at};
use crate::wire::{Fault, Wire};

const LEASE: Duration = Duration::from_secs(12);
const PROVIDER: &str = "https://search.example";
const HOUR: Duration = Duration::from_hours(1);

/// A claim in short: its variant, and its value, which may be empty.
async fn claim(cache: &SearchCache, seconds: u64) -> (&'static str, String) {
    match cache.claim("k", PROVIDER, LEASE, at(seconds)).await.unwrap() {
        Claim::Fresh(value) => ("fresh", value),
        Claim::Lead { stale, .. } => ("lead", stale.unwrap_or_default()),
        Claim::Follow { stale } => ("follow", stale.unwrap_or_default()),
    }
}

fn expected_claim(variant: &'static str, value: &str) -> (&'static str, String) {
    (variant, value.to_owned())
}

async fn acquire_lease(cache: &SearchCache, seconds: u64) -> FetchLease {
    match cache.claim("k", PROVIDER, LEASE, at(seconds)).await.unwrap() {
        Claim::Lead { lease: lead, .. } => lead,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn f075_value_becomes_stale_then_missing() {
    let cache = store().await.search_cache;
    let lead = acquire_lease(&cache, 0).await;
    assert_eq!(claim(&cache, 1).await, expected_claim("follow", ""));
    cache.put(lead, "value", HOUR, at(2)).await.unwrap();
    let day = 24 * 3600;
    assert_eq!(claim(&cache, 3).await, expected_claim("fresh", "value"));
    assert_eq!(claim(&cache, 3601).await, expected_claim("fresh", "value"));
    assert_eq!(claim(&cache, 3602).await, expected_claim("lead", "value"));
    assert_eq!(claim(&cache, 3603).await, expected_claim("follow", "value"));
    assert_eq!(claim(&cache, 3601 + day).await, expected_claim("lead", "value"));
    assert_eq!(claim(&cache, 3602 + day + 12).await, expected_claim("lead", ""));
}

#[tokio::test]
async fn f070_one_of_simultaneous_misses_leads() {
    let endpoint = database().await;
    let caches = [store_at(&endpoint).await.search_cache, store_at(&endpoint).await.search_cache];
    let tasks: Vec<_> = (0..20)
        .map(|number: usize| {
            let cache = caches[number % 2].clone();
            tokio::spawn(async move { claim(&cache, 0).await.0 })
        })
        .collect();
    let mut seen = Vec::new();
    for task in tasks {
        seen.push(task.await.unwrap());
    }
    seen.sort_unstable();
    let expected: Vec<&str> = std::iter::repeat_n("follow", 19).chain(["lead"]).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn f071_lease_of_dead_leader_expires() {
    let cache = store().await.search_cache;
    assert_eq!(claim(&cache, 0).await, expected_claim("lead", ""));
    assert_eq!(claim(&cache, 11).await, expected_claim("follow", ""));
    assert_eq!(claim(&cache, 12).await, expected_claim("lead", ""));
}

#[tokio::test]
async fn f072_late_leader_overwrites_nothing() {
    let cache = store().await.search_cache;
    let late = acquire_lease(&cache, 0).await;
    let next = acquire_lease(&cache, 12).await;
    cache.put(late.clone(), "late", HOUR, at(13)).await.unwrap();
    cache.release(late.clone()).await.unwrap();
    assert_eq!(claim(&cache, 13).await, expected_claim("follow", ""));
    cache.put(next, "new", HOUR, at(14)).await.unwrap();
    cache.put(late, "late", HOUR, at(15)).await.unwrap();
    assert_eq!(claim(&cache, 16).await, expected_claim("fresh", "new"));
}

#[tokio::test]
async fn f069_failed_fetch_keeps_value_and_releases_lease() {
    let cache = store().await.search_cache;
    cache.put(acquire_lease(&cache, 0).await, "old", Duration::from_secs(10), at(0)).await.unwrap();
    let failing = acquire_lease(&cache, 20).await;
    cache.release(failing).await.unwrap();
    assert_eq!(claim(&cache, 21).await, expected_claim("lead", "old"));
}

#[tokio::test]
async fn f076_value_of_another_version_is_replaced() {
    let endpoint = database().await;
    let cache = store_at(&endpoint).await.search_cache;
    cache.put(acquire_lease(&cache, 0).await, "old shape", HOUR, at(0)).await.unwrap();
    let mut row = rows(&endpoint, "ephemeral").await.remove(0);
    row.insert("v".to_owned(), AttributeValue::N("2".to_owned()));
    let client = Client::new(&config(&endpoint));
    client.put_item().table_name("ephemeral").set_item(Some(row)).send().await.unwrap();
    let lead = acquire_lease(&cache, 1).await;
    assert_eq!(claim(&cache, 2).await, expected_claim("follow", ""));
    cache.put(lead, "new shape", HOUR, at(3)).await.unwrap();
    assert_eq!(claim(&cache, 4).await, expected_claim("fresh", "new shape"));
}

#[tokio::test]
async fn f077_oversized_value_is_silently_not_stored() {
    let cache = store().await.search_cache;
    let largest = "x".repeat(380_000);
    cache.put(acquire_lease(&cache, 0).await, &format!("{largest}x"), HOUR, at(0)).await.unwrap();
    let next = acquire_lease(&cache, 1).await;
    cache.put(next, &largest, HOUR, at(1)).await.unwrap();
    assert_eq!(claim(&cache, 2).await.0, "fresh");
}

#[tokio::test]
async fn f078_unreachable_cache_is_busy() {
    let retries = aws_smithy_types::retry::RetryConfig::disabled();
    let config = config("http://127.0.0.1:9").to_builder().retry_config(retries).build();
    let cache = Store::new(&config, names()).search_cache;
    assert_eq!(cache.claim("k", PROVIDER, LEASE, at(0)).await.err(), Some(StoreError::Busy));
}

#[tokio::test]
async fn f081_lease_with_lost_response_is_still_held() {
    let (wire, endpoint) = Wire::new().await;
    let cache = store_at(&endpoint).await.search_cache;
    wire.fail("UpdateItem", &[Fault::LostResponse]);
    assert_eq!(claim(&cache, 0).await, expected_claim("lead", ""));
    assert_eq!(claim(&cache, 1).await, expected_claim("follow", ""));
}

#[tokio::test]
async fn f081_delivery_with_lost_response_is_still_the_first() {
    let (wire, endpoint) = Wire::new().await;
    let cache = store_at(&endpoint).await.search_cache;
    wire.fail("UpdateItem", &[Fault::LostResponse]);
    for (second, expected) in [(0, false), (1, true)] {
        assert_eq!(cache.was_delivered("delivery", HOUR, at(second)).await, Ok(expected), "at {second}");
    }
}

#[tokio::test]
async fn hit_is_one_read() {
    let (wire, endpoint) = Wire::new().await;
    let cache = store_without_retries_at(&endpoint).await.search_cache;
    cache.put(acquire_lease(&cache, 0).await, "value", HOUR, at(0)).await.unwrap();
    wire.seen();
    assert_eq!(claim(&cache, 1).await.0, "fresh");
    assert_eq!(wire.seen(), ["BatchGetItem"]);
}

#[tokio::test]
async fn miss_reads_spent_credits_in_same_request() {
    let (wire, endpoint) = Wire::new().await;
    let store = store_at(&endpoint).await;
    store.search_credits.add(PROVIDER, 7, at(0)).await.unwrap();
    wire.seen();
    let Claim::Lead { spent, .. } = store.search_cache.claim("k", PROVIDER, LEASE, at(0)).await.unwrap() else {
        panic!("nothing is cached")
    };
    assert_eq!((spent.month, spent.day), (7, 7));
    assert_eq!(wire.seen(), ["BatchGetItem", "UpdateItem"]);
}

#[tokio::test]
async fn stored_text_is_compressed_and_read_unchanged() {
    let endpoint = database().await;
    let cache = store_at(&endpoint).await.search_cache;
    let text = "周末杭州以多云为主，早晚有雾。\n".repeat(500);
    cache.put(acquire_lease(&cache, 0).await, &text, HOUR, at(0)).await.unwrap();
    let row = rows(&endpoint, "ephemeral").await.remove(0);
    assert!(row["packed"].as_b().unwrap().as_ref().len() < text.len() / 10 && !row.contains_key("cached"), "{row:?}");
    assert_eq!(claim(&cache, 1).await, expected_claim("fresh", &text));
}

#[tokio::test]
async fn value_of_earlier_release_is_read_and_replaced() {
    let endpoint = database().await;
    let cache = store_at(&endpoint).await.search_cache;
    cache.put(acquire_lease(&cache, 0).await, "packed", HOUR, at(0)).await.unwrap();
    let mut row = rows(&endpoint, "ephemeral").await.remove(0);
    let until = row["packedUntil"].as_n().unwrap().parse::<u64>().unwrap() + 1000;
    row.insert("cached".to_owned(), AttributeValue::S("plain".to_owned()));
    row.insert("freshUntil".to_owned(), AttributeValue::N(until.to_string()));
    let mut earlier = row.clone();
    earlier.retain(|name, _| !name.starts_with("packed"));
    let client = Client::new(&config(&endpoint));
    for row in [earlier, row] {
        client.put_item().table_name("ephemeral").set_item(Some(row)).send().await.unwrap();
        assert_eq!(claim(&cache, 3600).await, expected_claim("fresh", "plain"));
        let lead = acquire_lease(&cache, 3601).await;
        cache.put(lead, "new", HOUR, at(3602)).await.unwrap();
        assert_eq!(claim(&cache, 3603).await, expected_claim("fresh", "new"));
    }
}
